"""Chebyshev terms of fixed inputs: training on minibatches of vertices without the graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cayleygsp._validation import check_integer, check_positive
from cayleygsp.laplacians import Laplacian
from cayleygsp.nn._step import terms
from cayleygsp.nn.coefficients import CAYLEY, CAYLEY_REAL, differentiable_series, order_of
from cayleygsp.nn.features import Features, check_laplacian, check_signals
from cayleygsp.nn.graph.laplacian import GraphLaplacian
from cayleygsp.responses.basis import power_coefficients, power_samples


class ChebyshevFeatures(Features):
    r"""The terms :math:`T_k(\tilde\Delta) X`, k ≤ K, of inputs that do not change in training.

    Every Cayley filter of order up to r with a zoom up to ``max_zoom`` is a combination of them, within ``tol``. They
    take K + 1 times the memory of X.

    Parameters
    ----------
    x : Tensor, shape (n, channels)
        Signals on the vertices.
    laplacian : GraphLaplacian or cayleygsp.Laplacian
        The graph.
    order : int
        Largest order r.
    max_zoom : float
        Largest zoom h that training may reach.
    tol : float
        Largest error of each basis function, which is of size 2.

    Attributes
    ----------
    features : Tensor, shape (n, K + 1, channels)
        The terms.
    lmax : float
        The upper bound of the spectrum that they are scaled by.
    n_samples : int
        Chebyshev points that the coefficients of filters are computed from.

    Examples
    --------
    >>> import torch
    >>> import cayleygsp as cg
    >>> from cayleygsp.nn import ChebyshevFeatures, PrecomputedCayleyConv
    >>> L = cg.laplacian(cg.gallery.ring(100), "normalized")
    >>> features = ChebyshevFeatures(torch.ones(100, 2), L, order=3, max_zoom=4.0)
    >>> features
    ChebyshevFeatures(n_vertices=100, channels=2, degree=37, order=3, max_zoom=4)
    >>> layer = PrecomputedCayleyConv(2, 5, order=3)
    >>> layer(features, torch.tensor([7, 12, 80])).shape
    torch.Size([3, 5])
    """

    def __init__(
        self,
        x: Tensor,
        laplacian: GraphLaplacian | Laplacian,
        order: int,
        max_zoom: float,
        *,
        tol: float = 1e-4,
    ) -> None:
        x = check_signals(x, 2, "(n, channels)")
        laplacian = check_laplacian(laplacian, x.shape[0], x.device)
        self.order = check_integer(order, "order", at_least=1)
        self.max_zoom = check_positive(max_zoom, "max_zoom")
        self.tol = check_positive(tol, "tol")
        self.normalization = laplacian.normalization
        self.lmax = float(laplacian.lmax.max()) if laplacian.bound is None else laplacian.bound
        n_terms = self._terms_for(self.order, self.max_zoom)
        self.n_samples = power_samples(self.order + 1, self.max_zoom, self.lmax, tol=self.tol)
        graph = laplacian.tensors(x.dtype, own_scale=False)
        self.features = terms(graph, x[None], None, n_terms)[0]
        self.channels = x.shape[1]

    def _terms_for(self, order: int, zoom: float) -> int:
        """Return how many terms filters of this order and zoom, and their derivatives in the zoom, need."""
        return power_coefficients(order + 1, zoom, self.lmax, tol=self.tol).coeffs.shape[1]

    def covers(self, order: int, zoom: float) -> bool:
        """Return whether the terms are enough for filters of this order and zoom.

        Parameters
        ----------
        order : int
            r.
        zoom : float
            h.
        """
        return self._terms_for(order, zoom) <= self.features.shape[1]

    def check_zoom(self, order: int, zoom: float) -> None:
        """Reject a zoom that is larger than the terms cover."""
        if not self.covers(order, zoom):
            raise ValueError(
                f"the zoom has grown to {zoom:.4g} and order {order} needs more terms than the "
                f"{self.features.shape[1]} of `features`: compute them with a larger max_zoom (it was "
                f"{self.max_zoom:g} for order {self.order})"
            )

    def mix(self, weight: Tensor, log_zoom: Tensor, index: Tensor | None, *, real: bool) -> Tensor:
        r"""Filter on some vertices: the sum over k of :math:`T_k(\tilde\Delta) X V_k`, V_k the sum of a_bk(h) W_b."""
        order = order_of(CAYLEY_REAL if real else CAYLEY, weight.shape[0])
        n_terms = self.features.shape[1]
        a = differentiable_series(log_zoom, order, self.lmax, n_terms, self.n_samples, real=real)
        V = torch.einsum("obk,bio->kio" if log_zoom.dim() else "bk,bio->kio", a, weight.double())
        rows = self.features if index is None else self.features[index]
        V = V.to(weight.dtype)
        return rows.to(V.dtype).flatten(1) @ V.flatten(0, 1)

    def to(self, *args: Any, **kwargs: Any) -> ChebyshevFeatures:
        """Move or cast the terms, as ``Tensor.to`` does; returns itself."""
        self.features = self.features.to(*args, **kwargs)
        return self

    def __getitem__(self, index: Any) -> Tensor:
        return self.features[index]

    def __len__(self) -> int:
        return int(self.features.shape[0])

    def __repr__(self) -> str:
        n, n_terms, channels = self.features.shape
        return (
            f"ChebyshevFeatures(n_vertices={n}, channels={channels}, degree={n_terms - 1}, order={self.order}, "
            f"max_zoom={self.max_zoom:g})"
        )
