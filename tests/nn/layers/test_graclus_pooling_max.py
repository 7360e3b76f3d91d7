"""Pooling without fake vertices: the same numbers as with them, in both orders of memory, and the same gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from torch.autograd import forward_ad

import cayleygsp as cg
from cayleygsp.coarsening import coarsen
from cayleygsp.nn.layers.graclus_pooling import GraclusPooling
from cayleygsp.nn.ops.operation import torch_operations
from tests.nn.helpers import signals
from tests.strategies import weighted_graphs


@given(
    W=weighted_graphs(),
    level=st.integers(0, 2),
    n_levels=st.integers(1, 2),
    op=st.sampled_from(["max", "mean"]),
    outside=st.booleans(),
    seed=st.integers(0, 100),
)
def test_pooling_of_real_vertices_is_that_of_padded_signals(W, level, n_levels, op, outside, seed):
    tree = coarsen(W, 4, rng=seed)
    padded = GraclusPooling(tree, n_levels, level, op)
    real = GraclusPooling(tree, n_levels, level, op, padded=False)
    here, above = (torch.tensor(~tree.is_fake[k]) for k in (level, level + n_levels))
    x = signals(3, tree.sizes[level], 2, seed=seed)
    given_ = x[:, here].transpose(0, 1).contiguous().transpose(0, 1) if outside else x[:, here].contiguous()
    x.requires_grad_(), given_.requires_grad_()
    expected, found = padded(x)[:, above], real(given_)
    torch.testing.assert_close(found, expected)
    weights = signals(*expected.shape, seed=seed + 1)
    (expected * weights).sum().backward()
    (found * weights).sum().backward()
    torch.testing.assert_close(given_.grad, x.grad[:, here])
    with torch_operations():
        torch.testing.assert_close(real(given_), expected)
    assert torch.equal(real(given_[0]), found[0])


def test_order_of_the_real_vertices_is_that_of_the_tree():
    tree = coarsen(cg.gallery.star(11), 3, rng=0)
    pool, padded = GraclusPooling(tree, padded=False), GraclusPooling(tree)
    x = signals(2, 11, 3)
    assert torch.equal(pool.permute(x), padded.permute(x)[:, torch.tensor(~tree.is_fake[0])])
    assert torch.equal(pool.unpermute(pool.permute(x)), x)
    n_above = tree.real_graph(1).n_vertices
    assert repr(pool) == f"GraclusPooling(11, {n_above}, level=0, n_levels=1, op='max', padded=False)"


def test_first_of_equals_gets_the_gradient_and_no_number_stays_none():
    tree = coarsen(np.ones((4, 4)), 2, rng=0)
    pool = GraclusPooling(tree, 2, padded=False)
    x = torch.ones(1, 4, 1, requires_grad=True)
    pool(x).sum().backward()
    assert_array_equal(x.grad.flatten(), [1, 0, 0, 0])
    for place in range(4):
        y = torch.arange(4.0)[:, None]
        y[place] = torch.nan
        assert pool(y).isnan().all()


def test_pooled_bias_and_relu_commute():
    tree = coarsen(cg.gallery.mnist_grid(6), 2, rng=0)
    pool = GraclusPooling(tree, 2, padded=False)
    x, bias = signals(4, 36, 3, dtype=torch.float32), torch.tensor([0.3, -0.2, 0.0])
    assert torch.equal(pool((x + bias).relu()), (pool(x) + bias).relu())


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_derivatives_that_are_not_there_are_refused():
    pool = GraclusPooling(cg.gallery.path(8), 1, rng=0, padded=False)
    x = signals(2, 8, 1).requires_grad_()
    gradient = torch.autograd.grad(pool(x).square().sum(), x, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()
    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="forward-mode"):
        pool(forward_ad.make_dual(x.detach(), torch.ones_like(x)))
