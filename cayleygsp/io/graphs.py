"""Graphs from files of any kind that is known."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cayleygsp._typing import Array
from cayleygsp.graph import Graph, as_adjacency
from cayleygsp.io.edge_lists import read_edge_list
from cayleygsp.io.files import check_file
from cayleygsp.io.graphml import read_graphml
from cayleygsp.io.matlab import read_mat
from cayleygsp.io.matrices import read_mtx, read_npy, read_npz


def read_graph(path: str | os.PathLike[str], *, variable: str | None = None) -> Graph:
    r"""Return the graph in a file; the ending of its name tells the format.

    ============================================  ======================================================
    ending                                        content
    ============================================  ======================================================
    ``.npz``                                      sparse adjacency matrix by ``scipy.sparse.save_npz``
    ``.npy``                                      dense adjacency matrix by ``numpy.save``
    ``.mtx``, ``.mtx.gz``                         adjacency matrix in Matrix Market format
    ``.mat``                                      adjacency matrix by MATLAB; version 7.3 needs ``h5py``
    ``.txt .edges .edgelist .csv .tsv``           edge list, also with ``.gz``
    ``.graphml``                                  GraphML, edge attribute ``weight``
    ============================================  ======================================================

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    variable : str, optional
        For ``.mat`` only: the variable that holds the adjacency matrix, ``"S.A"`` for field A of a struct S.
        If not given: the only square matrix, else the one called W, A, adjacency or Problem.A (the
        SuiteSparse collection).

    Returns
    -------
    Graph
        Named as the file without its ending. Where vertices have names in the file, they are its ``labels``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the ending is unknown or the content is not what it promises, with the line for text formats.
    ImportError
        If reading a MATLAB file of version 7.3 needs ``h5py``.

    Notes
    -----
    A line of an edge list has two vertex names and perhaps a weight (on all lines or on none), separated by
    blanks, tabs, a comma or a semicolon. Empty lines are skipped and so is what follows ``#`` or ``%`` at the
    start of a line or after a blank. An edge may come once or several times, in either direction, always with
    the same weight, and counts once. Names that are the numbers 0, …, n − 1 or 1, …, n, at least half of
    them in use, are the vertices, those not in use without edges; other names are numbered in sorted order.

    Nothing is ever unpickled.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cayleygsp.io import read_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "friends.csv")
    ...     _ = file.write_text("ann,bob,2\nbob,cy,0.5\n")
    ...     graph = read_graph(file)
    >>> graph
    Graph('friends', n_vertices=3, n_edges=2)
    >>> graph.labels
    array(['ann', 'bob', 'cy'], dtype='<U3')
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"`path` must be a string or a path, got {type(path).__name__}")
    file = Path(path)
    ending = _ending_of(file)
    check_file(file)
    if variable is None:
        matrix, labels = _READERS[ending](file)
    elif ending == ".mat":
        matrix, labels = read_mat(file, variable)
    else:
        raise ValueError(f"`variable` must be left out unless the file is a .mat, got {variable!r} for '{file}'")
    return Graph(as_adjacency(matrix, name=str(file)), labels=labels, name=file.name[: -len(ending)])


_EDGE_LISTS = (".txt", ".edges", ".edgelist", ".csv", ".tsv")


_READERS: dict[str, Callable[[Path], tuple[Any, Array | None]]] = {
    ".npz": read_npz,
    ".npy": read_npy,
    ".mtx": read_mtx,
    ".mtx.gz": read_mtx,
    ".mat": read_mat,
    ".graphml": read_graphml,
    **dict.fromkeys(_EDGE_LISTS, read_edge_list),
    **dict.fromkeys((ending + ".gz" for ending in _EDGE_LISTS), read_edge_list),
}


def _ending_of(file: Path) -> str:
    """Return the ending of a file name, if it is a known one."""
    found = [ending for ending in _READERS if file.name.lower().endswith(ending)]
    if not found:
        raise ValueError(f"'{file}' must have one of the endings {', '.join(_READERS)}")
    return max(found, key=len)
