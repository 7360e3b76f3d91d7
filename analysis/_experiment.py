"""Scripts that train: options of an experiment, its configuration on the page, means beside the paper's."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from analysis._script import Document


def add_experiment_arguments(
    parser: argparse.ArgumentParser, config: Any, quick: Any, *, runs: int, quick_runs: int
) -> None:
    """Add what all experiments understand, and an option for every number of the configuration.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser to extend.
    config, quick : dataclass
        The configuration in full and in its small form; fields are numbers, texts or tuples of them.
    runs, quick_runs : int
        How many seeds, in both forms.
    """
    parser.add_argument("--runs", type=int, help=f"seeds, counted from --seed (default: {runs}, quick: {quick_runs})")
    parser.add_argument("--workers", type=int, help="processes, each with one thread (default: one per core)")
    parser.add_argument("--device", choices=("cpu", "cuda", "auto"), default="auto", help="where to compute")
    parser.add_argument(
        "--work", type=Path, default=Path("out"), metavar="DIR", help="folder of finished runs and checkpoints"
    )
    parser.add_argument("--finished", action="store_true", help="train nothing: write down the runs that are finished")
    group = parser.add_argument_group("configuration", "a changed one is computed in a folder of its own")
    for field in dataclasses.fields(config):
        value, small = getattr(config, field.name), getattr(quick, field.name)
        many = isinstance(value, tuple)
        default = f"default: {_text(value)}" + (f", quick: {_text(small)}" if small != value else "")
        group.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type(value[0]) if many else type(value),
            nargs="+" if many else None,
            help=default,
        )
    parser.set_defaults(configs=(config, quick), default_runs=(runs, quick_runs))


def add_model_arguments(parser: argparse.ArgumentParser, models: Sequence[str], default: str) -> None:
    """Add the options of an experiment with several networks: which of them, and a result to take runs from."""
    parser.add_argument(
        "--model", nargs="+", choices=models, metavar="MODEL", help=f"of {', '.join(models)} (default: {default})"
    )
    text = "take runs with the same settings from this JSON file of a result in the place of computing them"
    parser.add_argument("--recorded", type=Path, metavar="FILE", help=text)


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def check_experiment_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given; ``args.config`` becomes the configuration."""
    if args.runs is None:
        args.runs = args.default_runs[args.quick]
    if args.workers is None:
        args.workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name in ("runs", "workers"):
        if getattr(args, name) < 1:
            parser.error(f"--{name} must be 1 or more, got {getattr(args, name)}")
    if getattr(args, "recorded", None) and not args.recorded.is_file():
        parser.error(f"--recorded must be a file, got {args.recorded}")
    if args.work.exists() and not args.work.is_dir():
        parser.error(f"--work must be a folder, got the file {args.work}")
    if args.device == "auto":
        args.device = "cuda" if torch.cuda.is_available() else "cpu"
    if args.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device must be cpu or auto on this machine, got cuda")
    base = args.configs[args.quick]
    given = {field.name: getattr(args, field.name) for field in dataclasses.fields(base)}
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items() if v is not None}
    try:
        args.config = dataclasses.replace(base, **given)
    except ValueError as error:
        parser.error(str(error))


def seeds_of(args: argparse.Namespace) -> range:
    """Return the seeds that are asked for."""
    return range(args.seed, args.seed + args.runs)


def as_document(config: Any) -> Document:
    """Return a configuration as JSON has it."""
    return dict(json.loads(json.dumps(dataclasses.asdict(config))))


