"""Graphs from files of any kind that is known."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from scipy import sparse

from cayleygsp._text import printable, quoted
from cayleygsp._typing import FloatArray, Symmetrize
from cayleygsp._validation import check_choice
from cayleygsp.graph import SYMMETRIZE, AsymmetryError, Graph, as_adjacency, networkx_edges
from cayleygsp.io.edge_lists import read_edge_list
from cayleygsp.io.files import Content, InputError, Readable, Request, check_file, check_memory, label_array, parsing
from cayleygsp.io.matlab import read_mat
from cayleygsp.io.matrices import read_mtx, read_npy, read_npz

# The memory that the tree of elements and the graph in networkx need per byte of the file: 20 to 43 were measured.
_COST = 50

# Attributes of vertices that are coordinates.
_COORDS = (("x", "y", "z"), ("x", "y"), ("lon", "lat"), ("longitude", "latitude"))


def read_graphml(file: Path, request: Request) -> Content:
    """Return adjacency matrix, labels and coordinates of a GraphML file."""
    import networkx

    def refuse(*declaration: Any) -> None:
        raise InputError(
            f"{quoted(file)} must be plain GraphML, got a document type declaration, which could hide entities"
        )

    check_memory(file, "its content", _COST * file.stat().st_size)
    with parsing(file, "GraphML"):
        parser = expat.ParserCreate(None, "}")
        parser.StartDoctypeDeclHandler = refuse
        with file.open("rb") as stream:
            parser.ParseFile(stream)
        graph = networkx.read_graphml(file)
    labels = label_array(list(graph), file, file.stat().st_size)
    if graph.is_directed() and request.symmetrize is None:  # and yet may have every edge in both directions
        tails, heads, weights = networkx_edges(graph, name=printable(file))
        matrix = sparse.csr_array((weights, (tails, heads)), shape=(len(graph), len(graph)))
    else:
        matrix = as_adjacency(graph, name=printable(file), symmetrize=request.symmetrize)
    return Content(matrix, labels, _coordinates(graph))


def _coordinates(graph: Any) -> FloatArray | None:
    """Return the coordinates if all vertices have them as finite numbers."""
    for names in _COORDS:
        rows = [[attributes.get(name) for name in names] for _, attributes in graph.nodes(data=True)]
        if all(isinstance(value, (int, float)) for row in rows for value in row):
            coords = np.array(rows, dtype=np.float64).reshape(-1, len(names))
            return coords if np.isfinite(coords).all() else None
    return None


def read_graph(
    path: str | os.PathLike[str], *, variable: str | None = None, symmetrize: Symmetrize | None = None
) -> Graph:
    r"""Return the graph in a file; the file extension selects the format.

    ============================================  ======================================================
    ending                                        content
    ============================================  ======================================================
    ``.npz``                                      sparse adjacency matrix by ``scipy.sparse.save_npz``
    ``.npy``                                      dense adjacency matrix by ``numpy.save``
    ``.mtx``, ``.mtx.gz``                         adjacency matrix in Matrix Market format
    ``.mat``                                      adjacency matrix, or edges in ``i_inds`` and ``j_inds``, by
                                                  MATLAB; version 7.3 needs ``h5py``
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
    symmetrize : {"max", "mean"}, optional
        Accept a directed graph, and give both directions of an edge the larger of their weights or the mean (an
        edge in one direction only then has half its weight), see :meth:`Graph.from_directed`. Each line of an
        edge list is then an edge in one direction. If not given, a directed graph is an error.

    Returns
    -------
    Graph
        Named as the file without its ending. Where vertices have names in the file, they are its ``labels``;
        where they have positions, these are its ``coords``.

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
    them in use, are the vertices, those not in use without edges; other names are numbered in sorted order,
    numbers within names by their value ("v2" before "v10").

    Positions are read from the variables ``xy``, ``coords`` or ``coordinates`` (one row per vertex, two or three
    columns), ``Problem.aux.coord`` or the vectors ``x``, ``y`` and perhaps ``z`` of a ``.mat``, and from the
    attributes x, y and perhaps z, lon and lat, or longitude and latitude of the vertices of a GraphML file. They
    are left out if some are missing or not finite.

    The vertices in ``i_inds`` and ``j_inds`` of a ``.mat`` count from 0 if 0 is among them, else from 1; the
    vector ``weights`` has the weights, 1 if there is none.

    Nothing is ever unpickled, and sizes are checked before anything is allocated: a file cannot declare more
    than it has room for, vertices without edges are limited to a million or 64 per byte of content, packed text
    to 64 MiB or 100 times the size of the file, whichever is more, and the memory for reading to half of what is
    available.

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
    if symmetrize is not None:
        check_choice(symmetrize, "symmetrize", SYMMETRIZE)
    file = Path(path)
    ending = _ending_of(file)
    check_file(file)
    if variable is not None and ending != ".mat":
        raise ValueError(
            f"`variable` must be left out unless the file is a .mat, got {quoted(variable)} for {quoted(file)}"
        )
    request = Request(variable, symmetrize)
    return _graph(_READERS[ending](file, request), file, file.name[: -len(ending)], request)


def read_edges(stream: Readable, *, name: str = "standard input", symmetrize: Symmetrize | None = None) -> Graph:
    r"""Return the graph of an edge list in a stream of bytes, such as ``sys.stdin.buffer``.

    Parameters
    ----------
    stream : binary file
        Text in UTF-8, as in the files that :func:`read_graph` takes for edge lists.
    name : str
        What error messages call it.
    symmetrize : {"max", "mean"}, optional
        As for :func:`read_graph`.

    Returns
    -------
    Graph
        Without a name.

    Examples
    --------
    >>> from io import BytesIO
    >>> from cayleygsp.io import read_edges
    >>> read_edges(BytesIO(b"ann bob\nbob cy\n"))
    Graph(n_vertices=3, n_edges=2)
    """
    if symmetrize is not None:
        check_choice(symmetrize, "symmetrize", SYMMETRIZE)
    request = Request(symmetrize=symmetrize)
    return _graph(read_edge_list(Path(name), request, stream), Path(name), "", request)


def _graph(content: Content, file: Path, name: str, request: Request) -> Graph:
    try:
        W = as_adjacency(content.matrix, name=printable(file), symmetrize=request.symmetrize)
    except AsymmetryError as error:
        raise AsymmetryError(f"{error}; symmetrize 'max' or 'mean' takes directed graphs") from None
    return Graph(W, coords=content.coords, labels=content.labels, name=name)


_EDGE_LISTS = (".txt", ".edges", ".edgelist", ".csv", ".tsv")

_READERS: dict[str, Callable[[Path, Request], Content]] = {
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
    endings = [ending for ending in _READERS if file.name.lower().endswith(ending)]
    if not endings:
        raise ValueError(f"{quoted(file)} must have one of the endings {', '.join(_READERS)}")
    return max(endings, key=len)
