"""The path of devices without compiled loops: nothing is read or sent, and memory does not grow with the degree."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from analysis.benchmark_nn.problems import peak_bytes
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from cayleygsp.nn.graph.build import entries_of_edges
from cayleygsp.nn.ops.convolution import cayley_conv, cheb_conv
from cayleygsp.nn.ops.operation import torch_operations
from cayleygsp.nn.ops.series import differentiable_series
from tests.nn.helpers import edges_of, random_adjacency, random_graph, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

# Operations that make the host wait for the device, because it must know a number or a shape, or that send numbers.
WAITING = {
    "_local_scalar_dense",
    "item",
    "is_nonzero",
    "equal",
    "nonzero",
    "masked_select",
    "_unique2",
    "bincount",
    "lift_fresh",
    "_pin_memory",
}


class NoTransfers(TorchDispatchMode):
    """Fail on every transfer between host and device and on every read of a number, also within our operations."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        assert name not in WAITING, name
        if name in ("to", "_to_copy"):
            devices = [a for a in (*args[1:], *kwargs.values()) if isinstance(a, torch.device)]
            assert all(device == args[0].device for device in devices), "a copy to a device"
        if name == "repeat_interleave":
            assert kwargs.get("output_size") is not None, name
        if name.startswith("index"):
            wanted = [t for t in (args[1] if isinstance(args[1], (list, tuple)) else []) if t is not None]
            assert all(t.dtype != torch.bool for t in wanted), "a mask whose size must be counted"
        return func(*args, **kwargs)


def test_the_mode_sees_what_it_should():
    waits = (
        lambda: float(torch.ones(())),
        lambda: torch.tensor([1.0]),
        lambda: torch.ones(3)[torch.ones(3) > 0],
        lambda: torch.ones(3, device="meta").to("cpu"),
    )
    for level in (nullcontext, torch._C._AutoDispatchBelowAutograd):  # the second as within an operation
        with NoTransfers(), level():
            for wait in waits:
                with pytest.raises(AssertionError):
                    wait()


@pytest.mark.parametrize("channels", [(2, 3), (3, 2)])
@pytest.mark.parametrize("kind", ["cayley", "real", "zooms", "chebyshev"])
@pytest.mark.parametrize("learned", [False, True])
def test_the_host_neither_reads_nor_sends_anything(channels, kind, learned):
    W = random_adjacency(9, 0)
    edge_index, edge_weight = edges_of(W)
    prepared = GraphLaplacian.from_edge_index(edge_index, edge_weight, 9)
    x = signals(2, 9, channels[0]).requires_grad_()
    n_coeffs = 4 if kind in ("real", "chebyshev") else 7
    weight = signals(n_coeffs, *channels).requires_grad_()
    log_zoom = torch.zeros((channels[1],) if kind == "zooms" else (), dtype=torch.float64, requires_grad=True)
    edge_weight.requires_grad_(learned)
    order = torch.argsort(edge_index[0], stable=True)
    with torch_operations(), NoTransfers():
        if learned:
            entries = entries_of_edges(edge_index, edge_weight, 9, "sym", order, undirected=True)
            prepared.values, prepared.diagonal = entries
        if kind == "chebyshev":
            y = cheb_conv(x, weight, prepared)
        else:
            y = cayley_conv(x, weight, log_zoom, prepared, real=kind == "real", zoom_hint=1.5)
        y.square().sum().backward()
    assert x.grad.isfinite().all()
    assert weight.grad.isfinite().all()
    assert (edge_weight.grad is not None) == learned


def test_coefficients_of_a_large_zoom_take_little_memory():
    log_zoom = torch.tensor(9.2, dtype=torch.float64)
    peak = peak_bytes(lambda: differentiable_series(log_zoom, 3, 2.0, 5000, 10000))
    assert peak < 20 * 7 * 10000 * 8  # the matrix of cosines had 5000 * 10000 * 8


@pytest.mark.parametrize("channels", [(4, 8), (8, 4)])
def test_memory_of_torch_operations_does_not_grow_with_the_degree(channels):
    _, prepared = random_graph(60)
    peaks = []
    for zoom in (0.2, 35.0):
        layer = CayleyConv(*channels, 3, zoom=zoom)
        x = signals(40, 60, channels[0], dtype=torch.float32).requires_grad_()

        def step(layer=layer, x=x):
            layer(x, prepared).square().sum().backward()

        with torch_operations():
            step()
            peaks.append(peak_bytes(step))
    assert peaks[1] <= 1.05 * peaks[0]


def test_layers_find_shapes_on_the_meta_device():
    _, prepared = random_graph()
    for layer in (CayleyConv(2, 3, 3), CayleyConv(2, 3, 3, zoom_per_channel=True), ChebConv(2, 3, 4)):
        y = layer.to("meta")(torch.empty(5, 13, 2, device="meta"), prepared.to("meta"))
        assert y.shape == (5, 13, 3)
        y.sum().backward()
        assert all(p.grad is not None and p.grad.shape == p.shape for p in layer.parameters())
