"""Gradients in the matrix, the weights and many zooms, with memory for a few terms."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import cayleygsp as cg
from analysis.benchmark_nn.problems import peak_bytes
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from cayleygsp.nn.graph.laplacian import GraphTensors, transposed_pattern
from cayleygsp.nn.ops.learned_graph import Recurrences, series_conv
from cayleygsp.nn.ops.operation import torch_operations
from cayleygsp.nn.ops.series import CAYLEY, CHEBYSHEV, CHUNK, differentiable_series
from tests.nn.helpers import edges_of, random_adjacency, random_graph, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

N = 9


def matrix(symmetric, seed):
    """Return where entries stand, and leaves for values, diagonal and scale of a matrix with spectrum in [-1, 1]."""
    W = torch.from_numpy(random_adjacency(N, seed))
    if not symmetric:
        W = W * torch.from_numpy(np.random.default_rng(seed).random((N, N)))
    row, col = W.nonzero(as_tuple=True)
    indptr = torch.zeros(N + 1, dtype=torch.int32)
    indptr[1:] = torch.bincount(row, minlength=N).cumsum(0)
    numbers = W[row, col], W.sum(1), torch.full((N,), 1 / float(W.sum(1).max()), dtype=torch.float64)
    return indptr, row, col, [t.clone().requires_grad_() for t in numbers]


def dense_series(row, col, numbers, x, V):
    """Return the sum over k of T_k x V_k by dense matrices."""
    values, diagonal, scale = numbers
    M = torch.diag(scale * diagonal - 1).index_put((row, col), -scale[row] * values, accumulate=True)
    t = [x, M @ x]
    while len(t) < len(V):
        t.append(2 * M @ t[-1] - t[-2])
    return sum(term @ mixing for term, mixing in zip(t, V, strict=False))


@settings(max_examples=40)
@given(
    n_terms=st.integers(1, 3 * CHUNK),
    channels=st.sampled_from([(2, 3), (3, 2), (1, 1)]),
    symmetric=st.booleans(),
    reversible=st.booleans(),
    zooms=st.sampled_from([None, "one", "many"]),
    batch=st.integers(1, 3),
    by_torch=st.booleans(),
)
def test_values_and_gradients_are_those_of_dense_matrices(
    n_terms, channels, symmetric, reversible, zooms, batch, by_torch
):
    indptr, row, col, numbers = matrix(symmetric, n_terms)
    pattern = () if symmetric else transposed_pattern(indptr, col.int())
    x = signals(batch, N, channels[0]).requires_grad_()
    context = torch_operations if by_torch else nullcontext
    if zooms is None:
        weight = signals(n_terms, *channels).requires_grad_()
        inputs, V, setting = [x, weight, *numbers], weight, (CHEBYSHEV, n_terms, 0.0, None, None)
        log_zoom = None
    else:
        weight = signals(5, *channels).requires_grad_()
        log_zoom = torch.linspace(-1.5, -1, channels[1], dtype=torch.float64) if zooms == "many" else torch.tensor(-1.0)
        log_zoom = log_zoom.double().requires_grad_()
        a = differentiable_series(log_zoom, 2, 2.0, 60, 120)
        V = torch.einsum("obk,bio->kio" if zooms == "many" else "bk,bio->kio", a, weight)
        inputs, setting = [x, weight, *numbers, log_zoom], (CAYLEY, 5, 1e-11, 2.0, 0.4 if by_torch else None)
    expected = dense_series(row, col, numbers, x, V)
    direction = signals(*expected.shape, seed=3)
    wanted = torch.autograd.grad(expected, inputs, direction, allow_unused=True)
    graph = [indptr, col.int(), *numbers, *pattern]
    with context():
        backwards = reversible or zooms is not None
        y = series_conv(x, weight, log_zoom, graph, *setting, 2 if backwards else 0, False)
        got = torch.autograd.grad(y, inputs, direction)
    torch.testing.assert_close(y, expected, atol=1e-8, rtol=1e-8)
    for mine, dense in zip(got, wanted, strict=True):
        torch.testing.assert_close(mine, torch.zeros_like(mine) if dense is None else dense, atol=1e-7, rtol=1e-7)


def test_only_what_is_needed_has_a_gradient():
    indptr, _, col, numbers = matrix(True, 0)
    x, weight = signals(1, N, 2), signals(5, 2, 3)
    for leaf in (x, weight, *numbers):
        leaves = [t.detach() for t in (x, weight, *numbers)]
        place = next(k for k, t in enumerate((x, weight, *numbers)) if t is leaf)
        leaves[place].requires_grad_()
        graph = [indptr, col.int(), *leaves[2:]]
        y = series_conv(*leaves[:2], None, graph, CHEBYSHEV, 5, 0.0, None, None, 2 if place > 1 else 0, True)
        y.sum().backward()
        assert [t.grad is not None for t in leaves] == [k == place for k in range(5)]
        leaves[place].requires_grad_(False)


def tied_weights(edge_index):
    """Return for each edge the number of the pair that it joins."""
    pairs = torch.stack([edge_index.amin(0), edge_index.amax(0)])
    return torch.unique(pairs, dim=1, return_inverse=True)[1]


@pytest.mark.parametrize("normalization", ["sym", None])
@pytest.mark.parametrize("make", [CayleyConv, ChebConv])
@pytest.mark.parametrize("channels", [(1, 2), (2, 1)])
def test_layers_pass_gradcheck_in_edge_weights(normalization, make, channels):
    options = {"tol": 1e-12, "zoom": 0.7} if make is CayleyConv else {}
    layer = make(*channels, 3, normalization=normalization, **options).double()
    edge_index, edge_weight = edges_of(random_adjacency(7, 1))
    edge_index = edge_index[:, torch.randperm(edge_index.shape[1], generator=torch.Generator().manual_seed(0))]
    pair = tied_weights(edge_index)
    start = torch.zeros(int(pair.max()) + 1, dtype=torch.float64).index_copy(0, pair, edge_weight)
    x = signals(7, channels[0])
    names, parameters = zip(*layer.named_parameters(), strict=True)

    def function(weights, x, *parameters):
        given = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(layer, given, (x, edge_index, weights[pair]))

    assert torch.autograd.gradcheck(function, (start.requires_grad_(), x.requires_grad_(), *parameters))


def test_halves_of_an_edge_get_the_same_gradient():
    edge_index, edge_weight = edges_of(random_adjacency(8, 2))
    edge_weight.requires_grad_()
    layer = CayleyConv(2, 3, 3).double()
    layer(signals(8, 2), edge_index, edge_weight).square().sum().backward()
    dense = torch.zeros(8, 8, dtype=torch.float64).index_put(tuple(edge_index), edge_weight.grad)
    torch.testing.assert_close(dense, dense.T, rtol=1e-13, atol=1e-14)
    # so that a step along the gradient leaves the graph undirected
    stepped = (edge_weight - 1e-3 * edge_weight.grad).detach()
    assert layer(signals(8, 2), edge_index, stepped).isfinite().all()


@pytest.mark.parametrize("by_torch", [False, True])
@pytest.mark.parametrize("channels", [(8, 8), (8, 4)])
@pytest.mark.parametrize("what", ["cayley", "chebyshev", "zooms"])
def test_memory_does_not_grow_with_the_number_of_terms(monkeypatch, by_torch, channels, what):
    # graphs are prepared on the CPU, which is asked whether they are undirected
    monkeypatch.setattr("cayleygsp.nn.graph.build.uses_loops", lambda x: True)
    graph = cg.gallery.sensor(400, rng=0)
    edge_index, edge_weight = edges_of(graph.W.toarray())
    x = signals(10 if what == "zooms" else 1, 400, channels[0], dtype=torch.float32).requires_grad_()
    weights = edge_weight.float().requires_grad_(what != "zooms")
    peaks = []
    for zoom, terms in ((0.2, 13), (35.0, 222)):
        if what == "chebyshev":
            layer = ChebConv(*channels, terms)
        else:
            layer = CayleyConv(*channels, 2, zoom=zoom, zoom_per_channel=what == "zooms")

        def step(layer=layer):
            layer.zero_grad()
            # on the CPU, where it is found out that the matrix is symmetric
            prepared = GraphLaplacian.from_edge_index(edge_index, weights, 400)
            with torch_operations() if by_torch else nullcontext():
                layer(x, prepared).square().sum().backward()

        step()
        parameters = 4 * sum(p.numel() for p in layer.parameters())  # and as many gradients
        peaks.append(peak_bytes(step) - 2 * parameters)
    assert peaks[1] <= 1.2 * peaks[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("normalization", ["sym", None])
def test_terms_run_backwards_within_rounding(dtype, normalization):
    # measured: the error of the first term is below 0.2 eps for each degree
    L, prepared = random_graph(40, normalization=normalization)
    graph = prepared.tensors(dtype, own_scale=False)
    x = signals(L.n_vertices, 4, dtype=dtype)
    for n_terms in (13, 222):
        recurrences = Recurrences(graph, x)
        t = x.new_empty((n_terms + 2, *x.shape))
        t[2] = x
        recurrences.ascend(0, n_terms, t)
        back = x.new_empty((n_terms + 2, *x.shape))
        back[:2] = t[[n_terms + 1, n_terms]]
        recurrences.ascend(2, n_terms - 2, back)  # the same recurrence, from the last two terms
        error = (back[n_terms - 1] - x).abs().max() / x.abs().max()
        assert error <= 2 * n_terms * torch.finfo(dtype).eps


@pytest.mark.parametrize("by_torch", [False, True])
def test_chunks_are_all_degrees_once(by_torch):
    _, prepared = random_graph()
    x = signals(13, 2)
    with torch_operations() if by_torch else nullcontext():
        recurrences = Recurrences(prepared.tensors(x.dtype, own_scale=False), x)
    for n_terms in (1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 3):
        degrees = [k for k0, size in recurrences.chunks(n_terms) for k in range(k0, k0 + size)]
        assert degrees == list(range(n_terms))


def test_many_zooms_are_each_a_layer_of_its_own():
    _, prepared = random_graph()
    layer = CayleyConv(2, 3, 3, zoom_per_channel=True, tol=1e-10).double()
    x = signals(4, 13, 2)
    with torch.no_grad():
        layer.log_zoom.copy_(torch.tensor([-1.0, 0.3, 1.2]))
    y = layer(x, prepared)
    y.square().sum().backward()
    for o in range(3):
        single = CayleyConv(2, 1, 3, tol=1e-10).double()
        with torch.no_grad():
            single.weight.copy_(layer.weight[:, :, o : o + 1])
            single.log_zoom.copy_(layer.log_zoom[o])
        part = single(x, prepared)
        part.square().sum().backward()
        torch.testing.assert_close(y[:, :, o], part[:, :, 0], atol=1e-8, rtol=1e-8)
        torch.testing.assert_close(layer.log_zoom.grad[o], single.log_zoom.grad, atol=1e-7, rtol=1e-7)
        torch.testing.assert_close(layer.weight.grad[:, :, o], single.weight.grad[:, :, 0], atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize("method", ["exact", "jacobi"])
def test_methods_without_gradients_in_edge_weights_say_so(method):
    edge_index, edge_weight = edges_of(random_adjacency(6, 0))
    layer = CayleyConv(1, 1, 2, method=method).double()
    with pytest.raises(NotImplementedError, match="no gradient in edge weights"):
        layer(signals(6, 1), edge_index, edge_weight.requires_grad_())
    with torch.no_grad():
        assert layer(signals(6, 1), edge_index, edge_weight).isfinite().all()


def test_edge_weights_with_gradients_need_no_second_pass_through_the_graph():
    edge_index, edge_weight = edges_of(random_adjacency(6, 0))
    layer = CayleyConv(1, 2, 2).double()
    edge_weight.requires_grad_()
    for _ in range(2):  # nothing that belongs to the first backward pass is kept
        layer(signals(6, 1), edge_index, edge_weight).sum().backward()
    prepared = GraphLaplacian.from_edge_index(edge_index, edge_weight, 6)
    assert prepared.values.requires_grad
    assert isinstance(prepared.tensors(torch.float32, own_scale=False), GraphTensors)


@pytest.mark.parametrize("learned", [False, True])
def test_large_zooms_in_single_precision_are_those_in_double(learned):
    edge_index, edge_weight = edges_of((random_adjacency(60, 0) > 0).astype(float))  # degrees without rounding
    answers = []
    for dtype in (torch.float32, torch.float64):
        layer = CayleyConv(2, 3, 2, zoom=1e4, normalization=None, zoom_per_channel=True, tol=1e-7)
        layer.reset_parameters(torch.Generator().manual_seed(0))
        layer, weights = layer.to(dtype), edge_weight.to(dtype).requires_grad_(learned)
        # the same numbers, rounded to single precision, in both
        x, direction = (signals(60, k, dtype=torch.float32).to(dtype) for k in (2, 3))
        layer(x, edge_index, weights).backward(direction)
        answers.append([layer.log_zoom.grad.double(), *([weights.grad.double()] if learned else [])])
    for single, double in zip(*answers, strict=True):
        assert (single - double).norm() <= 1e-3 * double.norm()
