"""What commands read: graphs by file name or by the name of a built-in one, and signals."""

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
from cayleygsp._typing import Array, ArrayLike, Symmetrize
from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.options import GraphOptions
from cayleygsp.graph import Graph
from cayleygsp.io import read_edges, read_graph
from cayleygsp.io.files import check_memory
from cayleygsp.io.signals import ordered_signal, read_table
from cayleygsp.laplacians import Laplacian, laplacian

# The name of standard input.
STANDARD_INPUT = Path("-")


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
    """Return the graph in a file, in the edge list on standard input ("-"), or the built-in "@name:number"."""
    with input_errors():
        if name != "-" and not name.startswith("@"):
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


def load(options: GraphOptions) -> tuple[Graph, Laplacian]:
    """Return the graph that a user named and its Laplacian."""
    if not options.graph:
        raise BadInput("GRAPH must be a file, - or a built-in graph, got an empty name")
    rule: Symmetrize | None = None if options.symmetrize is None else options.symmetrize.value
    G = load_graph(options.graph, options.variable, options.seed, rule)
    with input_errors():
        return G, laplacian(G, options.kind.value)


def need_edges(L: Laplacian, what: str) -> None:
    """Reject a graph without edges."""
    if L.lmax == 0:
        raise BadInput(f"the graph must have edges for {what}: all its frequencies are zero")


def graph_line(name: str | None, L: Laplacian) -> str:
    """Return a graph's name, size and spectrum in one line."""
    return (
        f"{name or 'graph'}: {vertices_text(L.n_vertices)}, {counted(L.n_edges, 'edge')}, {L.kind} Laplacian, "
        f"spectrum in [0, {L.lmax:.6g}]"
    )


def vertices_text(n: int) -> str:
    """Return a number of vertices in words."""
    return counted(n, "vertex", "vertices")


def check_streams(graph: str, signal: Path) -> None:
    """Reject a graph and a signal that are both on standard input."""
    if graph == "-" and signal == STANDARD_INPUT:
        raise BadInput("GRAPH and SIGNAL must not both be -: there is one standard input")


def load_signal(path: Path, n_vertices: int, labels: ArrayLike | None = None, *, missing: bool = False) -> Array:
    """Return a signal, or several as columns, one row per vertex.

    Standard input, "-", is an array by ``numpy.save`` or text. With ``missing``, values may be nan.
    """
    with input_errors():
        if path == STANDARD_INPUT:
            name = Path("standard input")
            f = ordered_signal(read_table(name, sys.stdin.buffer), name, n_vertices, labels, missing=missing)
        else:
            f = ordered_signal(read_table(path), path, n_vertices, labels, missing=missing)
    if f.size == 0:
        raise BadInput(f"{quoted(path)} must hold at least one signal, got an array of shape {f.shape}")
    return f
