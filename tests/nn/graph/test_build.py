"""The Laplacian of edges, and the bound of its spectrum."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import (
    GraphLaplacian,
)
from tests.nn.helpers import edges_of, random_adjacency

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

CARDS = ["cuda"] if torch.cuda.is_available() else []

DEVICES = ["cpu", *CARDS]


def test_bound_has_a_margin_for_rounding():
    made = GraphLaplacian.from_edge_index(torch.tensor([[0, 1], [1, 0]]), normalization=None, dtype=torch.float64)
    assert 2 < made.bound < 2 * (1 + 1e-14)


def test_bound_holds_where_weights_span_all_magnitudes():
    W = np.zeros((4, 4))
    W[0, 1], W[1, 2], W[2, 3] = 1e150, 1.0, 1e-150
    W += W.T
    made = GraphLaplacian.from_edge_index(*edges_of(W), normalization=None)
    assert 2e150 * (1 - 1e-12) <= made.bound <= 2e150 * (1 + 1e-12)


@pytest.mark.parametrize("normalization", ["sym", None])
@pytest.mark.parametrize("numbers", [(0, 7), (5, 2), (100, 10**12)])
def test_numbers_of_graphs_may_have_gaps(normalization, numbers):
    edges = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]])
    batches = [torch.tensor(pair).repeat_interleave(torch.tensor([2, 3])) for pair in ((0, 1), numbers)]
    expected, found = (
        GraphLaplacian.from_edge_index(edges, num_nodes=5, normalization=normalization, batch=batch)
        for batch in batches
    )
    assert torch.equal(found.lmax, expected.lmax)
    if normalization is None:
        assert found.lmax[0] < found.lmax[4]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("normalization", ["sym", None])
def test_edges_make_on_their_device_the_laplacian_of_the_core(device, normalization):
    W = random_adjacency(13, 0)
    edge_index, edge_weight = edges_of(W)
    made = GraphLaplacian.from_edge_index(
        edge_index.to(device), edge_weight.to(device), 13, normalization=normalization
    )
    assert {buffer.device.type for buffer in made.buffers()} == {device}
    L = cg.laplacian(W, "normalized" if normalization else "combinatorial")
    np.testing.assert_allclose(made.dense().cpu(), L.matrix.toarray(), atol=1e-14)
