import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, GraphLaplacian
from tests.nn.helpers import (
    KIND,
    NORMALIZATIONS,
    dense_conv,
    edges_of,
    random_adjacency,
    random_graph,
    randomized,
    signals,
)
from tests.strategies import weighted_graphs

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

FORMS = {
    "full": {},
    "real": {"real_coeffs": True},
    "shared": {"shared_filter": True},
    "shared real": {"shared_filter": True, "real_coeffs": True},
    "zooms": {"zoom_per_channel": True},
}

SIDES = [(2, 3), (3, 1), (2, 2)]

TIGHT = 1e-13

METHODS = ("chebyshev", "exact", "jacobi")

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


def make(in_channels, out_channels, order=3, seed=0, **options):
    return randomized(CayleyConv(in_channels, out_channels, order, **{"tol": TIGHT, **options}), seed)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("method", ["chebyshev", "exact"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sides", SIDES)
def test_layer_equals_the_dense_filters(normalization, method, form, sides):
    L, prepared = random_graph(normalization=normalization)
    layer = make(*sides, method=method, normalization=normalization, **FORMS[form])
    x = signals(2, L.n_vertices, sides[0])
    np.testing.assert_allclose(layer(x, prepared).detach(), dense_conv(layer, L, x.numpy()), atol=1e-10)


@settings(max_examples=40)
@given(W=weighted_graphs(), order=st.integers(1, 8), normalization=st.sampled_from(NORMALIZATIONS), wide=st.booleans())
def test_layer_equals_the_dense_filters_on_any_graph(W, order, normalization, wide):
    L = cg.laplacian(W, KIND[normalization])
    layer = make(1 if wide else 2, 2 if wide else 1, order, normalization=normalization)
    with torch.no_grad():
        layer.log_zoom.sub_(np.log(max(L.lmax, 1.0)))  # hλ of size one whatever the weights
    x = signals(len(W), layer.in_channels)
    expected = dense_conv(layer, L, x[None].numpy())[0]
    np.testing.assert_allclose(layer(x, *edges_of(W)).detach(), expected, atol=1e-9)
    np.testing.assert_allclose(layer(x, GraphLaplacian.from_laplacian(L)).detach(), expected, atol=1e-9)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_error_is_within_what_tol_allows(tol):
    L, prepared = random_graph(n=30)
    layer = make(1, 1, order=6, tol=tol, bias=False)
    x = signals(L.n_vertices, 1)
    error = np.linalg.norm(layer(x, prepared).detach().numpy() - dense_conv(layer, L, x[None].numpy())[0])
    assert error <= 1.2 * tol * float(layer.coefficients().detach().abs().sum()) * float(x.norm())
    assert error > 0


def test_jacobi_takes_ten_sweeps_by_default():
    assert CayleyConv(1, 1, 2, method="jacobi").n_iter == 10


@pytest.mark.parametrize("method", ["chebyshev", "exact", "jacobi"])
@pytest.mark.parametrize("sides", [(2, 3), (3, 2)])
def test_single_precision_is_kept(method, sides):
    L, prepared = random_graph()
    layer = make(*sides, method=method, tol=1e-6)
    x = signals(2, L.n_vertices, sides[0])
    expected = layer(x, prepared)
    got = copy.deepcopy(layer).float()(x.float(), prepared)
    assert got.dtype == torch.float32
    torch.testing.assert_close(got.double(), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_a_batch_of_graphs_equals_its_graphs_one_by_one(normalization):
    graphs = [random_adjacency(n, n) * 10.0**e for n, e in ((5, 0), (1, 0), (9, 2), (4, -1))]
    edges = [edges_of(W) for W in graphs]
    sizes = torch.tensor([len(W) for W in graphs])
    starts = sizes.cumsum(0) - sizes
    edge_index = torch.cat([e + s for (e, _), s in zip(edges, starts, strict=True)], dim=1)
    weight = torch.cat([w for _, w in edges])
    batch = torch.repeat_interleave(torch.arange(4), sizes)
    x = signals(int(sizes.sum()), 2)
    layer = make(2, 3, normalization=normalization)
    got = layer(x, edge_index, weight, batch)
    single = [layer(part, *e) for part, e in zip(x.split(sizes.tolist()), edges, strict=True)]
    torch.testing.assert_close(got, torch.cat(single), atol=1e-10, rtol=0)


def test_edgeless_graph_is_finite():
    layer, x = make(2, 3, bias=False), signals(4, 2)
    y = layer(x, torch.empty(2, 0, dtype=torch.int64))
    np.testing.assert_allclose(y.detach(), x.numpy() @ layer.responses([0.0])[0], atol=1e-12)


@pytest.mark.parametrize("form", ["full", "shared", "zooms"])
@pytest.mark.parametrize("sides", [(3, 2), (2, 3)])
@pytest.mark.parametrize("method", METHODS)
def test_outputs_may_be_changed_in_place_and_batches_may_be_empty(method, form, sides):
    _, prepared = random_graph()
    layer = CayleyConv(*sides, 2, bias=False, method=method, **FORMS[form]).double()
    x = signals(13, sides[0])
    layer(x, prepared).relu().sum().backward()
    expected = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    layer(x, prepared).relu_().sum().backward()
    assert all(torch.equal(p.grad, one) for p, one in zip(layer.parameters(), expected, strict=True))
    layer.zero_grad()
    empty = torch.zeros(0, 13, sides[0], dtype=torch.float64, requires_grad=True)
    y = layer(empty, prepared)
    y.sum().backward()
    assert (y.shape, empty.grad.shape) == ((0, 13, sides[1]), empty.shape)
    assert all(p.grad is None or not p.grad.any() for p in layer.parameters())


def test_relabelling_vertices_relabels_the_output():
    W, order = random_adjacency(13, 0), np.random.default_rng(0).permutation(13)
    layer, x = make(2, 3), signals(13, 2)
    got = layer(x[order], *edges_of(W[np.ix_(order, order)]))
    torch.testing.assert_close(got, layer(x, *edges_of(W))[order], atol=1e-11, rtol=0)


@pytest.mark.parametrize("method", ["chebyshev", "exact", "jacobi"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sides", [(2, 3), (3, 2)])
def test_gradients_are_those_of_finite_differences(method, form, sides):
    _L, prepared = random_graph(n=6)
    options = {"n_iter": 3} if method == "jacobi" else {}
    layer = make(*sides, order=2, method=method, **options, **FORMS[form])
    names = [name for name, _ in layer.named_parameters()]
    values = [parameter.detach().clone().requires_grad_() for parameter in layer.parameters()]
    x = signals(2, 6, sides[0]).requires_grad_()

    def call(x, *values):
        return torch.func.functional_call(layer, dict(zip(names, values, strict=True)), (x, prepared))

    assert gradcheck(call, (x, *values), fast_mode=True, atol=1e-6)


@pytest.mark.parametrize("order", [1, 4, 12])
@pytest.mark.parametrize("form", ["full", "real", "zooms"])
@pytest.mark.parametrize("channels", [(16, 16), (4, 64), (64, 4)])
def test_output_starts_at_a_size_by_the_number_of_inputs(order, form, channels):
    L = cg.laplacian(cg.gallery.sensor(100, rng=0), "normalized")
    prepared = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
    ratios = []
    for seed in range(4):
        layer = CayleyConv(*channels, order, **FORMS[form])
        layer.reset_parameters(torch.Generator().manual_seed(seed))
        with torch.no_grad():
            ratios.append(float(layer(signals(20, 100, channels[0], seed=seed, dtype=torch.float32), prepared).var()))
    # functions below the ridge are smaller, so that high orders start somewhat lower
    expected = 0.3 ** (1 / channels[0])
    assert 0.8 * expected < np.sqrt(np.mean(ratios)) < 1.1 * expected


def test_shared_filter_starts_as_a_low_pass():
    layer = CayleyConv(3, 3, 4, shared_filter=True)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(3))
    response = layer.responses([0.0, 1.0, 2.0])[:, 0, 0]
    assert response[0] == pytest.approx(1.0)
    assert (np.diff(response) < 0).all()


def test_zoom_is_positive_whatever_the_parameter_is():
    layer = CayleyConv(1, 1, 2, zoom=0.3)
    assert float(layer.zoom.detach()) == pytest.approx(0.3)
    with torch.no_grad():
        layer.log_zoom.fill_(-5.0)
    assert 0 < float(layer.zoom.detach()) < 0.01


def test_zoom_learns_where_the_signal_is():
    # the classes differ in a narrow band of low frequencies: it must be spread over the circle to be told apart
    L = cg.laplacian(cg.gallery.ring(120), "normalized")
    lam, Phi = L.eigenvalues, L.eigenvectors
    prepared = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
    target = torch.from_numpy((Phi * ((lam > 0.005) & (lam < 0.05))) @ Phi.T).float()
    x = signals(20, 120, 1, dtype=torch.float32)
    y = (target @ x[..., 0].T).T[..., None]
    layer = CayleyConv(1, 1, 3, bias=False)
    layer.reset_parameters(torch.Generator().manual_seed(2))
    optimizer = torch.optim.Adam([{"params": [layer.weight], "lr": 0.01}, {"params": [layer.log_zoom], "lr": 0.2}])
    losses = []
    for _ in range(400):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(layer(x, prepared), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]
    # no filter with the zoom of the start comes near that
    assert losses[-1] < 0.5 * best_with_zoom_one(lam, (lam > 0.005) & (lam < 0.05), 3)
    # hλ = 1, the middle of the half circle, has moved to the band
    assert 0.005 < 1 / float(layer.zoom.detach()) < 0.15


def best_with_zoom_one(lam, target, order):
    """Return the least mean square error over vertices of a Cayley filter with h = 1."""
    from cayleygsp.responses.basis import power_basis

    _, residual, *_ = np.linalg.lstsq(power_basis(order, lam), target.astype(float), rcond=None)
    return float(residual[0]) / lam.size


@pytest.mark.parametrize("form", FORMS)
def test_copies_and_state_dicts_keep_everything(form, tmp_path):
    L, prepared = random_graph()
    layer, x = make(2, 3, **FORMS[form]), signals(13, 2)
    expected = layer(x, L)
    loaded = CayleyConv(2, 3, 3, tol=TIGHT, **FORMS[form]).double()
    loaded.load_state_dict(layer.state_dict())
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(other(x, prepared), layer(x, prepared))
    torch.testing.assert_close(loaded(x, prepared), layer(x, prepared), atol=1e-11, rtol=0)
    torch.testing.assert_close(layer(x, prepared), expected, atol=1e-12, rtol=0)


def test_learned_filters_go_back_to_the_core():
    L, prepared = random_graph()
    for form in FORMS:
        layer = make(2, 3, bias=False, **FORMS[form])
        x = signals(13, 2)
        got = sum(layer.to_filter(L, i, 1, tol=1e-10) @ x[:, i].numpy() for i in range(2))
        np.testing.assert_allclose(got, layer(x, prepared).detach()[:, 1], atol=1e-9)
        lam = np.linspace(0, 2, 9)
        responses = layer.responses(lam)
        assert responses.shape == (9, 2, 3)
        np.testing.assert_allclose(responses[:, 1, 2], layer.polynomial(1, 2)(lam), atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((0, 1, 1), {}, ValueError, "`in_channels` must be at least 1, got 0"),
        ((1, 0, 1), {}, ValueError, "`out_channels` must be at least 1, got 0"),
        ((1, 1, 0), {}, ValueError, "`order` must be at least 1, got 0"),
        (
            (1, 1, 2),
            {"method": "auto"},
            ValueError,
            "`method` must be one of 'chebyshev', 'exact', 'jacobi', got 'auto'",
        ),
        ((1, 1, 2), {"n_iter": 3}, ValueError, "`n_iter` must be None unless method='jacobi', got 3"),
        ((1, 1, 2), {"n_iter": -1, "method": "jacobi"}, ValueError, "`n_iter` must be at least 0, got -1"),
        ((1, 1, 2), {"tol": 0.0}, ValueError, "`tol` must be positive and finite, got 0.0"),
        ((1, 1, 2), {"zoom": -1.0}, ValueError, "`zoom` must be positive and finite, got -1.0"),
        ((1, 1, 2), {"normalization": "rw"}, ValueError, "`normalization` must be 'sym' or None, got 'rw'"),
        (
            (1, 1, 2),
            {"shared_filter": True, "zoom_per_channel": True},
            ValueError,
            "must be False with `shared_filter`",
        ),
    ],
)
def test_bad_options_are_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        CayleyConv(*arguments, **options)


def test_bad_calls_are_refused():
    _L, prepared = random_graph()
    layer, x = make(2, 3), signals(13, 2)
    bad = x.clone()
    bad[4, 1] = torch.nan
    other = random_graph(normalization=None)
    cases = [
        ((x.numpy(), prepared), TypeError, "`x` must be a tensor, got ndarray"),
        ((x.long(), prepared), TypeError, "`x` must hold floating point numbers, got dtype torch.int64"),
        ((x[0], prepared), ValueError, r"`x` must have shape \(n, channels\) or \(batch, n, channels\), got \(2,\)"),
        ((x[:5], prepared), ValueError, r"`x` must have 13 vertices as the graph, got shape \(5, 2\)"),
        ((x[:, :1], prepared), ValueError, r"`x` must have 2 channels, got shape \(13, 1\)"),
        ((bad, prepared), ValueError, r"`x` must be finite, got nan at \[4, 1\]"),
        ((x.to("meta"), prepared), ValueError, "`x` must be on the device of the layer, cpu, got meta"),
        ((x, copy.deepcopy(prepared).to("meta")), ValueError, "the graph must be on the device of `x`, cpu, got meta"),
        ((x, other[0]), ValueError, "must be normalized as the layer's normalization='sym' says, got a combinatorial"),
        ((x, other[1]), ValueError, "must be normalized as the layer's normalization='sym' says, got a combinatorial"),
        ((x, prepared, torch.ones(3)), ValueError, "`edge_weight` must not be given together with a prepared"),
        ((x, None), TypeError, "`edge_index` must be a tensor, got NoneType"),
    ]
    for arguments, error, message in cases:
        with pytest.raises(error, match=message):
            layer(*arguments)
    with pytest.raises(ValueError, match="`x` must be on the device of the layer, meta, got cpu"):
        copy.deepcopy(layer).to("meta")(x, prepared)
    with pytest.raises(ValueError, match="`out_channel` must be below 3, got 3"):
        layer.polynomial(0, 3)
    with pytest.raises(ValueError, match=r"`eigenvalues` must be one-dimensional, got shape \(2, 2\)"):
        layer.responses(np.zeros((2, 2)))


def x5(channels=3):
    return signals(5, channels, dtype=torch.float32)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [1000.0, -1000.0, torch.nan])
def test_zoom_out_of_range_is_named(method, value):
    layer = CayleyConv(3, 2, 2, method=method)
    with torch.no_grad():
        layer.log_zoom.fill_(value)
    with pytest.raises(ValueError, match="`log_zoom` must have a positive and finite exponential"):
        layer(x5(), EDGES)