def read_result(path: Path) -> Document:
    """Return a recorded result; raises ValueError if the file is none with its configuration, rows and runs."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} must be the JSON file of a result, got no JSON: {error}") from error
    if not isinstance(document, dict) or not {"config", "rows", "runs"} <= set(document):
        raise ValueError(f"{path} must be the JSON file of a result of this script, with its rows and runs")
    return document


def recorded_runs(
    path: Path | None, is_wanted: Callable[[Document, Document], bool], course: Sequence[str] = ()
) -> list[Document]:
    """Return runs of a recorded result as the runner returns them, so that they need not be computed again.

    Parameters
    ----------
    path : pathlib.Path, optional
        JSON file of an earlier call; without one there are none.
    is_wanted : callable
        ``is_wanted(document, run)`` says whether a run has the settings that are asked for.
    course : sequence of str
        Numbers of the course of a training, which results keep apart from the runs.
    """
    if path is None:
        return []
    document = read_result(path)
    runs = []
    for run in document["runs"]:
        if is_wanted(document, run):
            of = {**run["setting"], "seed": run["seed"]}
            curves = (one for one in document.get("curves", []) if all(one.get(k) == value for k, value in of.items()))
            kept: Document = next(curves, {})
            numbers = {**run["numbers"], **{name: kept[name] for name in course if name in kept}}
            runs.append({**run, "numbers": numbers})
    return runs


def without(runs: Sequence[Document], names: Sequence[str]) -> list[Document]:
    """Return runs without some of their numbers, which are long and stand elsewhere."""
    return [{**run, "numbers": {k: value for k, value in run["numbers"].items() if k not in names}} for run in runs]


def experiment_facts(args: argparse.Namespace) -> Document:
    """Return how an experiment came about beside what all scripts say."""
    return {
        "config": dataclasses.asdict(args.config),
        "n_runs": args.runs,
        "workers": args.workers,
        "device": args.device,
    }


def config_lines(document: Document) -> list[str]:
    """Say the configuration in Markdown."""
    settings = ", ".join(f"{name.replace('_', ' ')} {_text(value)}" for name, value in document["config"].items())
    return [
        f"- Configuration: {settings}",
        f"- Runs of each setting: {document['n_runs']}, by {document['workers']} processes on {document['device']}",
    ]


def grouped(results: Sequence[Document], number: str) -> list[Document]:
    """Return mean and deviation of a number over the runs of each setting, settings in the order they came in.

    Returns
    -------
    list of dict
        ``setting``, ``mean``, ``sd`` (that of the population, as the paper has it), ``n`` and the ``values``.

    Examples
    --------
    >>> from analysis._experiment import grouped
    >>> runs = [{"setting": {"r": 1}, "numbers": {"accuracy": a}} for a in (0.5, 0.75)]
    >>> grouped(runs, "accuracy")
    [{'setting': {'r': 1}, 'mean': 0.625, 'sd': 0.125, 'n': 2, 'values': [0.5, 0.75]}]
    """
    by_setting: dict[str, list[Document]] = {}
    for result in results:
        by_setting.setdefault(json.dumps(result["setting"]), []).append(result)
    rows = []
    for same in by_setting.values():
        values = [result["numbers"][number] for result in same]
        mean, sd = statistics.fmean(values), statistics.pstdev(values)
        rows.append({"setting": same[0]["setting"], "mean": mean, "sd": sd, "n": len(values), "values": values})
    return rows


def beside(mean: float, sd: float | None, paper: float | None, digits: int = 2) -> str:
    """Write a mean with its deviation, if it has one, and in brackets the paper's figure and the difference.

    Examples
    --------
    >>> from analysis._experiment import beside
    >>> beside(97.512, 0.4, 96.23)
    '97.51 ± 0.40 (96.23, +1.28)'
    >>> beside(97.512, 0.4, None)
    '97.51 ± 0.40'
    >>> beside(97.512, None, None)
    '97.51'
    """
    ours = f"{mean:.{digits}f}" if sd is None else f"{mean:.{digits}f} ± {sd:.{digits}f}"
    return ours if paper is None else f"{ours} ({paper:.{digits}f}, {mean - paper:+.{digits}f})"


def check_settings(config: Any, positive: Iterable[str], nonnegative: Iterable[str]) -> None:
    """Reject settings that are not positive, and others that are negative; of several numbers the least one counts."""
    for name in (*positive, *nonnegative):
        value = getattr(config, name)
        least = min(value) if isinstance(value, (tuple, list)) else value
        if name in positive and not least > 0:
            raise ValueError(f"`{name}` must be positive, got {least}")
        if not least >= 0:
            raise ValueError(f"`{name}` must not be negative, got {least}")


def beside_paper(row: Document, digits: int = 2) -> str:
    """Write the mean of a row beside the paper's; one run has no deviation."""
    return beside(row["mean"], row["sd"] if row["n"] > 1 else None, row["paper"], digits)
