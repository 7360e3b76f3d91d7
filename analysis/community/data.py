"""The graph of a seed, and noisy step signals on it."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np

import cayleygsp as cg
from analysis._networks import N_COMMUNITIES
from analysis.community.settings import Config
from cayleygsp._typing import Array


@dataclasses.dataclass(frozen=True)
class Data:
    """A graph with signals on it: training, validation and test signals one after the other.

    Attributes
    ----------
    graph : Graph
        Labels tell the communities.
    laplacian : Laplacian
        The combinatorial one; its ``lmax`` is the largest eigenvalue, so that ChebNet has the whole interval.
    signals : ndarray, shape (n_vertices, n_signals)
        In single precision.
    labels : ndarray, shape (n_signals,)
        The community of each.
    """

    graph: cg.Graph
    laplacian: cg.Laplacian
    signals: Array
    labels: Array


@functools.lru_cache(maxsize=2)
def make_data(config: Config, seed: int) -> Data:
    """Draw the graph and the signals of a seed.

    Examples
    --------
    >>> from analysis.community.data import make_data
    >>> from analysis.community.settings import QUICK
    >>> data = make_data(QUICK, 0)
    >>> data.signals.shape, data.graph.n_vertices
    ((195, 1050), 195)
    """
    rng = np.random.default_rng(seed)
    graph = cg.gallery.communities(
        sizes=config.sizes, p_in=config.p_in, p_out=config.p_out, spread=config.spread, rng=rng
    )
    L = cg.laplacian(graph)
    L = L.with_lmax(float(L.eigenvalues[-1]) * (1 + 1e-9))
    n_signals = config.n_train + config.n_validation + config.n_test
    labels = rng.integers(N_COMMUNITIES, size=n_signals)
    assert graph.labels is not None
    signals = math.sqrt(config.noise) * rng.standard_normal((graph.n_vertices, n_signals))
    signals += graph.labels[:, None] == labels
    return Data(graph, L, signals.astype(np.float32), labels)
