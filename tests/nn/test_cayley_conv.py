import copy
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, GraphLaplacian
from cayleygsp.nn.conv_op import cayley_conv
from tests.nn.helpers import (
    KIND,
    NORMALIZATIONS,
    compiled,
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
SIDES = [(2, 3), (3, 2), (1, 4), (4, 1), (2, 2)]
TIGHT = 1e-13


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


def test_all_ways_to_give_the_graph_agree():
    L, prepared = random_graph()
    W = random_adjacency(13, 0)
    W[3, :] = W[:, 3] = 0
    W[1, 1] = 0.7
    layer, x = make(2, 3), signals(13, 2)
    expected = layer(x, prepared)
    for given_as in (L, torch.from_numpy(W), torch.from_numpy(W).to_sparse(), torch.from_numpy(W).to_sparse_csr()):
        torch.testing.assert_close(layer(x, given_as), expected, atol=1e-11, rtol=0)
    torch.testing.assert_close(layer(x, *edges_of(W)), expected, atol=1e-11, rtol=0)
    torch.testing.assert_close(layer(x[None].expand(3, -1, -1), prepared)[1], expected, atol=1e-11, rtol=0)


def test_a_changed_graph_is_noticed():
    layer, x = make(2, 3), signals(13, 2)
    edge_index, weight = edges_of(random_adjacency(13, 0))
    before = layer(x, edge_index, weight)
    assert torch.equal(layer(x, edge_index, weight), before)
    weight.mul_(torch.where(edge_index.sum(0) % 2 == 0, 2.0, 1.0))
    after = layer(x, edge_index, weight)
    assert not torch.allclose(after, before)
    torch.testing.assert_close(after, make(2, 3)(x, edge_index.clone(), weight.clone()), atol=1e-12, rtol=0)
    assert not torch.allclose(layer(x, edge_index), after)
    for seed in range(5):  # tensors that die and others that take their place
        edges = edges_of(random_adjacency(13, seed))
        torch.testing.assert_close(layer(x, *edges), make(2, 3)(x, *edges), atol=1e-12, rtol=0)
        del edges


def test_graph_is_not_prepared_twice(monkeypatch):
    calls = []
    original = GraphLaplacian.from_edge_index.__func__
    monkeypatch.setattr(
        GraphLaplacian, "from_edge_index", classmethod(lambda cls, *a, **k: calls.append(1) or original(cls, *a, **k))
    )
    layer, x = make(2, 3), signals(13, 2)
    edges = edges_of(random_adjacency(13, 0))
    for _ in range(3):
        layer(x, *edges)
    assert len(calls) == 1
    layer(x[:, :2].clone(), edges[0].clone(), edges[1])
    assert len(calls) == 2


def test_edgeless_graph_is_finite():
    layer, x = make(2, 3, bias=False), signals(4, 2)
    y = layer(x, torch.empty(2, 0, dtype=torch.int64))
    np.testing.assert_allclose(y.detach(), x.numpy() @ layer.responses([0.0])[0], atol=1e-12)


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


@settings(max_examples=30)
@given(W=weighted_graphs(max_vertices=8), normalization=st.sampled_from(NORMALIZATIONS), wide=st.booleans())
def test_gradients_are_those_of_the_exact_method_on_any_graph(W, normalization, wide):
    L = cg.laplacian(W, KIND[normalization])
    sides = (1, 2) if wide else (2, 1)
    prepared = GraphLaplacian.from_laplacian(L)
    x = signals(2, len(W), sides[0]).requires_grad_()
    found = []
    for method in ("chebyshev", "exact"):
        layer = make(*sides, order=4, method=method, normalization=normalization)
        with torch.no_grad():
            layer.log_zoom.sub_(np.log(max(L.lmax, 1.0)))
        y = layer(x, prepared)
        found.append(torch.autograd.grad((y * signals(*y.shape, seed=3)).sum(), [x, *layer.parameters()]))
    for got, expected in zip(*found, strict=True):
        torch.testing.assert_close(got, expected, atol=1e-8, rtol=1e-8)


def test_gradient_in_the_zoom_is_the_corrected_formula():
    # dG/dh f = 2 Re sum_j j c_j C^{j-1}(hL) C'(hL) L f with C'(x) = 2i / (x + i)^2
    L, prepared = random_graph()
    layer = make(1, 1, order=4, bias=False)
    x, incoming = signals(L.n_vertices, 1), signals(L.n_vertices, 1, seed=1)
    c = layer.coefficients().detach()
    y = cayley_conv(x[None], c, layer.log_zoom, prepared, tol=TIGHT)[0]
    (gradient,) = torch.autograd.grad((y * incoming).sum(), layer.log_zoom)
    p = layer.polynomial(0, 0)
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    z = p.zoom * lam
    C = (z - 1j) / (z + 1j)
    response = 2 * np.real(sum(j * p.coeffs[j] * C ** (j - 1) * 2j / (z + 1j) ** 2 * lam for j in range(1, 5)))
    derivative = (incoming.numpy().T @ (Phi * response) @ Phi.T @ x.numpy()).item()
    assert float(gradient) == pytest.approx(p.zoom * derivative, abs=1e-10)


@pytest.mark.parametrize("sides", [(2, 3), (3, 2)])
def test_only_what_is_needed_is_computed(monkeypatch, sides):
    from cayleygsp.nn import conv_op

    runs = []
    for name in ("terms", "combine"):
        monkeypatch.setattr(conv_op, name, _counting(runs, name, getattr(conv_op, name)))
    L, prepared = random_graph()
    layer = make(*sides)
    x = signals(L.n_vertices, sides[0])
    narrow_input = sides[0] <= sides[1]
    layer(x, prepared).sum().backward()
    # on the narrow input, nothing runs backwards in the first layer of a network
    assert runs == (["terms"] if narrow_input else ["combine", "terms"])
    runs.clear()
    layer.requires_grad_(False)
    layer(x.requires_grad_(), prepared).sum().backward()
    assert sorted(runs) == ["combine", "terms"]
    frozen = make(*sides)
    frozen.log_zoom.requires_grad_(False)
    y = frozen(x.detach(), prepared)
    y.sum().backward()
    assert frozen.log_zoom.grad is None
    assert frozen.weight.grad is not None


def _counting(runs, name, function):
    def call(*args):
        runs.append(name)
        return function(*args)

    return call


def saved_bytes(call):
    """Return the bytes that autograd keeps for the backward pass."""
    kept = {}

    def pack(tensor):
        kept[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = call()
    assert y.requires_grad
    return sum(kept.values())


@pytest.mark.parametrize("sides", [(4, 8), (8, 4)])
def test_memory_does_not_grow_with_the_degree(sides):
    from cayleygsp.responses.basis import power_coefficients

    L = cg.laplacian(cg.gallery.ring(50), "normalized")
    prepared = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
    x = signals(20, 50, sides[0], dtype=torch.float32).requires_grad_()
    bytes_kept, degrees = [], []
    for zoom in (0.5, 120.0):
        layer = CayleyConv(*sides, 4, zoom=zoom)
        degrees.append(power_coefficients(5, zoom, 2.0, 1e-4).degree)
        bytes_kept.append(saved_bytes(lambda layer=layer: layer(x, prepared)))
    assert degrees[0] <= 20
    assert degrees[1] >= 200
    assert bytes_kept[1] <= 1.1 * bytes_kept[0]
    jacobi = CayleyConv(*sides, 4, method="jacobi")
    assert bytes_kept[0] < saved_bytes(lambda: jacobi(x, prepared)) / 4


def test_second_derivatives_are_refused_or_right():
    _L, prepared = random_graph(n=6)
    x = signals(6, 2).requires_grad_()
    y = make(2, 3)(x, prepared)
    (gradient,) = torch.autograd.grad((y**2).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match=r"cannot be differentiated again .* use method='exact'"):
        gradient.sum().backward()
    exact = make(2, 3, order=2, method="exact")
    assert torch.autograd.gradgradcheck(lambda x: exact(x, prepared), (x,), atol=1e-6)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own forward mode uses it
def test_forward_mode_is_refused_with_a_reason():
    _L, prepared = random_graph(n=6)
    x = signals(6, 2)
    for method in ("chebyshev", "jacobi"):
        for layer in (make(2, 3, method=method), make(2, 3, method=method).requires_grad_(False)):
            with pytest.raises(NotImplementedError, match=r"no forward-mode derivative .* use method='exact'"):
                torch.func.jvp(lambda x, layer=layer: layer(x, prepared), (x,), (x,))
    exact = make(2, 3, method="exact", bias=False)
    value, tangent = torch.func.jvp(lambda x: exact(x, prepared), (x,), (x,))
    torch.testing.assert_close(tangent, value)


@pytest.mark.parametrize("order", [1, 4, 12])
@pytest.mark.parametrize("form", ["full", "real", "zooms"])
@pytest.mark.parametrize("channels", [(16, 16), (4, 64), (64, 4)])
def test_output_starts_at_three_tenths_of_the_input_whatever_the_sizes(order, form, channels):
    L = cg.laplacian(cg.gallery.sensor(100, rng=0), "normalized")
    prepared = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
    ratios = []
    for seed in range(4):
        layer = CayleyConv(*channels, order, **FORMS[form])
        layer.reset_parameters(torch.Generator().manual_seed(seed))
        with torch.no_grad():
            ratios.append(float(layer(signals(20, 100, channels[0], seed=seed, dtype=torch.float32), prepared).var()))
    # functions below the ridge are smaller, so that high orders start somewhat lower
    assert 0.2 < np.sqrt(np.mean(ratios)) < 0.35


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
    x = signals(60, 120, 1, dtype=torch.float32)
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


def test_lazy_channels_are_found_at_the_first_call():
    _L, prepared = random_graph()
    layer = CayleyConv(-1, 3, 5)
    assert "weight" not in layer.state_dict()
    with pytest.raises(ValueError, match="no filters before its first call"):
        layer.responses([0.0])
    y = layer(signals(13, 7, dtype=torch.float32), prepared)
    assert y.shape == (13, 3)
    assert layer.weight.shape == (11, 7, 3)
    assert repr(layer) == "CayleyConv(7, 3, order=5, normalization='sym', method='chebyshev')"
    other = CayleyConv(-1, 3, 5)
    other.load_state_dict(layer.state_dict())
    assert other.in_channels == 7
    torch.testing.assert_close(other.coefficients(), layer.coefficients(), atol=1e-6, rtol=1e-5)


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


def test_shapes_are_known_on_the_meta_device():
    edge_index = torch.empty(2, 40, dtype=torch.int64, device="meta")
    for sides in ((2, 3), (3, 2)):
        layer = CayleyConv(*sides, 4).to("meta")
        x = torch.empty(5, 13, sides[0], device="meta", requires_grad=True)
        y = layer(x, edge_index)
        assert y.shape == (5, 13, sides[1])
        y.sum().backward()
        assert x.grad is not None
        assert x.grad.shape == x.shape


@pytest.mark.parametrize("method", ["chebyshev", "jacobi", "exact"])
@pytest.mark.parametrize("sides", [(2, 3), (3, 2)])
def test_compiles_without_breaks(method, sides):
    _L, prepared = random_graph()
    options = {"n_iter": 2} if method == "jacobi" else {}
    layer, x = make(*sides, order=2, method=method, **options), signals(13, sides[0]).requires_grad_()
    layer(x, prepared)  # the eigenbasis, where one is needed, is computed before
    fast = compiled(layer, backend="aot_eager")
    expected = torch.autograd.grad(layer(x, prepared).square().sum(), [x, *layer.parameters()])
    got = torch.autograd.grad(fast(x, prepared).square().sum(), [x, *layer.parameters()])
    for left, right in zip(got, expected, strict=True):
        torch.testing.assert_close(left, right)


def test_compiles_with_edges():
    edge_index, weight = edges_of(random_adjacency(13, 0))
    layer, x = make(2, 3, normalization=None), signals(13, 2)
    fast = compiled(layer, backend="aot_eager")
    torch.testing.assert_close(fast(x, edge_index, weight), layer(x, edge_index, weight))


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own backend uses it
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch's default backend needs a C++ compiler")
def test_compiles_to_machine_code_and_a_moving_zoom_needs_no_other():
    _L, prepared = random_graph()
    layer, x = make(2, 3).float(), signals(13, 2, dtype=torch.float32)
    fast = compiled(layer)
    torch.testing.assert_close(fast(x, prepared), layer(x, prepared))
    with torch.no_grad():
        layer.log_zoom.add_(1.0)
    with torch._dynamo.config.patch(error_on_recompile=True):
        torch.testing.assert_close(fast(x, prepared), layer(x, prepared))


def test_exports():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.laplacian = random_graph()[1]
            self.layer = make(2, 3)

        def forward(self, x):
            return self.layer(x, self.laplacian)

    model, x = Model(), signals(13, 2)
    exported = torch.export.export(model, (x,))
    torch.testing.assert_close(exported.module()(x), model(x))


def test_autocast_is_tolerated():
    _L, prepared = random_graph()
    layer, x = make(2, 3).float(), signals(13, 2, dtype=torch.float32)
    expected = layer(x, prepared)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = layer(torch.nn.functional.linear(x, torch.eye(2)), prepared)
        got.sum().backward()
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, expected, atol=0.05, rtol=0.05)


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
        ((1, 1, 2), {"normalization": "rw"}, ValueError, "`normalization` must be one of 'sym', got 'rw'"),
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


def test_without_torch_the_message_says_what_to_install():
    code = (
        "import sys\nsys.modules['torch'] = None\nimport cayleygsp\n"
        "try:\n    import cayleygsp.nn\nexcept ImportError as error:\n    print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert 'pip install ".[nn]"' in said


def test_zoom_of_another_device_is_followed_without_waiting():
    from cayleygsp.nn.zoom_mirror import ZoomMirror

    mirror, log_zoom = ZoomMirror(), torch.tensor([0.0, -2.0])
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5)
    log_zoom.add_(1.0)
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5)  # sent off, not yet read
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5 * np.e)
