"""The terms of signals on the vertices."""

import numpy as np
import pytest
import torch

from cayleygsp.nn import ChebyshevFeatures, PrecomputedCayleyConv
from tests.nn.helpers import random_graph, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")


def test_a_zoom_beyond_the_features_is_refused():
    _L, prepared = random_graph()
    features = ChebyshevFeatures(signals(13, 2), prepared, order=3, max_zoom=1.0)
    features.check_zoom(3, 1.0)
    features.check_zoom(2, 1.0)
    layer = PrecomputedCayleyConv(2, 3, 3, zoom=5.0).double()
    with pytest.raises(ValueError, match=r"the zoom has grown to 5 and order 3 needs more terms .* larger max_zoom"):
        layer(features)


def test_features_hold_the_terms():
    L, _prepared = random_graph()
    x = signals(13, 2)
    features = ChebyshevFeatures(x, L, order=2, max_zoom=0.5)
    assert len(features) == 13
    torch.testing.assert_close(features.features[:, 0], x)
    scaled = 2 / L.lmax * (L.matrix @ x.numpy()) - x.numpy()
    np.testing.assert_allclose(features.features[:, 1], scaled, atol=1e-13)
    assert features.to(torch.float32).features.dtype == torch.float32
