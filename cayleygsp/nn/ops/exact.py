"""Convolutions in the eigenbasis of the Laplacian."""

from __future__ import annotations

import torch
from torch import Tensor

from cayleygsp.nn.graph.laplacian import GraphLaplacian
from cayleygsp.nn.ops.operation import reject_learned_graph
from cayleygsp.nn.ops.series import CAYLEY, CAYLEY_REAL, FilterBasis, basis_at


def exact_conv(x: Tensor, weight: Tensor, log_zoom: Tensor, laplacian: GraphLaplacian, *, real: bool = False) -> Tensor:
    r"""Return :math:`\sum_b \Phi \varphi_b(h\Lambda) \Phi^\top X W_b` with the eigenbasis that the Laplacian keeps.

    Parameters are those of :func:`cayleygsp.nn.ops.convolution.cayley_conv`. Two dense products with Φ, whatever the
    order.
    """
    reject_learned_graph(laplacian.values, "method 'exact'")
    lam, Phi = (t.to(x.dtype) for t in laplacian.eigenbasis())
    order = FilterBasis(CAYLEY_REAL if real else CAYLEY, weight.shape[0]).order
    return mix_frequencies(x, weight, basis_at(log_zoom.to(x.dtype).exp() * lam, order, real), Phi)


def exact_cheb_conv(x: Tensor, weight: Tensor, laplacian: GraphLaplacian) -> Tensor:
    r"""Return :math:`\sum_k \Phi T_k(\tilde\Lambda) \Phi^\top X W_k` with the eigenbasis that the Laplacian keeps.

    Parameters are those of :func:`cayleygsp.nn.ops.convolution.cheb_conv`; the Laplacian is that of one graph, or of
    several with the same λ_max, as one scale belongs to all eigenvalues.
    """
    reject_learned_graph(laplacian.values, "method 'exact'")
    lmax = laplacian.lmax if laplacian.scaling is None else laplacian.scaling
    if not torch.compiler.is_compiling() and bool((lmax != lmax[:1]).any()):
        raise ValueError("method 'exact' must have one λ_max for all vertices, got graphs with different ones")
    lam, Phi = laplacian.eigenbasis()
    scale = torch.where(lmax > 0, 2 / lmax, torch.zeros_like(lmax))[:1]
    scaled = scale.to(lam.dtype) * lam - 1  # in double precision, as the eigenvalues are
    terms = [torch.ones_like(scaled), scaled]
    while len(terms) < weight.shape[0]:
        terms.append(2 * scaled * terms[-1] - terms[-2])
    basis = torch.stack(terms[: weight.shape[0]], dim=1)
    return mix_frequencies(x, weight, basis.to(x.dtype), Phi.to(x.dtype))


def mix_frequencies(x: Tensor, weight: Tensor, basis: Tensor, Phi: Tensor) -> Tensor:
    r"""Return :math:`\sum_b \Phi\, \mathrm{diag}(\varphi_b) \Phi^\top X W_b`.

    With many signals the matrices :math:`V_i = \sum_b \varphi_{ib} W_b` of all frequencies are made first, and each
    frequency is mixed by its own: as much work as for filters with one coefficient, however many they have. The result
    then stands in memory with the vertices outside, and so is what the next layer takes without a copy. The values of
    the functions at the eigenvalues, ``basis``, have the shape (n, n_functions).
    """
    batch, n, f_in = x.shape
    size, _, f_out = weight.shape
    if batch > 1 and max(f_in, f_out) <= batch * size:  # else the matrices would take more memory than the blocks
        x_hat = (Phi.T @ x.transpose(0, 1).reshape(n, batch * f_in)).view(n, batch, f_in)
        V = (basis @ weight.reshape(size, f_in * f_out)).view(n, f_in, f_out)
        y_hat = torch.bmm(x_hat, V)
        return (Phi @ y_hat.view(n, batch * f_out)).view(n, batch, f_out).transpose(0, 1)
    x_hat = Phi.T @ x
    if f_in <= f_out:
        blocks = basis[:, :, None] * x_hat[:, :, None, :]
        y_hat = blocks.flatten(2) @ weight.reshape(size * f_in, f_out)
    else:
        blocks = (x_hat @ weight.transpose(0, 1).reshape(f_in, size * f_out)).unflatten(2, (size, f_out))
        y_hat = (basis[:, :, None] * blocks).sum(2)
    return Phi @ y_hat
