"""Scripts that train: options of an experiment, its configuration on the page, means beside the paper's."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
from collections.abc import Iterable, Sequence
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


def check_positive_settings(config: Any, names: Iterable[str]) -> None:
    """Reject settings that are not positive; of one that has several numbers, the least number counts."""
    for name in names:
        value = getattr(config, name)
        least = min(value) if isinstance(value, (tuple, list)) else value
        if not least > 0:
            raise ValueError(f"`{name}` must be positive, got {least}")


def check_nonnegative_settings(config: Any, names: Iterable[str]) -> None:
    """Reject negative settings."""
    for name in names:
        if not getattr(config, name) >= 0:
            raise ValueError(f"`{name}` must not be negative, got {getattr(config, name)}")
