"""The graph, its splits, and the tensors that networks take."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import warnings
from pathlib import Path

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

import cayleygsp as cg
from analysis._datasets import FILES
from analysis._planetoid import CitationGraph, load_planetoid, normalize_rows, planetoid_files
from analysis.cora.settings import DRAWN, EXTENDED_SPLITS, HALVED, INNER, RANDOM, SPLITS, STANDARD, SWAPPED
from cayleygsp._typing import IntArray, LaplacianKind
from cayleygsp.nn import GraphLaplacian

# Vertices of a random split: for each class, for validation and for the test.
N_PER_CLASS, N_VALIDATION, N_TEST = 20, 500, 1000


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """Vertices for the training, for the choice of the model, and for the test."""

    train: IntArray
    validation: IntArray
    test: IntArray


def split_of(graph: CitationGraph, name: str, seed: int = 0) -> Split:
    """Return a split of the labelled vertices.

    Parameters
    ----------
    graph : CitationGraph
        With the standard split.
    name : {"standard", "extended", "swapped", "halved", "random", "inner"}
        "standard": that of Planetoid. "extended": all vertices but the test vertices of Planetoid are for training; of
        these, in the order of their numbers, the first half is for validation and the second for the test. "swapped":
        the same with the first half for the test and the second for validation. "halved": the same with halves that are
        drawn. "random": 20 vertices of each class are for training, 500 others for validation and 1,000 for the test.
        "inner": the same without the test vertices of Planetoid, to choose settings by: what is left after training and
        validation is for the test.
    seed : int
        Of what is drawn.

    Examples
    --------
    >>> from analysis.cora.data import load_graph, split_of
    >>> split = split_of(load_graph("drawn"), "extended")
    >>> len(split.train), len(split.validation), len(split.test)
    (120, 40, 40)
    """
    if name == STANDARD:
        return Split(graph.train, graph.validation, graph.test)
    known = np.flatnonzero(graph.labels >= 0)
    if name in EXTENDED_SPLITS:
        test = np.sort(graph.test)
        half = test.size // 2
        order = np.random.default_rng(seed).permutation(test) if name == HALVED else test
        first, second = np.sort(order[:half]), np.sort(order[half:])
        return Split(np.setdiff1d(known, test), *((second, first) if name == SWAPPED else (first, second)))
    if name == INNER:
        known = np.setdiff1d(known, graph.test)
    elif name != RANDOM:
        raise ValueError(f"`name` must be one of {', '.join(SPLITS)}, got {name}")
    order = np.random.default_rng(seed).permutation(known)
    n_each = min(N_PER_CLASS, graph.train.size // graph.n_classes)
    chosen = [order[graph.labels[order] == k][:n_each] for k in range(graph.n_classes)]
    train = np.sort(np.concatenate(chosen))
    rest = order[~np.isin(order, train)]
    n_validation = min(N_VALIDATION, graph.validation.size)
    n_test = rest.size if name == INNER else min(N_TEST, graph.test.size)
    return Split(train, np.sort(rest[:n_validation]), np.sort(rest[n_validation : n_validation + n_test]))


def data_name(dataset: str, data: Path | None = None) -> str:
    """Return the name of a data set, with digits of its files' checksum unless these are known.

    Runs of two data sets with the same name are so kept apart.

    Examples
    --------
    >>> from analysis.cora.data import data_name
    >>> data_name("drawn")
    'drawn'
    """
    if dataset == DRAWN:
        return DRAWN
    paths = planetoid_files(dataset, data)
    if all(f"{dataset}/{path.name}" in FILES for path in paths.values()):
        return dataset
    checksum = hashlib.sha256()
    for path in paths.values():
        checksum.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{dataset}-{checksum.hexdigest()[:12]}"


@functools.lru_cache(maxsize=2)
def load_graph(dataset: str, data: Path | None = None) -> CitationGraph:
    """Return a citation graph: one of Planetoid, or "drawn" for a small one."""
    return draw_graph(np.random.default_rng(0)) if dataset == DRAWN else load_planetoid(dataset, data)


def draw_graph(rng: np.random.Generator, n_classes: int = 4, size: int = 50, n_words: int = 60) -> CitationGraph:
    """Draw classes of papers that cite each other and use words of their own more often than others.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of random numbers.
    n_classes, size, n_words : int
        Classes, papers in each, and words.
    """
    n = n_classes * size
    labels = rng.permutation(np.repeat(np.arange(n_classes), size))
    same = labels[:, None] == labels
    upper = np.triu(rng.random((n, n)) < np.where(same, 0.06, 0.006), 1)
    own = np.arange(n_words) % n_classes == labels[:, None]
    words = sparse.csr_array((rng.random((n, n_words)) < np.where(own, 0.12, 0.05)).astype(np.float32))
    order = np.argsort(labels, kind="stable").reshape(n_classes, size)
    train = np.sort(order[:, :5].ravel())
    rest = np.setdiff1d(np.arange(n), train)
    return CitationGraph(
        name=DRAWN,
        adjacency=sparse.csr_array((upper | upper.T).astype(np.float64)),
        features=normalize_rows(words),
        labels=labels,
        train=train,
        validation=rest[: n // 4],
        test=rest[-2 * n // 5 :],
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Inputs:
    """What networks take, the same for all splits.

    Attributes
    ----------
    graph : CitationGraph
        Where it comes from.
    x : Tensor, shape (n, n_features)
        Features, sparse by rows.
    labels : Tensor, shape (n,)
        Classes.
    edges : Tensor, shape (2, n_edges)
        Both directions of every edge.
    """

    graph: CitationGraph
    x: Tensor
    labels: Tensor
    edges: Tensor

    @functools.cached_property
    def normalized(self) -> GraphLaplacian:
        """The normalized Laplacian; that of the layers."""
        return self.with_loops(0.0)

    def with_loops(self, weight: float) -> GraphLaplacian:
        """Return the normalized Laplacian of the graph with a loop of this weight at every vertex."""
        return _as_tensors(core_laplacian(self.graph, "normalized", weight), self.x.device)

    @functools.cached_property
    def combinatorial(self) -> GraphLaplacian:
        """The combinatorial Laplacian, with the guaranteed bound of its spectrum in the place of λ_max."""
        return _as_tensors(core_laplacian(self.graph, "combinatorial"), self.x.device)


def _as_tensors(L: cg.Laplacian, device: torch.device) -> GraphLaplacian:
    return GraphLaplacian.from_laplacian(L, dtype=torch.float32).to(device)


def core_laplacian(graph: CitationGraph, kind: LaplacianKind, loops: float = 0.0) -> cg.Laplacian:
    """Return the normalized Laplacian, or the combinatorial one, with loops of some weight."""
    W = graph.adjacency
    return cg.laplacian(W if loops == 0 else sparse.csr_array(W + loops * sparse.eye_array(W.shape[0])), kind)


@functools.lru_cache(maxsize=2)
def load_inputs(dataset: str, data: Path | None, device: torch.device) -> Inputs:
    """Return the tensors of a data set on a device."""
    graph = load_graph(dataset, data)
    W = graph.adjacency.tocoo()
    edges = torch.from_numpy(np.stack([W.row, W.col]).astype(np.int64)).to(device)
    return Inputs(graph, by_rows(graph.features, device), torch.from_numpy(graph.labels).to(device), edges)


def by_rows(matrix: sparse.csr_array, device: torch.device) -> Tensor:
    """Return a sparse matrix as a tensor of compressed rows in single precision."""
    indptr, indices = (torch.from_numpy(a.astype(np.int64)) for a in (matrix.indptr, matrix.indices))
    values = torch.from_numpy(matrix.data.astype(np.float32))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)
        return torch.sparse_csr_tensor(indptr, indices, values, size=matrix.shape, check_invariants=True).to(device)
