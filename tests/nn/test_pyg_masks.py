"""Masks of the edges, as explainers set them: in unusual precisions, before the first call, on graphs without edges."""

import pytest
import torch

import cayleygsp as cg
from tests.nn.helpers import signals

pytest.importorskip("torch_geometric", reason="masks come from explainers of PyTorch Geometric")

from torch_geometric.explain.algorithm.utils import set_masks

from cayleygsp.nn.pyg import CayleyConv, ChebConv

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


@pytest.mark.parametrize("make", [CayleyConv, ChebConv])
def test_masked_layers_keep_precision_and_find_channels_as_others_do(make):
    x, layer = signals(4, 2, dtype=torch.float32), make(-1, 3, 2)
    set_masks(layer, torch.nn.Parameter(torch.full((6,), 0.5)), EDGES)
    y = layer(x, EDGES)
    assert layer.in_channels == 2
    with torch.autocast("cpu"):
        assert torch.equal(layer(x, EDGES), y)
    half = layer(x.bfloat16(), EDGES)
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), y, atol=0.05, rtol=0.05)


@pytest.mark.parametrize("cached", [False, True])
def test_a_mask_of_a_layer_that_keeps_its_graph_may_change(cached):
    x, layer = signals(4, 2), CayleyConv(2, 3, 2, cached=cached).double()
    plain = layer(x, EDGES)
    weights = torch.tensor([1.0, 1, 3, 3, 2, 2], dtype=torch.float64)
    for mask in (weights / 3, weights.flip(0) / 3):
        set_masks(layer, mask, EDGES, apply_sigmoid=False)
        assert not torch.allclose(layer(x, EDGES), plain)
    layer.explain = False
    assert torch.equal(layer(x, EDGES), plain)


def test_a_mask_needs_its_edges():
    layer, x = CayleyConv(2, 3, 2), signals(4, 2, dtype=torch.float32)
    set_masks(layer, torch.ones(6), EDGES)
    for graph in (EDGES[:, :4], cg.laplacian(cg.gallery.path(4), "normalized")):
        with pytest.raises(ValueError, match="`edge_index` must hold the 6 edges of the mask"):
            layer(x, graph)
