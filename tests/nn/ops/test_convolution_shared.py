"""One filter for all channels: values and gradients are those of the filter of each channel."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch

from cayleygsp.nn import CayleyConv
from cayleygsp.nn.ops.convolution import cayley_conv
from cayleygsp.nn.ops.operation import torch_operations
from tests.nn.helpers import compiled, random_graph, signals

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
        y = cayley_conv(*inputs, laplacian, tol=1e-11, real=real)
        got = torch.autograd.grad(y, inputs, direction)
    torch.testing.assert_close(y, expected, atol=1e-9, rtol=1e-9)
    for mine, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(mine, other, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_only_what_is_needed_has_a_gradient(place):
    _, laplacian = random_graph()
    inputs = [t.detach() for t in leaves(2, 5)]
    inputs[place].requires_grad_()
    cayley_conv(*inputs, laplacian, tol=1e-6).sum().backward()
    assert [t.grad is not None for t in inputs] == [k == place for k in range(3)]


def test_a_second_derivative_is_refused():
    _, laplacian = random_graph()
    inputs = leaves(2, 5)
    y = cayley_conv(*inputs, laplacian, tol=1e-6)
    (gradient,) = torch.autograd.grad(y.square().sum(), inputs[0], create_graph=True)
    with pytest.raises(NotImplementedError, match="cannot be differentiated again"):
        gradient.sum().backward()


def test_layers_compile():
    _, laplacian = random_graph()
    layer = CayleyConv(3, 2, 2, shared_filter=True).double()
    x = signals(13, 3)
    fast = compiled(layer, backend="eager")
    torch.testing.assert_close(fast(x, laplacian), layer(x, laplacian))
