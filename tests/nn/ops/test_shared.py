"""One filter for all channels: values and gradients are those of the filter of each channel."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch

from cayleygsp.nn import CayleyConv
from cayleygsp.nn.modes import torch_operations
from cayleygsp.nn.ops.coefficients import CAYLEY
from cayleygsp.nn.ops.series import cayley_conv
from cayleygsp.nn.ops.shared import filter_shared, filter_shared_backward, shared_conv
from tests.nn.helpers import random_graph, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")


def leaves(channels, size, zoom=0.3):
    """Return signals, coefficients and log h that ask for gradients."""
    numbers = signals(2, 13, channels), signals(size, seed=1), torch.tensor(zoom, dtype=torch.float64)
    return [t.requires_grad_() for t in numbers]


def one_by_one(x, c, log_zoom, laplacian, real):
    """Return the same with channels as signals of their own."""
    batch, n, channels = x.shape
    rows = x.transpose(1, 2).reshape(batch * channels, n, 1)
    y = cayley_conv(rows, c[:, None, None], log_zoom, laplacian, tol=1e-11, real=real)
    return y.reshape(batch, channels, n).transpose(1, 2)


@pytest.mark.parametrize("by_torch", [False, True])
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("normalization", ["sym", None])
def test_values_and_gradients_are_those_of_each_channel(by_torch, real, normalization):
    _, laplacian = random_graph(normalization=normalization)
    inputs = leaves(5, 4 if real else 7)
    direction = signals(2, 13, 5, seed=2)
    expected = one_by_one(*inputs, laplacian, real)
    wanted = torch.autograd.grad(expected, inputs, direction)
    with torch_operations() if by_torch else nullcontext():
        y = shared_conv(*inputs, laplacian, tol=1e-11, real=real, zoom_hint=None)
        got = torch.autograd.grad(y, inputs, direction)
    torch.testing.assert_close(y, expected, atol=1e-9, rtol=1e-9)
    for mine, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(mine, other, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_only_what_is_needed_has_a_gradient(place):
    _, laplacian = random_graph()
    inputs = [t.detach() for t in leaves(2, 5)]
    inputs[place].requires_grad_()
    shared_conv(*inputs, laplacian, tol=1e-6, real=False, zoom_hint=None).sum().backward()
    assert [t.grad is not None for t in inputs] == [k == place for k in range(3)]


def test_operations_are_what_torch_wants():
    _, laplacian = random_graph()
    graph = laplacian.tensors(torch.float64, own_scale=False).tensors()
    settings = CAYLEY, 1e-6, laplacian.bound, None
    inputs = leaves(2, 5)
    torch.library.opcheck(filter_shared, (*inputs, graph, *settings))
    constant = [t.detach() for t in inputs]
    for needs in ([True, True, True], [True, False, False], [False, True, False], [False, False, True]):
        arguments = (signals(2, 13, 2), *constant, graph, *settings, needs)
        torch.library.opcheck(filter_shared_backward, arguments, test_utils=("test_schema", "test_faketensor"))


def test_a_second_derivative_is_refused():
    _, laplacian = random_graph()
    inputs = leaves(2, 5)
    y = shared_conv(*inputs, laplacian, tol=1e-6, real=False, zoom_hint=None)
    (gradient,) = torch.autograd.grad(y.square().sum(), inputs[0], create_graph=True)
    with pytest.raises(NotImplementedError, match="cannot be differentiated again"):
        gradient.sum().backward()


def test_layers_compile():
    _, laplacian = random_graph()
    layer = CayleyConv(3, 2, 2, shared_filter=True).double()
    x = signals(13, 3)
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, laplacian), layer(x, laplacian))
