"""The paper's scheme as a layer."""

import numpy as np
import pytest
import torch

from cayleygsp.nn import CayleyConv
from tests.nn.helpers import (
    NORMALIZATIONS,
    random_graph,
    randomized,
    signals,
)

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

FORMS = {
    "full": {},
    "real": {"real_coeffs": True},
    "shared": {"shared_filter": True},
    "shared real": {"shared_filter": True, "real_coeffs": True},
    "zooms": {"zoom_per_channel": True},
}

TIGHT = 1e-13


def make(in_channels, out_channels, order=3, seed=0, **options):
    return randomized(CayleyConv(in_channels, out_channels, order, **{"tol": TIGHT, **options}), seed)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_iter", [0, 1, 7])
@pytest.mark.parametrize("sides", [(2, 3), (3, 2)])
def test_jacobi_layer_equals_the_jacobi_filter_of_the_core(normalization, form, n_iter, sides):
    L, prepared = random_graph(normalization=normalization)
    layer = make(*sides, method="jacobi", n_iter=n_iter, normalization=normalization, bias=False, **FORMS[form])
    x = signals(2, L.n_vertices, sides[0])
    expected = np.zeros((2, L.n_vertices, sides[1]))
    for i in range(sides[0]):
        for o in range(sides[1]):
            g = layer.to_filter(L, i, o)
            assert g.method == "jacobi"
            expected[:, :, o] += (g @ x[:, :, i].numpy().T).T
    np.testing.assert_allclose(layer(x, prepared).detach(), expected, atol=1e-10)


@pytest.mark.parametrize("sides", [(2, 3), (3, 2)])
def test_graph_without_vertices_has_an_empty_result(sides):
    layer = make(*sides, method="jacobi")
    x = torch.zeros(0, sides[0], dtype=torch.float64)
    assert layer(x, torch.zeros(2, 0, dtype=torch.int64)).shape == (0, sides[1])
