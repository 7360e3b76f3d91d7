"""Signals in the eigenbasis."""

from __future__ import annotations

import pytest
import torch

from cayleygsp.nn import (
    EigenbasisFeatures,
    PrecomputedCayleyConv,
)
from tests.nn.helpers import random_graph, randomized, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")


def test_second_derivatives_are_refused():
    L, laplacian = random_graph()
    layer = randomized(PrecomputedCayleyConv(1, 2, order=1))
    y = layer(EigenbasisFeatures(signals(2, L.n_vertices, 1), laplacian))
    (gradient,) = torch.autograd.grad(y.square().sum(), layer.weight, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()
