"""The compiled sweeps."""

from __future__ import annotations

import pytest
import torch

from cayleygsp.nn import (
    JacobiFeatures,
    jacobi_features,
)
from tests.nn.helpers import random_graph, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

N_SIGNALS = 21  # not a multiple of a tile


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n_iter", [0, 1, 5])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_compiled_sweeps_equal_those_of_torch(monkeypatch, threads, n_iter, dtype):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    monkeypatch.setattr(jacobi_features, "_THREAD_SIZE", 0)
    L, laplacian = random_graph(normalization=None)
    features = JacobiFeatures(signals(N_SIGNALS, L.n_vertices, 2, dtype=dtype), laplacian, n_iter)
    like = torch.empty(0, dtype=dtype)
    found, _ = features.blocks(None, 0.7, 3, False, like)
    x = features.columns.flatten(1)
    expected = jacobi_features.blocks_by_torch(features._graph, 0.7, x, 3, n_iter)
    scale = float(expected.abs().max())
    torch.testing.assert_close(
        found.flatten(1, 2), expected, rtol=0, atol=scale * (1e-12 if dtype == torch.float64 else 2e-5)
    )


def test_threads_change_no_bit(monkeypatch):
    L, laplacian = random_graph()
    features = JacobiFeatures(signals(70, L.n_vertices, 1), laplacian, 4)
    like = torch.empty(0, dtype=torch.float64)
    monkeypatch.setattr(jacobi_features, "_THREAD_SIZE", 0)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(torch, "get_num_threads", lambda n=threads: n)
        found.append(features.blocks(None, 1.3, 2, False, like)[0])
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])
