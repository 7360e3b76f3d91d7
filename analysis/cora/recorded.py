"""Runs that a recorded table, figure or comparison holds, so that they need not be trained again."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from analysis._document import Document
from analysis.cora.settings import Recipe


def recorded_runs(path: Path, recipe: Recipe) -> list[Document]:
    """Return the recorded runs whose recipe is the one that is wanted, as the runner returns them.

    Settings that the file does not know are taken for the defaults. Learned responses are not recorded with a table.

    Parameters
    ----------
    path : pathlib.Path
        JSON file of a table, of the figure by order, or of a comparison of settings.
    recipe : Recipe
        What is wanted.
    """
    document = json.loads(path.read_text(encoding="utf-8"))
    wanted, defaults = _plain(recipe), _plain(Recipe())
    recipes = document.get("recipes") or {row["model"]: row["recipe"] for row in document["rows"]}
    models = [model for model, known in recipes.items() if {**defaults, **known} == wanted]
    return [run for run in document["runs"] if run["setting"]["model"] in models]


def _plain(recipe: Recipe) -> Document:
    """Return a recipe as JSON has it."""
    return json.loads(json.dumps(dataclasses.asdict(recipe)))
