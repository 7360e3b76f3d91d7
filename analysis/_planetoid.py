"""Citation graphs in the format of Planetoid (Cora, Citeseer, Pubmed), read without trusting their pickles.

The files are pickles of Python 2, see :mod:`analysis._pickled`. Matrices are built anew from their bytes, so that
damaged ones are rejected.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from analysis._datasets import FILES, check_file, data_file, data_folders
from analysis._pickled import as_array, as_matrix, unpickle
from cayleygsp._typing import FloatArray, IntArray

NAMES = ("cora", "citeseer", "pubmed")

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")

# Vertices after the labelled ones that are for validation.
N_VALIDATION = 500


@dataclass(frozen=True, eq=False)
class CitationGraph:
    """A citation graph with features and labels.

    Attributes
    ----------
    name : str
        Of the data set.
    adjacency : scipy.sparse.csr_array, shape (n, n)
        Undirected edges of weight 1, without loops.
    features : scipy.sparse.csr_array, shape (n, n_features)
        Of single precision; rows sum to 1, or to 0 for vertices without features.
    labels : numpy.ndarray, shape (n,)
        The class of each vertex, -1 where there is none.
    train, validation, test : numpy.ndarray
        Vertices of the standard split.
    """

    name: str
    adjacency: sparse.csr_array
    features: sparse.csr_array
    labels: IntArray
    train: IntArray
    validation: IntArray
    test: IntArray

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self.adjacency.shape[0])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.labels.max()) + 1


def find_folder(name: str, data: Path | None = None) -> Path:
    """Return the folder with the files of a graph.

    Parameters
    ----------
    name : {"cora", "citeseer", "pubmed"}
        Which graph.
    data : Path, optional
        Where to look; by default where :mod:`analysis._datasets` does. The files are in it, or in a folder with the
        graph's name.

    Raises
    ------
    FileNotFoundError
        Naming the places that were looked at.
    """
    if name not in NAMES:
        raise ValueError(f"`name` must be one of {', '.join(map(repr, NAMES))}, got {name!r}")
    looked_at = [folder for base in ([data] if data else data_folders()) for folder in (base / name, base)]
    for folder in looked_at:
        if (folder / f"ind.{name}.graph").is_file():
            return folder
    places = ", ".join(str(folder) for folder in looked_at)
    raise FileNotFoundError(
        f"no file ind.{name}.graph in {places}; put the files of https://github.com/kimiyoung/planetoid there, or name "
        "their folder in CAYLEYGSP_DATA"
    )


def planetoid_files(name: str, data: Path | None = None) -> dict[str, Path]:
    """Return the files of a graph by part; those with a known checksum are compared with it, or downloaded.

    Parameters and errors are those of :func:`find_folder`; files are downloaded only if ``data`` is not given.
    """
    names = {part: f"{name}/ind.{name}.{part}" for part in PARTS}
    try:
        folder = find_folder(name, data)
    except FileNotFoundError:
        if data is not None or not all(known in FILES for known in names.values()):
            raise
        return {part: data_file(known) for part, known in names.items()}
    paths = {part: folder / f"ind.{name}.{part}" for part in PARTS}
    for part, path in paths.items():
        if not path.is_file():
            raise FileNotFoundError(f"no file {path.name} beside ind.{name}.graph in {folder}")
        check_file(path, names[part])
    return paths


def load_planetoid(name: str, data: Path | None = None) -> CitationGraph:
    """Read a citation graph; see :func:`find_folder` for the parameters.

    Raises
    ------
    FileNotFoundError
        If the files are not there.
    ValueError
        If a file is not the known one, or the files do not fit each other.
    pickle.UnpicklingError
        If a file is damaged, or names anything that is not data.
    """
    contents = {part: path.read_bytes() for part, path in planetoid_files(name, data).items()}
    order = _test_vertices(contents["test.index"])
    raw = {part: _read_part(contents[part], f"ind.{name}.{part}") for part in PARTS if part != "test.index"}
    features, labels = _arrange(raw, order)
    n, n_train = features.shape[0], _labels_of(raw["y"], "y").shape[0]
    n_known = _matrix_of(raw["allx"], "allx").shape[0]
    return CitationGraph(
        name=name,
        adjacency=_adjacency(raw["graph"], n),
        features=normalize_rows(features),
        labels=labels,
        train=np.arange(n_train),
        validation=np.arange(n_train, min(n_train + N_VALIDATION, n_known)),
        test=np.sort(order),
    )


def _read_part(content: bytes, file: str) -> Any:
    try:
        return unpickle(content)
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(f"{file}: {error}") from error


def normalize_rows(features: sparse.csr_array) -> sparse.csr_array:
    """Return features whose rows sum to one; rows of zeros stay."""
    sums = np.asarray(features.sum(axis=1)).reshape(-1)
    scale = np.divide(1.0, sums, out=np.zeros(sums.shape), where=sums != 0)
    return sparse.csr_array(sparse.diags_array(scale) @ features).astype(np.float32)


def _test_vertices(content: bytes) -> IntArray:
    """Return the vertex of each row of the test features."""
    lines = content.split()
    if not lines or not all(line.isdigit() for line in lines):
        raise ValueError("the test index must hold one vertex per line")
    order = np.array(lines, dtype=np.int64)
    if np.unique(order).size != order.size:
        raise ValueError("the test index must name every vertex once")
    return order


def _arrange(raw: Mapping[str, Any], order: IntArray) -> tuple[sparse.csr_array, IntArray]:
    """Return features and labels by vertex. Test vertices without a row, as Citeseer has, get neither."""
    allx, tx = _matrix_of(raw["allx"], "allx"), _matrix_of(raw["tx"], "tx")
    ally, ty = _labels_of(raw["ally"], "ally"), _labels_of(raw["ty"], "ty")
    n_known = allx.shape[0]
    if ally.shape[0] != n_known or not tx.shape[0] == ty.shape[0] == order.size:
        raise ValueError(
            f"features and labels must be as many: allx {allx.shape}, ally {ally.shape}, tx {tx.shape}, ty {ty.shape}, "
            f"test index {order.size}"
        )
    if tx.shape[1] != allx.shape[1] or order.min() < n_known:
        raise ValueError(f"test vertices must come after the {n_known} others, with {allx.shape[1]} features")
    n = int(order.max()) + 1
    tx = tx.tocoo()
    known = allx.tocoo()
    row = np.concatenate([known.row, order[tx.row]])
    column = np.concatenate([known.col, tx.col])
    values = np.concatenate([known.data, tx.data])
    labels = np.full(n, -1, dtype=np.int64)
    labels[:n_known] = _classes(ally)
    labels[order] = _classes(ty)
    return sparse.csr_array((values, (row, column)), shape=(n, allx.shape[1])), labels


def _classes(one_hot: FloatArray) -> IntArray:
    """Return the class of each row, -1 for a row of zeros."""
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)


def _matrix_of(value: Any, part: str) -> sparse.csr_array:
    try:
        return as_matrix(value)
    except ValueError as error:
        raise ValueError(f"{part} must be a sparse matrix of numbers: {error}") from error


def _labels_of(value: Any, part: str) -> FloatArray:
    try:
        labels = as_array(value)
    except ValueError as error:
        raise ValueError(f"{part} must be a matrix of labels: {error}") from error
    if labels.ndim != 2:
        raise ValueError(f"{part} must be a matrix of labels, got shape {labels.shape}")
    return labels


def _adjacency(neighbours: Any, n: int) -> sparse.csr_array:
    """Return the undirected graph of lists of neighbours."""
    if not isinstance(neighbours, dict) or not all(isinstance(v, list) for v in neighbours.values()):
        raise ValueError(f"graph must be a dictionary of lists, got {type(neighbours).__name__}")
    pairs = [(u, v) for u, others in neighbours.items() for v in others]
    if not all(type(w) is int and 0 <= w < n for pair in pairs for w in pair):
        raise ValueError(f"the graph must have vertices from 0 to {n - 1}")
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]]
    both = np.unique(np.concatenate([ends, ends[:, ::-1]]), axis=0)
    return sparse.csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n, n))
