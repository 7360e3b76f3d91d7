"""Runs that a recorded result holds, so that they need not be computed again."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from analysis._script import Document
from analysis.movielens.results import CURVES
from analysis.movielens.settings import BASELINES, BaselineConfig, Config


def recorded_networks(path: Path | None, config: Config) -> list[Document]:
    """Return the finished networks of a recorded result with a configuration, as the runner returns them.

    Parameters
    ----------
    path : pathlib.Path, optional
        ``movielens.json`` of an earlier call; without one there are none.
    config : Config
        What is wanted.
    """
    document = _document(path, "config", config)
    courses = {_key(curve, curve["seed"]): curve for curve in document["curves"]}
    runs = []
    for run in document["runs"]:
        if run["setting"]["model"] in BASELINES or run["numbers"].get("steps", config.steps) != config.steps:
            continue
        course = courses[_key(run["setting"], run["seed"])]
        numbers = {**run["numbers"], **{name: course[name] for name in CURVES if name in course}}
        runs.append({**run, "numbers": numbers})
    return runs


def recorded_baselines(path: Path | None, config: BaselineConfig) -> list[Document]:
    """Return the baselines of a recorded result with a configuration, likewise."""
    return [run for run in _document(path, "baseline_config", config)["runs"] if run["setting"]["model"] in BASELINES]


def _document(path: Path | None, name: str, config: Any) -> Document:
    """Return a recorded result, or one without runs if its configuration is another one."""
    if path is not None:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document[name] == json.loads(json.dumps(dataclasses.asdict(config))):
            return document
    return {"runs": [], "curves": []}


def _key(setting: Document, seed: int) -> tuple[Any, ...]:
    return setting["model"], setting["protocol"], seed
