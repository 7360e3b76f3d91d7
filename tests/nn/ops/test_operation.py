"""Derivatives in forward mode."""

import pytest
import torch

from cayleygsp.nn import CayleyConv
from cayleygsp.nn.ops import convolution, learned_graph
from cayleygsp.nn.ops.series import CAYLEY
from tests.nn.helpers import (
    random_graph,
    randomized,
    signals,
)

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

TIGHT = 1e-13


def make(in_channels, out_channels, order=3, seed=0, **options):
    return randomized(CayleyConv(in_channels, out_channels, order, **{"tol": TIGHT, **options}), seed)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own forward mode uses it
def test_forward_mode_is_refused_with_a_reason():
    _L, prepared = random_graph(n=6)
    x = signals(6, 2)
    for method in ("chebyshev", "jacobi"):
        for layer in (make(2, 3, method=method), make(2, 3, method=method).requires_grad_(False)):
            with pytest.raises(NotImplementedError, match=r"no forward-mode derivative .* use method='exact'"):
                torch.func.jvp(lambda x, layer=layer: layer(x, prepared), (x,), (x,))
    exact = make(2, 3, method="exact", bias=False)
    value, tangent = torch.func.jvp(lambda x: exact(x, prepared), (x,), (x,))
    torch.testing.assert_close(tangent, value)


@pytest.mark.parametrize("weight", [None, (5,), (5, 2, 3), (5, 2, 1)])
@pytest.mark.parametrize("operation", [convolution.conv, learned_graph.series_conv])
def test_operations_are_what_torch_wants(operation, weight):
    matrices = weight is not None and len(weight) == 3
    if operation is learned_graph.series_conv and not matrices:
        pytest.skip("it mixes channels by matrices")
    _, laplacian = random_graph()
    graph = laplacian.tensors(torch.float64, own_scale=False).tensors()
    learns_graph = operation is learned_graph.series_conv
    numbers = [t.detach().clone().requires_grad_(learns_graph) for t in graph[2:]]
    graph = [*graph[:2], *numbers]
    x = signals(2, 13, 2) if weight is not None else signals(2, 13, 5, 2)
    parameters = None if weight is None else signals(*weight, seed=1), torch.tensor(0.3, dtype=torch.float64)
    leaves = [t if t is None else t.requires_grad_() for t in (x, *parameters)]
    settings = CAYLEY, 5, 1e-6, laplacian.bound, None, 2 if learns_graph else 7, True
    torch.library.opcheck(operation.traced, (*leaves, graph, *settings))
    y, kept = operation.traced(*leaves, graph, *settings)
    constant = [t if t is None else t.detach() for t in leaves]
    graph = [t.detach() for t in graph]
    for needs in ([True, True, True], [True, False, False], [False, True, False], [False, False, True]):
        needs = [need and (t is not None) for need, t in zip(needs, leaves, strict=True)]
        arguments = (signals(*y.shape), *constant, kept.detach(), graph, *settings, [*needs, learns_graph])
        torch.library.opcheck(operation.traced_backward, arguments, test_utils=("test_schema", "test_faketensor"))
