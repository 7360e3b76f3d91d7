"""The spectral convolution equals its dense formula, and its basis is that of the graph."""

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline
from torch.autograd import gradcheck

import cayleygsp as cg
from cayleygsp.coarsening import coarsen
from cayleygsp.nn.layers import spectral_conv
from cayleygsp.nn.layers.spectral_conv import SpectralConv, first_eigenpairs, spline_matrix
from tests.nn.helpers import signals
from tests.oracle import eigenpairs
from tests.strategies import laplacians

DOUBLE = {"dtype": torch.float64}

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")


def layer(*args, seed=0, **options):
    conv = SpectralConv(*args, **{**DOUBLE, **options})
    conv.reset_parameters(torch.Generator().manual_seed(seed))
    if conv.bias is not None:
        torch.nn.init.normal_(conv.bias, generator=torch.Generator().manual_seed(seed + 1))
    return conv


def dense_layer(conv, Phi, x):
    """Return the sum over input channels of Φ diag(B w) Φᵀ x, one channel at a time."""
    w = conv.weight.detach().numpy()
    B = np.eye(len(w)) if conv.interpolation is None else conv.interpolation.numpy()
    y = np.zeros((len(x), conv.out_channels))
    for i in range(conv.in_channels):
        for o in range(conv.out_channels):
            y[:, o] += Phi @ np.diag(B @ w[:, i, o]) @ Phi.T @ x[:, i]
    return y if conv.bias is None else y + conv.bias.detach().numpy()


@given(L=laplacians(), data=st.data(), bias=st.booleans())
def test_layer_is_the_dense_formula(L, data, bias):
    k = data.draw(st.integers(1, L.n_vertices))
    n_coeffs = data.draw(st.none() | st.integers(1, k))
    conv = layer(2, 3, k, n_coeffs, bias, laplacian=L)
    x = signals(L.n_vertices, 2)
    expected = dense_layer(conv, first_eigenpairs(L, k)[1], x.numpy())
    assert_allclose(conv(x).detach().numpy(), expected, atol=1e-12)


@given(L=laplacians(), seed=st.integers(0, 100))
def test_all_eigenvectors_with_a_response_make_the_dense_filter(L, seed):
    n = L.n_vertices
    p = cg.CayleyPolynomial([0.5, 1 - 1j, 0.3j], 0.7)
    lam, Phi = first_eigenpairs(L, n)
    conv = layer(1, 1, n, bias=False, laplacian=L)
    with torch.no_grad():
        conv.weight.copy_(torch.tensor(p(lam))[:, None, None])
    lam, Phi = eigenpairs(L)
    x = signals(n, 1, seed=seed)
    assert_allclose(conv(x).detach().numpy(), (Phi * p(lam)) @ Phi.T @ x.numpy(), atol=1e-8)


def test_batch_is_its_signals_one_by_one():
    L = cg.laplacian(cg.gallery.sensor(30, rng=0), "normalized")
    conv = layer(3, 4, 9, 5, laplacian=L)
    x = signals(6, 30, 3)
    assert_allclose(conv(x).detach(), torch.stack([conv(f) for f in x]).detach(), atol=1e-13)
    assert conv(x[:0]).shape == (0, 30, 4)


def test_given_basis_is_that_of_the_layer_and_may_have_more_vectors():
    graph = cg.gallery.sensor(30, rng=0)
    bound, free = layer(3, 4, 9, 5, laplacian=graph), layer(3, 4, 9, 5)
    free.load_state_dict({name: bound.state_dict()[name] for name in free.state_dict()})
    x = signals(2, 30, 3)
    for k in (9, 12):
        basis = SpectralConv.prepare(graph, k, **DOUBLE)
        assert basis[0].shape == (k,)
        assert_allclose(free(x, basis).detach(), bound(x).detach(), atol=1e-12)

    class Holder:
        eigenvectors = SpectralConv.prepare(graph, 10, **DOUBLE)[1]

    assert_allclose(free(x, Holder()).detach(), bound(x).detach(), atol=1e-12)
    single = copy.deepcopy(free).float()
    assert single(x.float(), Holder()).dtype == torch.float32
    # the basis that is given goes before the layer's own
    other = SpectralConv.prepare(cg.gallery.ring(30), 9, **DOUBLE)
    assert_allclose(bound(x, other).detach(), free(x, other).detach(), atol=1e-12)


def test_what_lies_beyond_the_first_frequencies_is_removed():
    graph = cg.gallery.sensor(30, rng=0)
    _, Phi = first_eigenpairs(graph, 30)
    conv = layer(1, 1, 8, bias=False, laplacian=graph)
    y = conv(torch.tensor(Phi[:, 8:, None]).movedim(1, 0))
    assert_allclose(y.detach(), 0, atol=1e-13)


