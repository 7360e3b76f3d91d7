"""Runs that a recorded result holds, so that they need not be trained again."""

from __future__ import annotations

import json
from pathlib import Path

from analysis._script import Document
from analysis.mnist.settings import Config, settings_of

_COURSE = ("loss", "validation", "validation_loss")


def recorded_runs(path: Path, config: Config) -> list[Document]:
    """Return the runs of a recorded result whose settings are those of a configuration, as the runner returns them.

    A setting that a network does not have, such as the zoom of Cayley filters for LeNet5, may be another one, or
    missing. Of the filters there are those that the picture shows; runs after the first of a network have none.

    Parameters
    ----------
    path : pathlib.Path
        ``mnist.json`` of an earlier call.
    config : Config
        What is wanted.
    """
    document = json.loads(path.read_text(encoding="utf-8"))
    filters = {row["model"]: row["filters"] for row in document["rows"]}
    runs = []
    for run, curve in zip(document["runs"], document["curves"], strict=True):
        model = run["setting"]["model"]
        if settings_of(model, document["config"]) != settings_of(model, config.as_document()):
            continue
        course = {name: curve[name] for name in _COURSE}
        numbers = {**run["numbers"], **course, "filters": filters.pop(model, [])}
        runs.append({**run, "numbers": numbers})
    return runs
