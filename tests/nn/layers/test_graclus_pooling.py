"""Pooling over groups of real vertices alone, whatever stands at the fake ones."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from torch.autograd import gradcheck, gradgradcheck

import cayleygsp as cg
from cayleygsp import coarsening
from cayleygsp.coarsening import coarsen
from cayleygsp.nn import SpectralConv
from cayleygsp.nn.layers.graclus_pooling import GraclusPooling
from tests.nn.helpers import signals
from tests.strategies import weighted_graphs

OPS = ("max", "mean")

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

CARDS = ["cuda"] if torch.cuda.is_available() else []

DEVICES = ["cpu", *CARDS]


def tree_of(n=11, levels=3, rng=0):
    return coarsen(cg.gallery.star(n), levels, rng=rng)


def pooled_by_hand(tree, x, level, n_levels, op):
    """Pool a (n, channels) array group by group with numpy, over real vertices only."""
    size, reduce = 2**n_levels, {"max": np.max, "mean": np.mean}[op]
    result = np.zeros((len(x) // size, x.shape[1]))
    for group in range(len(result)):
        members = [p for p in range(group * size, (group + 1) * size) if not tree.is_fake[level][p]]
        if members:
            result[group] = reduce(x[members], axis=0)
    return result


@given(
    W=weighted_graphs(),
    level=st.integers(0, 2),
    n_levels=st.integers(1, 2),
    op=st.sampled_from(OPS),
    junk=st.sampled_from([0.0, 1e9, -1e9, np.inf, -np.inf, np.nan]),
    seed=st.integers(0, 100),
)
def test_pooling_is_over_the_real_vertices_whatever_the_fake_ones_hold(W, level, n_levels, op, junk, seed):
    tree = coarsen(W, 4, rng=seed)
    x = signals(tree.sizes[level], 3, seed=seed)
    expected = pooled_by_hand(tree, x.numpy(), level, n_levels, op)
    x[torch.tensor(tree.is_fake[level])] = junk
    pooled = GraclusPooling(tree, n_levels, level, op)(x)
    assert_allclose(pooled.numpy(), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("op", OPS)
def test_bias_before_pooling_does_not_leak(op):
    tree = tree_of()
    x = -torch.rand(tree.n_vertices, 2, dtype=torch.float64) - 1  # negative: a fake vertex at zero would win
    pool = GraclusPooling(tree, 3, op=op)
    plain = pool(pool.permute(x))
    # x + 5 at the real vertices and bare bias at the fake ones, as a convolution leaves them
    assert_allclose(pool(pool.permute(x) + 5), plain + 5, rtol=1e-14)
    assert_allclose(pool(pool.permute(x).sub(3).relu()), torch.zeros_like(plain))


def test_groups_of_fake_vertices_give_zero_even_with_a_bias():
    tree = tree_of()
    pool = GraclusPooling(tree, 1)
    fake = torch.tensor(tree.is_fake[1])
    assert fake.any()
    for op in OPS:
        pooled = GraclusPooling(tree, 1, op=op)(pool.permute(signals(11, 4)) + 7)
        assert not pooled[fake].any()
        assert pooled[~fake].all()


def test_max_pooling_by_four_is_max_pooling_by_two_twice():
    tree = coarsen(cg.gallery.mnist_grid(), 4, rng=0)
    x = signals(3, tree.sizes[0], 5)
    twice = GraclusPooling(tree, 1, level=1)(GraclusPooling(tree, 1)(x))
    assert torch.equal(GraclusPooling(tree, 2)(x), twice)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_batch_is_its_graphs_one_by_one_in_their_precision(op, dtype):
    tree = tree_of()
    x = signals(4, tree.sizes[0], 3, dtype=dtype)
    pool = GraclusPooling(tree, 2, op=op)
    pooled = pool(x)
    assert pooled.dtype == dtype
    assert pooled.shape == (4, tree.sizes[2], 3)
    assert torch.equal(pooled, torch.stack([pool(f) for f in x]))
    assert pool(x[:0]).shape == (0, tree.sizes[2], 3)


def test_graph_without_fake_vertices_is_pooled_plainly():
    tree = coarsen(np.ones((8, 8)), 2, rng=0)
    assert tree.n_fake == (0, 0, 0)
    x = signals(8, 2)
    assert torch.equal(GraclusPooling(tree, 2)(x), x.reshape(2, 4, 2).amax(1))


def test_not_a_number_at_a_real_vertex_is_not_hidden():
    tree = tree_of()
    x = signals(tree.sizes[0], 1)
    x[tree.position[0]] = torch.nan
    for op in OPS:
        assert GraclusPooling(tree, 1, op=op)(x).isnan().sum() == 1


def test_given_graph_is_coarsened_as_far_as_needed():
    pool = GraclusPooling(cg.gallery.star(11), n_levels=2, level=1, rng=3)
    assert pool.coarsening.levels == 3
    assert_array_equal(pool.coarsening.permutation, tree_of(rng=3).permutation)


def test_permutation_is_that_of_the_coarsening_and_has_an_inverse():
    tree = tree_of()
    pool = GraclusPooling(tree)
    x = signals(2, 11, 3)
    for f, placed in zip(x, pool.permute(x), strict=True):
        assert_array_equal(placed, tree.permute(f.numpy()))
        assert torch.equal(pool.permute(f), placed)
    assert torch.equal(pool.unpermute(pool.permute(x)), x)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("shape", [(), (2,)])
def test_gradients_are_those_of_finite_differences(op, shape):
    pool = GraclusPooling(tree_of(5, 2), 2, op=op)
    x = signals(*shape, 5, 2).requires_grad_()
    # a bias lets fake vertices differ from zero, as in a network
    assert gradcheck(lambda x: pool(pool.permute(x) + 0.3), (x,))
    assert gradgradcheck(lambda x: pool(pool.permute(x).square()), (x,))
    assert gradcheck(lambda x: pool.unpermute(pool.permute(x)), (x,))


@pytest.mark.parametrize("op", OPS)
def test_fake_vertices_get_no_gradient(op):
    tree = tree_of()
    x = signals(tree.sizes[0], 2).requires_grad_()
    GraclusPooling(tree, 2, op=op)(x).sum().backward()
    assert not x.grad[torch.tensor(tree.is_fake[0])].any()
    n_groups = tree.sizes[2] - tree.n_fake[2]
    assert_allclose(x.grad.sum(0), [n_groups, n_groups])


@pytest.mark.parametrize("op", OPS)
def test_compiles_without_a_graph_break(op):
    pool = GraclusPooling(tree_of(), 2, op=op)
    compiled = torch.compile(lambda x: pool(pool.permute(x)), fullgraph=True, backend="aot_eager")
    x, y = signals(2, 11, 3).requires_grad_(), signals(2, 11, 3).requires_grad_()
    result, expected = compiled(x), pool(pool.permute(y))
    assert torch.equal(result, expected)
    result.square().sum().backward()
    expected.square().sum().backward()
    assert torch.equal(x.grad, y.grad)


@pytest.mark.parametrize("op", OPS)
def test_meta_device_gives_shapes(op):
    tree = tree_of()
    with torch.device("meta"):
        made_there = GraclusPooling(tree, 2, op=op)
    x = torch.empty(7, 11, 3, device="meta")
    for pool in (made_there, GraclusPooling(tree, 2, op=op).to("meta")):
        assert pool(pool.permute(x)).shape == (7, tree.sizes[2], 3)
        assert pool(pool.permute(x)).device.type == "meta"


def test_state_is_saved_and_loaded():
    tree = tree_of()
    pool = GraclusPooling(tree, 2)
    state = copy.deepcopy(pool.state_dict())
    assert set(state) == {"position", "fake", "empty", "count"}
    fresh = GraclusPooling(tree_of(), 2)
    fresh.load_state_dict(state)
    empty = GraclusPooling(tree, 2).to("meta").to_empty(device="cpu")
    empty.load_state_dict(state)
    assigned = GraclusPooling(tree, 2).to("meta")
    assigned.load_state_dict(state, assign=True)
    x = signals(tree.sizes[0], 3)
    for loaded in (fresh, empty, assigned):
        assert torch.equal(loaded(x), pool(x))


def test_state_of_another_coarsening_is_refused():
    graph = cg.gallery.mnist_grid(6)
    one = torch.nn.Sequential(GraclusPooling(graph, 2, rng=0))
    two = torch.nn.Sequential(GraclusPooling(graph, 2, rng=1))
    with pytest.raises(RuntimeError, match=r"0\.: saved with another coarsening; make the layer with the same graph"):
        two.load_state_dict(one.state_dict())
    one.load_state_dict(one.state_dict())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pool: pickle.loads(pickle.dumps(pool))])
def test_copies_pool_alike(copied):
    pool = GraclusPooling(tree_of(), 2, op="mean")
    twin = copied(pool)
    x = signals(pool.in_vertices, 3)
    assert torch.equal(twin(x), pool(x))
    assert twin.fake is not pool.fake
    assert (
        repr(twin)
        == repr(pool)
        == f"GraclusPooling({pool.in_vertices}, {pool.out_vertices}, level=0, n_levels=2, op='mean')"
    )


def test_change_of_precision_leaves_the_places_alone():
    pool = GraclusPooling(tree_of(), 2).half()
    assert pool.fake.dtype == torch.int64
    assert pool(signals(pool.in_vertices, 2)).dtype == torch.float64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_levels": 0}, "`n_levels` must be at least 1, got 0"),
        ({"level": -1}, "`level` must be at least 0, got -1"),
        ({"n_levels": 2, "level": 2}, r"`coarsening` must have at least level \+ n_levels = 4 levels, got one with 3"),
        ({"op": "sum"}, "`op` must be one of 'max', 'mean', got 'sum'"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        GraclusPooling(tree_of(), **arguments)


def test_signals_that_do_not_fit_are_refused():
    tree = tree_of()
    n = tree.sizes[0]
    pool = GraclusPooling(tree, 1)
    for shape in [(n,), (n + 1, 2), (2, n, 3, 1), (2, 11, 3)]:
        with pytest.raises(
            ValueError, match=rf"`x` must have shape \({n}, channels\) or \(batch, {n}, channels\), got"
        ):
            pool(torch.zeros(shape))
    with pytest.raises(ValueError, match=r"`x` must have shape \(11, channels\)"):
        pool.permute(torch.zeros(n, 2))
    with pytest.raises(ValueError, match=rf"`x` must have shape \({n}, channels\)"):
        pool.unpermute(torch.zeros(11, 2))
    with pytest.raises(TypeError, match=r"`x` must hold floating point numbers, got dtype torch\.int64"):
        pool(torch.zeros(n, 2, dtype=torch.int64))
    with pytest.raises(TypeError, match="`x` must be a tensor, got ndarray"):
        pool(np.zeros((n, 2)))
    with pytest.raises(ValueError, match="`x` must be on the device of the layer, cpu, got meta"):
        pool(torch.zeros(n, 2, device="meta"))


@pytest.mark.parametrize("device", DEVICES)
def test_pooling_and_spectral_layers_are_what_numpy_says(device):
    graph = cg.gallery.sensor(40, rng=0)
    tree = coarsening.coarsen(graph, levels=2, rng=0)
    pool = GraclusPooling(tree, 2).to(device)
    x = signals(3, 40, 2)
    fours, fake = np.arange(tree.sizes[0]).reshape(-1, 4), np.reshape(tree.is_fake[0], (-1, 4))
    groups = [four[~left_out] for four, left_out in zip(fours, fake, strict=True)]
    for signal, pooled in zip(x, pool(pool.permute(x.to(device))).cpu(), strict=True):
        ordered = tree.permute(signal.numpy())
        expected = [ordered[group].max(axis=0) if group.size else np.zeros(2) for group in groups]
        np.testing.assert_array_equal(pooled, expected)
    conv = SpectralConv(2, 3, 8, laplacian=graph).double().to(device)
    Phi, g = conv.eigenvectors.cpu().numpy(), conv.responses().detach().cpu().numpy()
    expected = np.einsum("nk,kio,mk,bmi->bno", Phi, g, Phi, x.numpy()) + conv.bias.detach().cpu().numpy()
    np.testing.assert_allclose(conv(x.to(device)).detach().cpu(), expected, atol=1e-12)