@pytest.mark.parametrize("n_coeffs", [None, 4, 7])
def test_responses_are_what_eigenvectors_are_multiplied_by(n_coeffs):
    graph = cg.gallery.sensor(30, rng=0)
    conv = layer(2, 3, 10, n_coeffs, bias=False, laplacian=graph)
    assert conv.responses().shape == (10, 2, 3)
    for k in range(10):
        for i in range(2):
            x = torch.zeros(30, 2, **DOUBLE)
            x[:, i] = conv.eigenvectors[:, k]
            expected = conv.eigenvectors[:, k, None] * conv.responses()[k, i]
            assert_allclose(conv(x).detach(), expected.detach(), atol=1e-13)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_precision_is_that_of_the_input(dtype):
    graph = cg.gallery.sensor(30, rng=0)
    conv = SpectralConv(2, 3, 10, 5, laplacian=graph, dtype=dtype)
    double = copy.deepcopy(conv).double()
    x = signals(30, 2, dtype=dtype)
    assert conv(x).dtype == dtype
    assert_allclose(conv(x).detach(), double(x.double()).detach(), atol=1e-5 if dtype == torch.float32 else 1e-13)


@given(n_points=st.integers(1, 40), data=st.data())
def test_splines_are_positive_add_up_to_one_and_are_independent(n_points, data):
    n_coeffs = data.draw(st.integers(1, n_points))
    B = spline_matrix(n_points, n_coeffs)
    assert B.shape == (n_points, n_coeffs)
    assert B.min() >= 0
    assert_allclose(B.sum(axis=1), 1, rtol=1e-12)
    assert np.linalg.matrix_rank(B) == n_coeffs


def test_splines_hold_every_cubic_and_are_smooth():
    B = spline_matrix(101, 9)
    points = np.linspace(0, 1, 101)
    cubic = 3 - points + 2 * points**2 - 5 * points**3
    coeffs = np.linalg.lstsq(B, cubic, rcond=None)[0]
    assert_allclose(B @ coeffs, cubic, atol=1e-12)
    # one coefficient reaches four of the six intervals between knots at the most
    assert np.count_nonzero(B, axis=0).max() <= 4 * 101 / 6 + 2
    knots = np.concatenate([[0, 0, 0], np.linspace(0, 1, 7), [1, 1, 1]])
    inner = BSpline.basis_element(knots[4:9], extrapolate=False)(points)
    assert_allclose(B[:, 4], np.nan_to_num(inner), atol=1e-12)


@pytest.mark.parametrize(("channels", "n_coeffs"), [((16, 16), None), ((64, 8), 5), ((4, 64), 12), ((1, 64), 1)])
def test_initial_weights_keep_the_variance(channels, n_coeffs):
    graph = cg.gallery.sensor(200, rng=0)
    conv = layer(*channels, 40, n_coeffs, laplacian=graph)
    conv.reset_parameters(torch.Generator().manual_seed(3))
    assert not conv.bias.any()
    x = conv.eigenvectors @ signals(50, 40, channels[0])
    ratio = float((conv(x).var() / x.var()).detach())
    assert 1 / 1.5 < ratio < 1.5


def test_initial_weights_come_from_the_generator():
    one, two, three = (layer(2, 2, 5, seed=seed, bias=False).weight for seed in (0, 0, 1))
    assert torch.equal(one, two)
    assert not torch.equal(one, three)


@pytest.mark.parametrize("n_coeffs", [None, 4])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_gradients_are_those_of_finite_differences(n_coeffs, shape):
    conv = layer(2, 3, 6, n_coeffs, laplacian=cg.gallery.sensor(9, rng=0))
    x = signals(*shape, 9, 2).requires_grad_()
    parameters = {name: value.detach().requires_grad_() for name, value in conv.named_parameters()}

    def run(x, weight, bias):
        return torch.func.functional_call(conv, {"weight": weight, "bias": bias}, (x,))

    assert gradcheck(run, (x, parameters["weight"], parameters["bias"]))
    assert not conv.eigenvectors.requires_grad


@pytest.mark.parametrize("n_coeffs", [None, 4])
def test_compiles_without_a_graph_break(n_coeffs):
    conv = layer(2, 3, 6, n_coeffs, laplacian=cg.gallery.sensor(9, rng=0))
    compiled = torch.compile(conv, fullgraph=True, backend="aot_eager")
    x = signals(5, 9, 2)
    assert_allclose(compiled(x).detach(), conv(x).detach(), atol=1e-14)
    compiled(x).square().sum().backward()
    gradient = conv.weight.grad.clone()
    conv.zero_grad()
    conv(x).square().sum().backward()
    assert_allclose(gradient, conv.weight.grad, atol=1e-12)


