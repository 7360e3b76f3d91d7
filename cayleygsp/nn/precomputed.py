"""Training without the graph: Chebyshev terms of fixed inputs, computed once."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cayleygsp._validation import check_integer, check_positive
from cayleygsp.laplacians import Laplacian
from cayleygsp.nn._step import terms
from cayleygsp.nn.cayley_conv import CayleyConv
from cayleygsp.nn.coefficients import differentiable_series
from cayleygsp.nn.graph_laplacian import GraphLaplacian
from cayleygsp.nn.layer import full_precision
from cayleygsp.responses.basis import power_coefficients, power_samples


class ChebyshevFeatures:
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
        tol: float = 1e-4,
    ) -> None:
        if not isinstance(x, Tensor) or not x.is_floating_point() or x.dim() != 2:
            said = f"shape {tuple(x.shape)}, dtype {x.dtype}" if isinstance(x, Tensor) else type(x).__name__
            raise TypeError(f"`x` must be a tensor of shape (n, channels) of floating point numbers, got {said}")
        if x.requires_grad:
            raise ValueError("`x` must not require a gradient: the features are computed once")
        if isinstance(laplacian, Laplacian):
            laplacian = GraphLaplacian.from_laplacian(laplacian, device=x.device)
        if not isinstance(laplacian, GraphLaplacian):
            raise TypeError(f"`laplacian` must be a Laplacian or GraphLaplacian, got {type(laplacian).__name__}")
        if x.shape[0] != laplacian.n_vertices:
            raise ValueError(f"`x` must have {laplacian.n_vertices} rows as the graph has vertices, got {x.shape[0]}")
        if not bool(torch.isfinite(x).all()):
            raise ValueError("`x` must be finite")
        self.order = check_integer(order, "order", at_least=1)
        self.max_zoom = check_positive(max_zoom, "max_zoom")
        self.tol = check_positive(tol, "tol")
        self.normalization = laplacian.normalization
        self.lmax = float(laplacian.lmax.max()) if laplacian.bound is None else laplacian.bound
        n_terms = self._terms_for(self.order, self.max_zoom)
        self.n_samples = power_samples(self.order + 1, self.max_zoom, self.lmax, self.tol)
        graph = laplacian.tensors(x.dtype, own_scale=False)
        self.features = terms(graph, x[None], None, n_terms)[0]

    def _terms_for(self, order: int, zoom: float) -> int:
        """Return how many terms filters of this order and zoom, and their derivatives in the zoom, need."""
        return power_coefficients(order + 1, zoom, self.lmax, self.tol).coeffs.shape[1]

    def covers(self, order: int, zoom: float) -> bool:
        """Say whether the terms are enough for filters of this order and zoom.

        Parameters
        ----------
        order : int
            r.
        zoom : float
            h.
        """
        return self._terms_for(order, zoom) <= self.features.shape[1]

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


class PrecomputedCayleyConv(CayleyConv):
    r"""A :class:`CayleyConv` that takes precomputed terms of its input and needs no graph.

    .. math:: y = b + \sum_k T_k(\tilde\Delta) X\, V_k, \qquad V_k = \sum_b a_{bk}(h) W_b

    The coefficients :math:`a_{bk}(h)` are a smooth function of the zoom, so that h is learned as always. Vertices are
    independent of each other: any subset of them is a minibatch.

    Parameters
    ----------
    *args, **kwargs
        Those of :class:`CayleyConv`, without ``method``, ``n_iter`` and ``tol``. Weights can be exchanged between the
        two by ``state_dict``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name in ("method", "n_iter", "tol"):
            if name in kwargs:
                raise TypeError(f"`{name}` does not apply to PrecomputedCayleyConv: the features decide")
        super().__init__(*args, **kwargs)

    def forward(self, features: ChebyshevFeatures, index: Tensor | None = None) -> Tensor:  # type: ignore[override]
        """Filter on some vertices.

        Parameters
        ----------
        features : ChebyshevFeatures
            Of the inputs.
        index : Tensor, shape (k,), optional
            Vertices; all of them by default.

        Returns
        -------
        Tensor, shape (k, out_channels)

        Raises
        ------
        ValueError
            If the zoom is larger than the features cover.
        """
        if not isinstance(features, ChebyshevFeatures):
            raise TypeError(f"`features` must be ChebyshevFeatures, got {type(features).__name__}")
        if features.normalization != self.normalization:
            raise ValueError(
                f"`features` must have normalization={self.normalization!r} as the layer, got "
                f"{features.normalization!r}"
            )
        rows = features.features if index is None else features[index]
        if self.is_lazy:
            self._materialize(rows.shape[2])
        if rows.shape[2] != self.in_channels:
            raise ValueError(f"`features` must have {self.in_channels} channels, got {rows.shape[2]}")
        largest = float(self._zooms().max())
        if not features.covers(self.order, largest):
            raise ValueError(
                f"the zoom has grown to {largest:.4g} and order {self.order} needs more terms than the "
                f"{features.features.shape[1]} of `features`: compute them with a larger max_zoom (it was "
                f"{features.max_zoom:g} for order {features.order})"
            )
        with full_precision(rows):
            V = self._mixed_weights(features).to(self.weight.dtype)
            y = rows.to(V.dtype).flatten(1) @ V.flatten(0, 1)
        return y if self.bias is None else y + self.bias

    def _mixed_weights(self, features: ChebyshevFeatures) -> Tensor:
        """Return V, shape (K + 1, in_channels, out_channels)."""
        weight = self.coeffs[:, None, None] * self.weight if self.shared_filter else self.weight

        def series(log_zoom: Tensor) -> Tensor:
            return differentiable_series(
                log_zoom,
                self.order,
                features.lmax,
                features.features.shape[1],
                features.n_samples,
                real=self.real_coeffs,
            )

        if self.zoom_per_channel:
            a = torch.stack([series(log_zoom) for log_zoom in self.log_zoom])
            return torch.einsum("obk,bio->kio", a, weight.double())
        return torch.einsum("bk,bio->kio", series(self.log_zoom), weight.double())
