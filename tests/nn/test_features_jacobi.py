"""The compiled sweeps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.engine import threads
from cayleygsp.nn import JacobiFeatures
from cayleygsp.nn import features as features_file
from tests.nn.helpers import random_graph, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

N_SIGNALS = 21  # not a multiple of a tile


@pytest.fixture
def all_share(monkeypatch):
    """Let even small work be shared by threads, on any machine, busy or not."""
    monkeypatch.setattr(threads, "_NUMBERS_PER_THREAD", 1)
    monkeypatch.setattr(threads, "_NUMBERS_TO_SHARE", 0)
    monkeypatch.setattr(threads, "_MOST_CREDIT", np.inf)
    monkeypatch.setattr(threads.HELPERS, "credit", np.inf)
    monkeypatch.setattr(threads.HELPERS, "rest_until", 0.0)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n_iter", [0, 1, 5])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_compiled_sweeps_equal_those_of_torch(all_share, monkeypatch, n_threads, n_iter, dtype):
    monkeypatch.setattr(torch, "get_num_threads", lambda: n_threads)
    L, laplacian = random_graph(normalization=None)
    features = JacobiFeatures(signals(N_SIGNALS, L.n_vertices, 2, dtype=dtype), laplacian, n_iter)
    like = torch.empty(0, dtype=dtype)
    found, _ = features.blocks(None, 0.7, 3, False, like)
    x = features.columns.flatten(1)
    expected = features_file.blocks_by_torch(features._graph, 0.7, x, 3, n_iter)
    scale = float(expected.abs().max())
    torch.testing.assert_close(
        found.flatten(1, 2), expected, rtol=0, atol=scale * (1e-12 if dtype == torch.float64 else 2e-5)
    )


def test_threads_change_no_bit(all_share, monkeypatch):
    L, laplacian = random_graph()
    features = JacobiFeatures(signals(70, L.n_vertices, 1), laplacian, 4)
    like = torch.empty(0, dtype=torch.float64)
    found = []
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(torch, "get_num_threads", lambda n=n_threads: n)
        found.append(features.blocks(None, 1.3, 2, False, like)[0])
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


@pytest.mark.parametrize("shape", [(0, 6, 1), (3, 6, 1)])
def test_graphs_without_edges_and_no_signals_at_all(shape):
    L = cg.laplacian(np.zeros((6, 6)))
    x = torch.ones(shape, dtype=torch.float64)
    found, _ = JacobiFeatures(x, L, 2).blocks(None, 0.7, 2, False, x)
    assert found.shape == (6, shape[0], 1, 9)
    # C(0) is -1 at every zoom
    expected = torch.tensor([1.0, -2, 0, 2, 0, 0, 0, 0, 0], dtype=torch.float64)
    torch.testing.assert_close(found, expected.expand(found.shape))
