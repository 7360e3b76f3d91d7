"""The product with the Laplacian."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from cayleygsp.nn import GraphLaplacian
from cayleygsp.nn.ops.jacobi import spmm
from tests.nn.helpers import signals
from tests.strategies import laplacians


@settings(max_examples=25)
@given(L=laplacians())
def test_product_is_the_laplacian(L):
    x = signals(L.n_vertices, 3)
    graph = GraphLaplacian.from_laplacian(L).tensors(x.dtype, own_scale=False)
    got = spmm(x, *graph[:5])
    np.testing.assert_allclose(got, L.matrix @ x.numpy(), atol=1e-12 * max(L.lmax, 1))