def test_meta_device_gives_shapes():
    conv = SpectralConv(2, 3, 6, 4, laplacian=cg.gallery.sensor(9, rng=0), device="meta")
    assert conv(torch.empty(5, 9, 2, device="meta")).shape == (5, 9, 3)
    moved = SpectralConv(2, 3, 6, laplacian=cg.gallery.sensor(9, rng=0)).to("meta")
    assert moved(torch.empty(9, 2, device="meta")).device.type == "meta"


def test_state_is_saved_and_loaded_with_the_basis():
    graph = cg.gallery.ring(12)  # pairs of equal eigenvalues: the basis is a matter of choice
    conv = layer(2, 3, 6, 4, laplacian=graph)
    fresh = layer(2, 3, 6, 4, laplacian=cg.gallery.sensor(12, rng=0), seed=5)
    x = signals(12, 2)
    assert not torch.allclose(fresh(x), conv(x))
    fresh.load_state_dict(conv.state_dict())
    assert torch.equal(fresh(x), conv(x))
    assert set(conv.state_dict()) == {"weight", "bias", "interpolation", "eigenvectors"}


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda conv: pickle.loads(pickle.dumps(conv))])
def test_copies_filter_alike(copied):
    conv = layer(2, 3, 6, 4, laplacian=cg.gallery.ring(12))
    x = signals(12, 2)
    assert torch.equal(copied(conv)(x), conv(x))
    assert repr(copied(conv)) == "SpectralConv(2, 3, n_eigenvectors=6, n_coeffs=4, bias=True, n_vertices=12)"
    assert repr(SpectralConv(1, 2, 3, bias=False)) == "SpectralConv(1, 2, n_eigenvectors=3, n_coeffs=3, bias=False)"


