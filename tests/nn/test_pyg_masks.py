"""Masks of the edges in unusual precisions and before the first call."""

import pytest
import torch

from cayleygsp.nn import CayleyConv, ChebConv
from tests.nn.helpers import signals

pytest.importorskip("torch_geometric", reason="masks come from explainers of PyTorch Geometric")

from cayleygsp.nn.pyg import masked_conv

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


@pytest.mark.parametrize("make", [CayleyConv, ChebConv])
def test_masked_layers_keep_precision_and_find_channels_as_others_do(make):
    x, mask = signals(4, 2, dtype=torch.float32), torch.full((6,), 0.5)
    layer = make(-1, 3, 2)
    y = masked_conv(layer, x, EDGES, None, None, None, mask)
    assert layer.in_channels == 2
    with torch.autocast("cpu"):
        assert torch.equal(masked_conv(layer, x, EDGES, None, None, None, mask), y)
    half = masked_conv(layer, x.bfloat16(), EDGES, None, None, None, mask)
    assert half.dtype == layer(x.bfloat16(), EDGES).dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), y, atol=0.05, rtol=0.05)
