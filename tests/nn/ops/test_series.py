"""The recurrences: compiled loops, torch operations and scipy agree."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis._problems import sum_series_by_scipy
from cayleygsp.engine import packed, threads, tiles
from cayleygsp.nn import GraphLaplacian
from cayleygsp.nn.ops import series
from cayleygsp.nn.ops.operation import torch_operations
from tests.nn.helpers import random_graph, signals
from tests.strategies import laplacians

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")


def reference_terms(L, coeffs, x):
    """Return the terms by scipy, shape (batch, n, blocks, features)."""
    batch, n, features = x.shape
    columns = x.numpy().transpose(1, 0, 2).reshape(n, -1)
    lmax = L.lmax or 1.0
    y = sum_series_by_scipy(L.matrix.astype(columns.dtype), lmax, coeffs.numpy(), columns)
    return y.reshape(-1, n, batch, features).transpose(2, 1, 0, 3)


def paths(monkeypatch):
    """Yield names of the ways through the code, set one after the other."""
    yield "plain"
    monkeypatch.setattr(tiles, "_BUFFER_BYTES", 1)
    for capacity in (1, 2, 5):
        monkeypatch.setattr(tiles, "MIN_TERMS", capacity)
        yield f"chunks of {capacity}"
    monkeypatch.setattr(tiles, "_LONG_TILE", 0)
    monkeypatch.setattr(threads, "_NUMBERS_PER_THREAD", 1)
    monkeypatch.setattr(threads, "_NUMBERS_TO_SHARE", 0)
    monkeypatch.setattr(packed, "_LEAST_CHUNK_WORK", 16)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    yield "rows"
    monkeypatch.setattr(tiles, "MIN_TERMS", 16)
    yield "rows, one chunk"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (3, 32), (2, 33), (40, 1), (5, 70), (7, 3)])
def test_terms_and_combine_match_scipy_on_every_path(monkeypatch, dtype, shape):
    batch, features = shape
    L, prepared = random_graph()
    graph = prepared.tensors(dtype, own_scale=False)
    x = signals(batch, L.n_vertices, features, dtype=dtype)
    atol = 1e-12 if dtype == torch.float64 else 2e-5
    for n_terms in (1, 2, 3, 11):
        a = signals(4, n_terms, seed=n_terms, dtype=dtype)
        z = signals(batch, L.n_vertices, 4, features, seed=5, dtype=dtype)
        expected = reference_terms(L, a, x)
        identity = torch.eye(n_terms, dtype=dtype)
        expected_all = reference_terms(L, identity, x)
        summed = sum(reference_terms(L, a[s : s + 1], z[:, :, s])[:, :, 0] for s in range(4))
        z_all = signals(batch, L.n_vertices, n_terms, features, seed=6, dtype=dtype)
        summed_all = sum(reference_terms(L, identity[s : s + 1], z_all[:, :, s])[:, :, 0] for s in range(n_terms))
        with monkeypatch.context() as patch:
            for name in paths(patch):
                np.testing.assert_allclose(series.terms(graph, x, a, n_terms), expected, atol=atol, err_msg=name)
                np.testing.assert_allclose(series.terms(graph, x, None, n_terms), expected_all, atol=atol, err_msg=name)
                np.testing.assert_allclose(series.combine(graph, z, a, n_terms), summed, atol=atol, err_msg=name)
                got = series.combine(graph, z_all, None, n_terms)
                np.testing.assert_allclose(got, summed_all, atol=atol, err_msg=name)


@pytest.mark.parametrize("n_terms", [1, 2, 16, 17, 40])
def test_torch_path_of_other_devices_is_the_same(n_terms):
    L, prepared = random_graph(normalization=None)
    graph = prepared.tensors(torch.float64, own_scale=False)
    x, z = signals(3, L.n_vertices, 4), signals(3, L.n_vertices, 5, 4)
    for a in (signals(5, n_terms), None):
        with torch_operations():
            got = series.terms(graph, x, a, n_terms)
        torch.testing.assert_close(got, series.terms(graph, x, a, n_terms), atol=1e-11, rtol=0)
        if a is None:
            z = signals(3, L.n_vertices, n_terms, 4)
        with torch_operations():
            got = series.combine(graph, z, a, n_terms)
        torch.testing.assert_close(got, series.combine(graph, z, a, n_terms), atol=1e-10, rtol=0)


@settings(max_examples=25)
@given(L=laplacians(), n_terms=st.integers(1, 30), seed=st.integers(0, 1000))
def test_terms_and_combine_are_adjoint(L, n_terms, seed):
    graph = GraphLaplacian.from_laplacian(L).tensors(torch.float64, own_scale=False)
    a = signals(3, n_terms, seed=seed)
    x, z = signals(2, L.n_vertices, 3, seed=seed + 1), signals(2, L.n_vertices, 3, 3, seed=seed + 2)
    left = (z * series.terms(graph, x, a, n_terms)).sum()
    right = (x * series.combine(graph, z, a, n_terms)).sum()
    assert abs(left - right) <= 1e-11 * n_terms * z.norm() * x.norm()


def test_empty_signals_give_empty_answers():
    L, prepared = random_graph()
    graph = prepared.tensors(torch.float64, own_scale=False)
    assert series.terms(graph, signals(0, L.n_vertices, 2), None, 3).shape == (0, L.n_vertices, 3, 2)
    assert series.combine(graph, signals(0, L.n_vertices, 3, 2), None, 3).shape == (0, L.n_vertices, 2)