def test_layer_learns_a_low_pass():
    _, Phi = first_eigenpairs(cg.gallery.sensor(40, rng=0), 40)
    target = torch.tensor(spline_matrix(40, 6) @ np.exp(-np.arange(6.0)))
    conv = layer(1, 1, 40, 6, laplacian=cg.gallery.sensor(40, rng=0))
    optimizer = torch.optim.Adam(conv.parameters(), lr=0.05)
    x, Phi = signals(64, 40, 1), torch.tensor(Phi)
    y = Phi @ (target[:, None] * (Phi.mT @ x))
    assert not torch.allclose(conv.responses()[:, 0, 0], target, atol=0.5)
    for _ in range(300):
        optimizer.zero_grad()
        (conv(x) - y).square().mean().backward()
        optimizer.step()
    assert_allclose(conv.responses().detach()[:, 0, 0], target, atol=1e-2)
    assert_allclose(conv.bias.detach(), 0, atol=1e-2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 1), "`in_channels` must be at least 1, got 0"),
        ((1, 0, 1), "`out_channels` must be at least 1, got 0"),
        ((1, 1, 0), "`n_eigenvectors` must be at least 1, got 0"),
        ((1, 1, 3, 0), "`n_coeffs` must be at least 1, got 0"),
        ((1, 1, 3, 4), "`n_coeffs` must be at most `n_eigenvectors` 3, got 4"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SpectralConv(*arguments)


def test_more_eigenvectors_than_vertices_are_refused():
    with pytest.raises(ValueError, match="`n_eigenvectors` must be at most the number of vertices 9, got 10"):
        SpectralConv(1, 1, 10, laplacian=cg.gallery.ring(9))


def test_inputs_that_do_not_fit_are_refused():
    L = cg.laplacian(cg.gallery.ring(9))
    bound, free = SpectralConv(2, 3, 5, laplacian=L), SpectralConv(2, 3, 5)
    for shape in [(9,), (9, 3), (8, 2), (1, 1, 9, 2)]:
        with pytest.raises(ValueError, match=r"`x` must have shape \(9, 2\) or \(batch, 9, 2\), got"):
            bound(torch.zeros(shape))
    x = torch.zeros(9, 2)
    with pytest.raises(ValueError, match="`laplacian` must be given here or when the layer is made"):
        free(x)
    with pytest.raises(TypeError, match=r"made by SpectralConv\.prepare, got Laplacian"):
        free(x, L)
    with pytest.raises(TypeError, match=r"made by SpectralConv\.prepare, got Tensor"):
        free(x, torch.zeros(9, 5))
    with pytest.raises(ValueError, match=r"shape \(n_vertices, 5\), or with more columns, got \(9, 4\)"):
        free(x, SpectralConv.prepare(L, 4))
    with pytest.raises(ValueError, match="`x` must be on the device of the layer and of the eigenvectors"):
        bound(x.to("meta"))


def test_signals_that_are_not_real_finite_tensors_are_rejected():
    conv = SpectralConv(2, 3, 5, laplacian=cg.gallery.ring(9))
    for dtype in (torch.complex64, torch.int64):
        with pytest.raises(TypeError, match=rf"`x` must hold floating point numbers, got dtype {dtype}"):
            conv(torch.ones(9, 2, dtype=dtype))
    with pytest.raises(TypeError, match="`x` must be a tensor, got ndarray"):
        conv(np.ones((9, 2)))
    x = torch.ones(9, 2)
    x[4, 1] = torch.nan
    with pytest.raises(ValueError, match=r"`x` must be finite, got nan at \[4, 1\]"):
        conv(x)


def test_layer_can_be_mapped_over_signals():
    conv, x = layer(2, 3, 5, laplacian=cg.gallery.ring(9)), torch.stack([signals(9, 2), 2 * signals(9, 2)])
    assert_allclose(torch.vmap(conv)(x).detach().numpy(), conv(x).detach().numpy(), atol=1e-12)


def x5(channels=3):
    return signals(5, channels, dtype=torch.float32)


def test_spectral_layer_casts_its_input():
    layer = SpectralConv(3, 2, 4, laplacian=cg.gallery.ring(5))
    assert layer(x5().double()).dtype == torch.float32
    torch.testing.assert_close(layer(x5().double()), layer(x5()))


@given(L=laplacians(), data=st.data())
def test_first_eigenpairs_are_eigenpairs_with_lone_vertices_last(L, data):
    k = data.draw(st.integers(1, L.n_vertices))
    lam, Phi = first_eigenpairs(L, k)
    scale = max(L.lmax, 1.0)
    assert_allclose(L.matrix @ Phi, Phi * lam, atol=1e-12 * scale)
    assert_allclose(Phi.T @ Phi, np.eye(k), atol=1e-12)
    joined = L.diagonal > 0
    m = min(k, int(joined.sum()))
    expected = np.linalg.eigvalsh(L.matrix.toarray()[np.ix_(joined, joined)])[:m]
    assert_allclose(lam, np.concatenate([expected, np.zeros(k - m)]), atol=1e-12 * scale)
    assert not Phi[~joined, :m].any()


@pytest.mark.parametrize("seconds", [0.0, np.inf])
@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_iterative_eigenpairs_are_those_of_the_dense_decomposition(monkeypatch, seconds, kind):
    monkeypatch.setattr(spectral_conv, "EIGENBASIS_VERTICES", 50)
    monkeypatch.setattr(spectral_conv, "_FACTORISATION_SECONDS", seconds)
    # Two parts and lone vertices: eigenvalue 0 twice.
    W = np.zeros((430, 430))
    W[:200, :200] = cg.gallery.sensor(200, rng=0).W.toarray()
    W[220:420, 220:420] = cg.gallery.sensor(200, rng=1).W.toarray()
    L = cg.laplacian(W, kind)
    lam, Phi = first_eigenpairs(L, 20)
    joined = L.diagonal > 0
    expected, vectors = np.linalg.eigh(L.matrix.toarray()[np.ix_(joined, joined)])
    assert not L.has_eigenbasis
    assert_allclose(lam, expected[:20], atol=1e-12 * L.lmax)
    projector = vectors[:, :20] @ vectors[:, :20].T
    assert expected[20] - expected[19] > 1e-4  # so that the space is well defined
    assert_allclose((Phi @ Phi.T)[np.ix_(joined, joined)], projector, atol=1e-9)


def test_many_vertices_need_no_dense_matrix():
    n = 20_000
    lam, Phi = first_eigenpairs(cg.gallery.path(n), 12)
    assert_allclose(lam, 2 - 2 * np.cos(np.pi * np.arange(12) / n), atol=1e-14)
    assert_allclose(np.abs(Phi[:, 1]), np.sqrt(2 / n) * np.abs(np.cos(np.pi * (np.arange(n) + 0.5) / n)), atol=1e-9)


def test_fake_vertices_of_a_coarsened_graph_take_no_eigenvector():
    graph = cg.gallery.sensor(40, rng=0)
    tree = coarsen(graph, 3, rng=0)
    assert tree.n_fake[0]
    on_tree, on_graph = layer(2, 3, 10, laplacian=tree.graphs[0]), layer(2, 3, 10, laplacian=graph)
    x = signals(40, 2)
    y = on_tree(torch.tensor(tree.permute(x.numpy()))).detach().numpy()
    assert_allclose(tree.unpermute(y), on_graph(x).detach(), atol=1e-10)
