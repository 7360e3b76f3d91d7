"""The command line, and the processes that measure."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from analysis._document import Document
from analysis._script import Script, Step, add_repeats, check_repeats
from analysis.benchmark_scaling.figure import draw
from analysis.benchmark_scaling.growth import fit_all
from analysis.benchmark_scaling.page import conclusions, format_spread, markdown, tables
from analysis.benchmark_scaling.settings import QUICK_SIZES, QUICK_VARIED_SIZE, SIZES, VARIED_SIZE
from analysis.benchmark_scaling.sizes import measure_size
from analysis.benchmark_scaling.varied import measure_variations


def run_child(job: str, args: argparse.Namespace) -> Any:
    """Do one job in a process of its own and return its result; a text, if it failed."""
    command = [sys.executable, "-m", "analysis.benchmark_scaling", "--one", job, "--seed", str(args.seed)]
    command += ["--repeats", str(args.repeats), "--seconds", str(args.seconds), *(["--quick"] if args.quick else [])]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return f"exit code {done.returncode}"
    return json.loads(done.stdout)


def do_job(job: str, args: argparse.Namespace) -> None:
    """Measure one size, ``size:N``, or all variations, ``variations:N``, and print the result as JSON."""
    kind, _, n = job.partition(":")
    measure: Callable[[int, argparse.Namespace], Any] = {"size": measure_size, "variations": measure_variations}[kind]
    print(json.dumps(measure(int(n), args), allow_nan=False))


def sizes_of(args: argparse.Namespace) -> list[int]:
    """Return the numbers of vertices that are measured."""
    return [n for n in (QUICK_SIZES if args.quick else SIZES) if n <= args.max_vertices]


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure every size and all variations, each in a process of its own; a size that fails is a row that says so."""
    console = Console(stderr=True, highlight=False)
    sizes: list[Document] = []
    for n in sizes_of(args):
        step(f"n = {n:,}")
        result = run_child(f"size:{n}", args)
        row: Document = {"n_vertices": n, "failed": result} if isinstance(result, str) else result
        sizes.append(row)
        console.print(f"n = {n:,}: " + (row["failed"] if "failed" in row else format_spread(row["apply_seconds"])))
    n = min(QUICK_VARIED_SIZE if args.quick else VARIED_SIZE, args.max_vertices)
    step(f"order, zoom and signals at n = {n:,}")
    result = run_child(f"variations:{n}", args)
    failed = isinstance(result, str)
    return {
        "sizes": sizes,
        "varied_vertices": n,
        "variations": [] if failed else result,
        "variations_failed": result if failed else None,
        "fits": fit_all(sizes),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_repeats(parser)
    parser.add_argument("--max-vertices", type=int, default=SIZES[-1], help="leave larger sizes out (default: 10⁷)")
    parser.add_argument(
        "--seconds", type=float, help="leave out what is predicted to take longer (default: 120, quick: 0.2)"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    check_repeats(parser, args)
    if args.seconds is None:
        args.seconds = 0.2 if args.quick else 120.0
    smallest = (QUICK_SIZES if args.quick else SIZES)[0]
    if args.max_vertices < smallest:
        parser.error(f"--max-vertices must be at least {smallest}, got {args.max_vertices}")


SCRIPT = Script(
    "benchmark_scaling",
    "Measure time, peak memory and error of a Cayley filter against the number of vertices, the order, the zoom and "
    "the number of signals, and fit exponents. The largest size needs about 16 GB.",
    measure,
    markdown,
    draw,
    tables=tables,
    lines=conclusions,
    steps=lambda args: len(sizes_of(args)) + 1,
    arguments=add_arguments,
    check=check_arguments,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print tables and fits, and write what was asked for; or do the one job that a process is started for."""
    argv = sys.argv[1:] if argv is None else argv
    args = SCRIPT.parse(argv)
    if args.one is None:
        return SCRIPT.main(argv)
    do_job(args.one, args)
    return 0
