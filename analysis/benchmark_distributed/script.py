"""The command line, and what is measured in which order."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from analysis._document import Document
from analysis._script import Script, Step, add_repeats, check_repeats
from analysis.benchmark_distributed import settings
from analysis.benchmark_distributed.clusters import bandwidth, worker_processes
from analysis.benchmark_distributed.figure import draw
from analysis.benchmark_distributed.limited import measure_limited
from analysis.benchmark_distributed.page import conclusions, markdown, tables
from analysis.benchmark_distributed.prediction import predict
from analysis.benchmark_distributed.runs import graph_of, halo_rows, measure_run, task_costs

GRAPHS = ("grid", "communities")


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure scaling, what tasks and bytes cost, halos, the target and the graph beyond a worker's memory."""
    quick = args.quick
    degree = settings.QUICK_DEGREE if quick else settings.DEGREE
    strong = min(settings.QUICK_STRONG if quick else settings.STRONG, args.max_vertices)
    weak = min(settings.QUICK_WEAK if quick else settings.WEAK, args.max_vertices)
    step("a graph beyond the memory of a worker")
    limited = None if quick or args.no_limit else measure_limited(args.seed)
    n_target = min(settings.QUICK_TARGET if quick else settings.TARGET, args.max_vertices)

    def two_workers(client: Any) -> Document:
        graph = graph_of("grid", n_target, args.seed)
        return measure_run(client, "grid", graph, 2, degree, args.repeats, args.seed)

    runs: list[Document] = []
    costs: Document = {}
    target: Document | None = None
    for n_workers in settings.QUICK_WORKERS if quick else settings.WORKERS:
        step(f"{n_workers} workers")
        with worker_processes(n_workers) as client:
            for kind, n_vertices in (("strong", strong), ("weak", weak * n_workers)):
                for name in GRAPHS:
                    graph = graph_of(name, n_vertices, args.seed)
                    run = measure_run(client, name, graph, n_workers, degree, args.repeats, args.seed)
                    runs.append({"scaling": kind, **run})
            if n_workers == 2:
                few_and_many = settings.QUICK_TASK_PARTS if quick else settings.TASK_PARTS
                costs = {**task_costs(client, few_and_many, degree, args.repeats), "bandwidth": bandwidth(client)}
                target = two_workers(client) if quick else None
    step("halos")
    parts = settings.QUICK_HALO_PARTS if quick else settings.HALO_PARTS
    size = settings.QUICK_HALO_VERTICES if quick else settings.HALO_VERTICES
    halos = [row for name in GRAPHS for row in halo_rows(name, size, parts, args.seed)]
    step("two workers against two threads")
    if target is None:  # in workers that hold nothing else
        with worker_processes(2) as client:
            target = two_workers(client)
    alone = [run for run in runs if (run["scaling"], run["n_workers"]) == ("strong", 1)]
    costs["entry_seconds"] = {run["graph"]: run["one_process"]["median"] / (run["n_entries"] * degree) for run in alone}
    return {
        "degree": degree,
        "runs": runs,
        "costs": costs,
        "halos": halos,
        "target": target,
        "limited": limited,
        "predictions": predict(halos, costs),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_repeats(parser, full=3, quick=1)
    parser.add_argument("--max-vertices", type=int, default=settings.TARGET, help="leave larger sizes out")
    parser.add_argument("--no-limit", action="store_true", help="leave out the graph beyond the memory of a worker")


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    check_repeats(parser, args)
    if args.max_vertices < settings.QUICK_WEAK:
        parser.error(f"--max-vertices must be at least {settings.QUICK_WEAK}, got {args.max_vertices}")


SCRIPT = Script(
    "benchmark_distributed",
    "Measure graphs in parts on worker processes against one process: scaling, bytes exchanged, memory, a graph "
    "beyond the memory of a worker; predict larger clusters. The largest size needs about 8 GB.",
    measure,
    markdown,
    draw,
    tables=tables,
    lines=conclusions,
    steps=lambda args: len(settings.QUICK_WORKERS if args.quick else settings.WORKERS) + 3,
    arguments=add_arguments,
    check=check_arguments,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print tables, and write what was asked for."""
    return SCRIPT.main(argv)
