"""Derivatives in forward mode."""

import pytest
import torch

from cayleygsp.nn import CayleyConv
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
