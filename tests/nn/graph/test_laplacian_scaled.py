"""The scaled Laplacian of any graph: compiled loops and torch operations make the same."""

import pytest
import torch

from cayleygsp.nn.graph.laplacian import ScaledLaplacian
from cayleygsp.nn.ops.operation import torch_operations
from tests.nn.helpers import edges_of, random_adjacency


def dense(graph):
    """Return the scaled matrix."""
    n = graph.diagonal.shape[0]
    W = torch.zeros(n, n, dtype=torch.float64).index_put(
        (graph.rows(), graph.indices.long()), graph.values, accumulate=True
    )
    return graph.scale[:, None] * (graph.diagonal.diag() - W) - torch.eye(n, dtype=torch.float64)


@pytest.mark.parametrize("normalization", ["sym", "rw", None])
@pytest.mark.parametrize("batched", [False, True])
def test_torch_operations_make_what_the_loops_make(normalization, batched):
    generator = torch.Generator().manual_seed(0)
    batch = torch.tensor([3] * 5 + [7] * 6) if batched else None
    edge_index = torch.randint(0, 5, (2, 20), generator=generator)
    edge_index[:, 10:] += 5
    weight = torch.rand(20, generator=generator, dtype=torch.float64)
    options = {"normalization": normalization, "batch": batch, "dtype": torch.float64}
    by_loops = ScaledLaplacian.from_edge_index(edge_index, weight, 11, **options).graph
    with torch_operations():
        by_torch = ScaledLaplacian.from_edge_index(edge_index, weight, 11, **options).graph
    torch.testing.assert_close(dense(by_torch), dense(by_loops), atol=1e-13, rtol=0)
    for graph in (by_loops, by_torch):
        torch.testing.assert_close(dense(graph.transposed()), dense(graph).T, atol=1e-13, rtol=0)


def test_a_symmetric_matrix_is_its_own_transposed():
    edge_index, weight = edges_of(random_adjacency(9, 0))
    made = {
        normalization: ScaledLaplacian.from_edge_index(
            edge_index, weight, 9, normalization=normalization, dtype=torch.float64
        )
        for normalization in ("sym", "rw", None)
    }
    assert made["sym"].graph.is_symmetric
    assert made[None].graph.is_symmetric
    assert not made["rw"].graph.is_symmetric
    weight[0] *= 1 + 1e-9
    nearly = ScaledLaplacian.from_edge_index(edge_index, weight, 9, normalization=None, dtype=torch.float64)
    assert not nearly.graph.is_symmetric


def test_weights_that_cannot_be_normalized_are_refused():
    edge_index = torch.tensor([[0, 1], [1, 0]])
    weight = torch.tensor([-1.0, -1.0])
    for normalization in ("rw", None):
        ScaledLaplacian.from_edge_index(edge_index, weight, 2, normalization=normalization, dtype=torch.float32)
    with pytest.raises(ValueError, match=r"not negative for normalization='sym', got -1 at vertex 0"):
        ScaledLaplacian.from_edge_index(edge_index, weight, 2, normalization="sym", dtype=torch.float32)
    weight[0] = torch.inf
    with pytest.raises(ValueError, match="`edge_weight` must be finite, got inf at edge 0"):
        ScaledLaplacian.from_edge_index(edge_index, weight, 2, normalization=None, dtype=torch.float32)
