"""Graphs by file name or by the name of a built-in one."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

from cayleygsp import gallery
from cayleygsp.cli.errors import input_errors
from cayleygsp.cli.printing import counted
from cayleygsp.graph import Graph
from cayleygsp.io import read_graph


def _minnesota() -> Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyGSP on current scipy
        from pygsp import graphs

        found = graphs.Minnesota()
    return Graph(found.W, coords=found.coords, name="minnesota")


# How a built-in graph is made from the numbers behind its name and a seed, and how many numbers there may be.
_BUILT_IN: dict[str, tuple[Callable[..., Graph], int, int]] = {
    "communities": (lambda rng, n=15: gallery.communities(n, rng=rng), 0, 1),
    "grid": (lambda rng, *n: gallery.grid(*n), 1, 2),
    "minnesota": (lambda rng: _minnesota(), 0, 0),
    "mnist": (lambda rng, *n: gallery.mnist_grid(*n), 0, 1),
    "path": (lambda rng, n: gallery.path(n), 1, 1),
    "regular": (lambda rng, n, d: gallery.random_regular(n, d, rng=rng), 2, 2),
    "ring": (lambda rng, n: gallery.ring(n), 1, 1),
    "sensor": (lambda rng, n: gallery.sensor(n, rng=rng), 1, 1),
    "star": (lambda rng, n: gallery.star(n), 1, 1),
}


def load_graph(name: str, variable: str | None = None, seed: int = 0, symmetrize: str | None = None) -> Graph:
    """Return the graph in a file, or the built-in one behind "@name:number".

    Parameters
    ----------
    name : str
        A path, or for example "@minnesota", "@communities", "@grid:30:40", "@ring:64".
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
        if not name.startswith("@"):
            return read_graph(name, variable=variable)
        if variable is not None:
            raise ValueError(f"--variable goes with a .mat file, got '{variable}' for '{name}'")
        word, *numbers = name[1:].split(":")
        if word not in _BUILT_IN:
            raise ValueError(f"built-in graphs are {', '.join('@' + known for known in _BUILT_IN)}, got {name!r}")
        make, least, most = _BUILT_IN[word]
        if not least <= len(numbers) <= most:
            wanted = counted(most, "number") if least == most else f"{least} to {counted(most, 'number')}"
            raise ValueError(f"@{word} takes {wanted}, each behind a colon, got {name!r}")
        if not all(re.fullmatch(r"[0-9]+", number) for number in numbers):
            raise ValueError(f"@{word} takes whole numbers, got {name!r}")
        made = make(seed, *map(int, numbers))
        return Graph(made.W, made.coords, made.labels, name=made.name or word)
