"""Runs that a recorded table, figure or comparison holds, so that they need not be trained again."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from analysis._script import Document
from analysis.cora.settings import HALVED, SWAPPED, Recipe


def recorded_runs(path: Path, recipe: Recipe, data: str) -> list[Document]:
    """Return the recorded runs whose recipe is the one that is wanted, as the runner returns them.

    Settings that the file does not know are taken for the defaults. Learned responses are not recorded with a table.

    Parameters
    ----------
    path : pathlib.Path
        JSON file of a table, of the figure by order, or of a comparison of settings.
    recipe : Recipe
        What is wanted.
    data : str
        Of which data, see :func:`analysis.cora.data.data_name`.

    Raises
    ------
    ValueError
        If the file is none of these, or of other data.
    """
    document = _read(path)
    of = document.get("data", document["config"].get("dataset"))
    if of != data:
        raise ValueError(f"{path} must be a result with the data {data}, got {of}")
    wanted, defaults = _plain(recipe), _plain(Recipe())
    recipes = document.get("recipes") or {row["model"]: row["recipe"] for row in document["rows"]}
    models = [model for model, known in recipes.items() if {**defaults, **known} == wanted]
    return [run for run in document["runs"] if run["setting"]["model"] in models]


def read_accuracies(path: Path) -> Document:
    """Return split and accuracies of a table with other halves; raises ValueError if the file is none."""
    document = _read(path)
    split = document["config"].get("split")
    if split not in (HALVED, SWAPPED):
        raise ValueError(f"{path} must be a table of the split {HALVED} or {SWAPPED}, got {split}")
    try:
        rows = {row["model"]: {name: row[name] for name in ("mean", "sd", "n")} for row in document["rows"]}
    except KeyError as error:
        raise ValueError(f"{path} must be the JSON file of a table, got one without {error}") from error
    return {"split": split, "rows": rows}


def _read(path: Path) -> Document:
    """Return a recorded result."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} must be the JSON file of a result, got no JSON: {error}") from error
    if not isinstance(document, dict) or not {"config", "rows", "runs"} <= set(document):
        raise ValueError(f"{path} must be the JSON file of a result of this script, with its rows and runs")
    return document


def _plain(recipe: Recipe) -> Document:
    """Return a recipe as JSON has it."""
    return json.loads(json.dumps(dataclasses.asdict(recipe)))
