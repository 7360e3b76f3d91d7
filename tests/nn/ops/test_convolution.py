"""Values, gradients and memory of the convolution, by every path."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp.nn import (
    CayleyConv,
    ChebConv,
    GraphLaplacian,
)
from cayleygsp.nn.ops import convolution
from cayleygsp.nn.ops.convolution import cayley_conv
from cayleygsp.nn.ops.operation import torch_operations
from tests.nn.helpers import (
    KIND,
    NORMALIZATIONS,
    random_graph,
    randomized,
    signals,
)
from tests.strategies import weighted_graphs

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

CARDS = ["cuda"] if torch.cuda.is_available() else []

LAYERS = [
    lambda: CayleyConv(2, 3, order=3, tol=1e-10),
    lambda: CayleyConv(3, 2, order=3, tol=1e-10),
    lambda: CayleyConv(2, 3, order=3, real_coeffs=True, tol=1e-10),
    lambda: CayleyConv(2, 3, order=3, method="jacobi", n_iter=4),
    lambda: CayleyConv(3, 2, order=3, method="jacobi", n_iter=4),
    lambda: ChebConv(2, 3, K=5),
    lambda: ChebConv(3, 2, K=21),
]

TIGHT = 1e-13


def gradients(layer, x, laplacian):
    """Return the output and all gradients, on the CPU."""
    x = x.clone().requires_grad_()
    y = layer(x, laplacian)
    y.square().sum().backward()
    return [t.detach().cpu() for t in (y, x.grad, *(p.grad for p in layer.parameters()))]


@pytest.mark.parametrize("make", LAYERS)
def test_torch_operations_give_what_the_compiled_loops_give(make):
    layer = randomized(make())
    _, laplacian = random_graph()
    x = signals(4, 13, layer.in_channels)
    by_loops = gradients(copy.deepcopy(layer), x, laplacian)
    with torch_operations():
        by_torch = gradients(layer, x, laplacian)
    for got, wanted in zip(by_torch, by_loops, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("device", CARDS)
@pytest.mark.parametrize("make", [*LAYERS, lambda: CayleyConv(2, 3, order=3, method="exact")])
def test_values_and_gradients_on_a_card_are_those_of_the_cpu(device, make):
    layer = randomized(make())
    _, laplacian = random_graph()
    x = signals(4, 13, layer.in_channels)
    expected = gradients(copy.deepcopy(layer), x, laplacian)
    found = gradients(copy.deepcopy(layer).to(device), x.to(device), copy.deepcopy(laplacian).to(device))
    for got, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-7, atol=1e-7)


def make(in_channels, out_channels, order=3, seed=0, **options):
    return randomized(CayleyConv(in_channels, out_channels, order, **{"tol": TIGHT, **options}), seed)


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

    runs = []
    for name in ("terms", "combine"):
        monkeypatch.setattr(convolution, name, _counting(runs, name, getattr(convolution, name)))
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


@pytest.mark.parametrize("sides", [(4, 8), (8, 4)])
def test_memory_does_not_grow_with_the_degree(sides):
    from cayleygsp.responses.basis import power_coefficients

    L = cg.laplacian(cg.gallery.ring(50), "normalized")
    prepared = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
    x = signals(20, 50, sides[0], dtype=torch.float32).requires_grad_()
    bytes_kept, degrees = [], []
    for zoom in (0.5, 120.0):
        layer = CayleyConv(*sides, 4, zoom=zoom)
        degrees.append(power_coefficients(5, zoom, 2.0, tol=1e-4).degree)
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


@pytest.mark.parametrize("normalization", ["sym", None])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("sides", [(2, 3), (3, 2)])
def test_gradient_in_a_large_zoom_is_right_in_single_precision(sides, is_sparse, normalization):
    # a graph that is rounded to single precision has an error of 2 to 20 %
    W = cg.gallery.communities(rng=0).W.tocoo()
    edges = torch.from_numpy(np.stack([W.row, W.col]).astype(np.int64)), torch.from_numpy(W.data)
    layer = CayleyConv(*sides, 4, normalization, zoom=1e4, tol=1e-7)
    layer.reset_parameters(torch.Generator().manual_seed(0))
    exact = CayleyConv(*sides, 4, normalization, method="exact", zoom=1e4).double()
    exact.load_state_dict(layer.state_dict())
    x, weights = signals(W.shape[0], sides[0]).float(), signals(W.shape[0], sides[1], seed=1)
    given = x.to_sparse() if is_sparse else x
    (layer(given, edges[0], edges[1].float()) * weights).sum().backward()
    (exact(x.double(), *edges) * weights).sum().backward()
    assert float(layer.log_zoom.grad) == pytest.approx(float(exact.log_zoom.grad), rel=1e-3)
