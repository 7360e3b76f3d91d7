"""Graphs by file name or by the name of a built-in one."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cayleygsp import gallery
from cayleygsp._format import counted
from cayleygsp._text import quoted
from cayleygsp._typing import Symmetrize
from cayleygsp.cli.errors import input_errors
from cayleygsp.graph import Graph
from cayleygsp.io import read_edges, read_graph
from cayleygsp.io.files import check_memory


def _minnesota() -> Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyGSP on current scipy
        from pygsp import graphs

        minnesota = graphs.Minnesota()
    return Graph(minnesota.W, coords=minnesota.coords, name="minnesota")


@dataclass(frozen=True)
class _BuiltIn:
    """How a graph is made from a seed and the numbers behind its name, how many these may be, and what it takes."""

    make: Callable[..., Graph]
    least: int
    most: int
    n_bytes: Callable[..., int] = lambda *numbers: 0


def _communities_bytes(n: int = 15) -> int:
    # Edges between communities grow with the square of their number.
    return 30_000 * n + 150 * n**2


def _regular_bytes(n: int, degree: int) -> int:
    # networkx draws the edges, or those of the complement, which is taken among all pairs.
    return 1_500 * n * degree if 2 * degree < n else 100 * n**2 + 1_500 * n * max(0, n - 1 - degree)


# Bytes of memory as measured, with a margin.
_BUILT_IN: dict[str, _BuiltIn] = {
    "collaboration": _BuiltIn(lambda rng, n: gallery.collaboration(n, rng=rng), 1, 1, lambda n: 3_000 * n),
    "communities": _BuiltIn(lambda rng, n=15: gallery.communities(n, rng=rng), 0, 1, _communities_bytes),
    "grid": _BuiltIn(lambda rng, *n: gallery.grid(*n), 1, 2, lambda n, m=None: 300 * n * (n if m is None else m)),
    "minnesota": _BuiltIn(lambda rng: _minnesota(), 0, 0),
    "mnist": _BuiltIn(lambda rng, *n: gallery.mnist_grid(*n), 0, 1, lambda n=28: 6_000 * n**2),
    "path": _BuiltIn(lambda rng, n: gallery.path(n), 1, 1, lambda n: 150 * n),
    "regular": _BuiltIn(lambda rng, n, d: gallery.random_regular(n, d, rng=rng), 2, 2, _regular_bytes),
    "ring": _BuiltIn(lambda rng, n: gallery.ring(n), 1, 1, lambda n: 150 * n),
    "scale_free": _BuiltIn(lambda rng, n: gallery.scale_free(n, rng=rng), 1, 1, lambda n: 1_000 * n),
    "sensor": _BuiltIn(lambda rng, n: gallery.sensor(n, rng=rng), 1, 1, lambda n: 800 * n),
    "star": _BuiltIn(lambda rng, n: gallery.star(n), 1, 1, lambda n: 150 * n),
}


def load_graph(name: str, variable: str | None = None, seed: int = 0, symmetrize: Symmetrize | None = None) -> Graph:
    """Return the graph in a file, the edge list on standard input, or the built-in graph behind "@name:number".

    Parameters
    ----------
    name : str
        A path; "-" for an edge list on standard input; or for example "@minnesota", "@communities", "@grid:30:40",
        "@ring:64".
    variable : str, optional
        Which variable of a MATLAB file.
    seed : int
        For random built-in graphs.
    symmetrize : {"max", "mean"}, optional
        What becomes of the two weights of an edge of a directed graph in a file.

    Examples
    --------
    >>> from cayleygsp.cli.graphs import load_graph
    >>> load_graph("@grid:3:4").n_vertices
    12
    """
    with input_errors():
        is_file = name != "-" and not name.startswith("@")
        if is_file:
            return read_graph(name, variable=variable, symmetrize=symmetrize)
        if variable is not None:
            raise ValueError(f"--variable goes with a .mat file, got {quoted(variable)} for {quoted(name)}")
        if name == "-":
            return read_edges(sys.stdin.buffer, symmetrize=symmetrize)
        if symmetrize is not None:
            raise ValueError(f"--symmetrize goes with a file, and {quoted(name)} is a built-in graph, undirected")
        return _built_in(name, seed)


def _built_in(name: str, seed: int) -> Graph:
    word, *numbers = name[1:].split(":")
    if word not in _BUILT_IN:
        raise ValueError(f"built-in graphs are {', '.join('@' + known for known in _BUILT_IN)}, got {quoted(name, 60)}")
    kind = _BUILT_IN[word]
    if not kind.least <= len(numbers) <= kind.most:
        wanted = counted(kind.most, "number")
        wanted = wanted if kind.least == kind.most else f"{kind.least} to {wanted}"
        raise ValueError(f"@{word} takes {wanted}, each behind a colon, got {quoted(name, 60)}")
    if not all(re.fullmatch(r"[0-9]{1,18}", number) for number in numbers):
        raise ValueError(f"@{word} takes whole numbers, got {quoted(name, 60)}")
    sizes = [int(number) for number in numbers]
    check_memory(Path(name), "the graph", kind.n_bytes(*sizes))
    made = kind.make(seed, *sizes)
    return Graph(made.W, made.coords, made.labels, name=made.name or word)
