"""One signal on a grid beside as many busy processes as there are processors: a laptop or a shared server."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import cayleygsp as cg
from analysis import _problems
from analysis._comparison import Side, compare
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_peers.grid import grid_reference, with_threads
from analysis.benchmark_peers.settings import ORDER, Sizes
from cayleygsp import gallery

# A measurement is long beside the turns that the system gives to processes, which no program can choose: the shorter it
# is, the farther one thread is off itself.
MEASUREMENT_SECONDS = 5.0


@contextmanager
def busy_processes(n_processes: int) -> Iterator[None]:
    """Keep so many processors busy with something else; the processes end in any case, even if this one is killed."""
    code = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(n_processes)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def busy_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare one signal on a grid with one thread and with PyGSP, beside as many busy processes as processors.

    One thread is measured twice in each round: how far it is off itself is what the spread of the others is worth.
    """
    from pygsp.filters import approximations

    n_processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    step(f"beside {n_processes} busy processes")
    graph = gallery.grid(sizes.grid)
    G = graph.to_pygsp()
    G.estimate_lmax()
    lmax = float(G.lmax)
    c = np.random.default_rng(args.seed).standard_normal(ORDER + 1)
    coeffs = np.append(c[0] / 2, c[1:])
    g = cg.ChebyshevFilter(graph, coeffs, lmax)
    f = np.random.default_rng(args.seed).standard_normal(graph.n_vertices)
    reference = grid_reference(f, sizes.grid, coeffs, lmax)
    sides = [
        Side("ours, float64", lambda: g.filter(f), 1e-12),
        Side("ours, 1 thread", with_threads(1, lambda: g.filter(f)), 1e-12),
        Side("PyGSP cheby_op", lambda: approximations.cheby_op(G, c, f), 1e-12),
        Side("the same again", with_threads(1, lambda: g.filter(f)), 1e-12),
    ]
    work = f"Chebyshev order {ORDER}, {sizes.grid}² grid, 1 signal, beside {n_processes} busy processes"
    pairs = [(0, 1, 0.9), (1, 3, None), (0, 2, None)]
    shortest = None if args.quick else MEASUREMENT_SECONDS
    with busy_processes(n_processes):
        return compare(
            work,
            sides,
            lambda y: _problems.relative_error(y, reference, g.gain, f),
            pairs,
            args.repeats,
            shortest=shortest,
        )
