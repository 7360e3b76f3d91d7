"""Convolutions in the eigenbasis of the Laplacian."""

from __future__ import annotations

from torch import Tensor

from cayleygsp.nn.coefficients import CAYLEY, CAYLEY_REAL, basis_at, order_of
from cayleygsp.nn.forward_mode import reject_learned_graph
from cayleygsp.nn.graph_laplacian import GraphLaplacian


def exact_conv(x: Tensor, weight: Tensor, log_zoom: Tensor, laplacian: GraphLaplacian, *, real: bool = False) -> Tensor:
    r"""Return :math:`\sum_b \Phi \varphi_b(h\Lambda) \Phi^\top X W_b` with the eigenbasis that the Laplacian keeps.

    Parameters are those of :func:`cayleygsp.nn.conv_op.cayley_conv`. Two dense products with Φ whatever the order is.
    """
    reject_learned_graph(laplacian.values, "method 'exact'")
    lam, Phi = (t.to(x.dtype) for t in laplacian.eigenbasis())
    size, f_in, f_out = weight.shape
    order = order_of(CAYLEY_REAL if real else CAYLEY, size)
    basis = basis_at(log_zoom.to(x.dtype).exp() * lam, order, real)
    x_hat = Phi.T @ x
    if f_in <= f_out:
        blocks = basis[:, :, None] * x_hat[:, :, None, :]
        y_hat = blocks.flatten(2) @ weight.reshape(size * f_in, f_out)
    else:
        blocks = (x_hat @ weight.transpose(0, 1).reshape(f_in, size * f_out)).unflatten(2, (size, f_out))
        y_hat = (basis[:, :, None] * blocks).sum(2)
    return Phi @ y_hat
