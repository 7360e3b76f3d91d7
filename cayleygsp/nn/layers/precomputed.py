"""Training on fixed inputs: a layer that takes what was computed of them once, and needs no graph."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from cayleygsp.nn.features import Features
from cayleygsp.nn.layers.cayley_conv import CayleyConv
from cayleygsp.nn.modes import full_precision


class PrecomputedCayleyConv(CayleyConv):
    r"""A :class:`CayleyConv` for inputs that do not change in training; it takes features of them and needs no graph.

    What the features are decides the method:

    - :class:`ChebyshevFeatures` of signals on the vertices: the terms :math:`T_k(\tilde\Delta) X` are computed once.
      Vertices are then independent of each other, and any subset of them is a minibatch;
    - :class:`EigenbasisFeatures` of many signals on one graph: the method "exact";
    - :class:`JacobiFeatures` of many signals on one graph: the method "jacobi".

    The zoom is learned as always. The gradients in weights and zoom need no way back through the graph.

    Parameters
    ----------
    *args, **kwargs
        Those of :class:`CayleyConv`, without ``method``, ``n_iter``, ``tol`` and ``cached``. Weights can be exchanged
        between the two by ``state_dict``.

    Examples
    --------
    >>> import torch
    >>> import cayleygsp as cg
    >>> from cayleygsp.nn import ChebyshevFeatures, GraphLaplacian, PrecomputedCayleyConv
    >>> laplacian = GraphLaplacian.from_laplacian(cg.laplacian(cg.gallery.ring(20), "normalized"))
    >>> features = ChebyshevFeatures(torch.ones(20, 3), laplacian, order=2, max_zoom=5.0)
    >>> PrecomputedCayleyConv(3, 8, order=2)(features, torch.tensor([4, 8, 15])).shape
    torch.Size([3, 8])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name in ("method", "n_iter", "tol", "cached"):
            if name in kwargs:
                raise TypeError(f"`{name}` does not apply to PrecomputedCayleyConv: the features decide")
        super().__init__(*args, **kwargs)

    def forward(self, features: Features, index: Tensor | None = None) -> Tensor:  # type: ignore[override]
        """Filter some of the inputs.

        Parameters
        ----------
        features : ChebyshevFeatures, EigenbasisFeatures or JacobiFeatures
            Of the inputs.
        index : Tensor, shape (k,), optional
            Vertices of :class:`ChebyshevFeatures`, signals of the others; all of them by default.

        Returns
        -------
        Tensor, shape (k, out_channels) or (k, n, out_channels)

        Raises
        ------
        ValueError
            If the zoom is larger than the features cover.
        """
        if not isinstance(features, Features):
            raise TypeError(
                "`features` must be ChebyshevFeatures, EigenbasisFeatures or JacobiFeatures, got "
                f"{type(features).__name__}"
            )
        if features.normalization != self.normalization:
            raise ValueError(
                f"`features` must have normalization={self.normalization!r} as the layer, got "
                f"{features.normalization!r}"
            )
        if self.is_lazy:
            self.materialize(features.channels)
        if features.channels != self.in_channels:
            raise ValueError(f"`features` must have {self.in_channels} channels, got {features.channels}")
        self._check_zoom()
        features.check_zoom(self.order, float(self._zooms().max()))
        with full_precision(self.weight):
            c = self.coefficients()
            weight = c[:, None, None] * self.weight if self.shared_filter else c
            rows = features.mix(weight, self.log_zoom, index, real=self.real_coeffs)
        return features.arrange(rows if self.bias is None else rows + self.bias)
