"""Convolution with learned Cayley filters and a learned spectral zoom."""

from __future__ import annotations

import math
import weakref
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from cayleygsp._typing import ArrayLike, FloatArray, GraphLike
from cayleygsp._validation import check_choice, check_eigenvalues, check_integer, check_positive
from cayleygsp.filters import CayleyFilter
from cayleygsp.laplacians import laplacian as core_laplacian
from cayleygsp.nn.coordinates import ORTHOGONAL, PARAMETRIZATIONS, CoordinateConv, plain_start_power, start_power
from cayleygsp.nn.features import PrecomputedFeatures
from cayleygsp.nn.graph.build import assert_async
from cayleygsp.nn.graph.laplacian import NORMALIZATIONS, GraphLaplacian, check_normalization
from cayleygsp.nn.layers.base import NO_FILTERS, glorot_like
from cayleygsp.nn.ops.convolution import cayley_conv, sparse_product
from cayleygsp.nn.ops.exact import exact_conv
from cayleygsp.nn.ops.jacobi import jacobi_conv
from cayleygsp.nn.ops.operation import full_precision
from cayleygsp.nn.ops.series import CAYLEY, CAYLEY_REAL, differentiable_series, series_matrix
from cayleygsp.responses.basis import basis_coefficients, power_basis
from cayleygsp.responses.cayley import CayleyPolynomial

_METHODS = ("chebyshev", "exact", "jacobi")

# Sweeps after the start vector, as in the authors' code.
_N_ITER = 10


class CayleyConv(CoordinateConv):
    r"""A layer of Cayley filters, one for each pair of channels (equation 4 of the paper).

    .. math:: y_o = b_o + \sum_i \Big( c_{0,io}\, x_i + 2\,\mathrm{Re} \sum_{j=1}^r c_{j,io}\, C(h\Delta)^j x_i \Big),
              \qquad C(x) = \frac{x - i}{x + i}

    The zoom h > 0 is learned too; its logarithm is the parameter.

    Parameters
    ----------
    in_channels : int
        Channels of the input, or -1 to find out at the first call.
    out_channels : int
        Channels of the output.
    order : int
        r ≥ 1: a filter has 2r + 1 real parameters, or r + 1 with ``real_coeffs``. :class:`ChebConv` counts terms,
        K = r + 1.
    normalization : {"sym", None}
        Normalized Laplacian, or combinatorial.
    bias : bool
        Whether to add a learned number to each output channel.
    method : {"chebyshev", "exact", "jacobi"}
        "chebyshev": one real recurrence for all powers, with an error of at most ``tol`` in each; memory does not
        depend on its length. "exact": the dense eigenbasis, computed once and kept by the Laplacian; for small graphs
        that are prepared once. "jacobi": the paper's scheme, differentiated through its sweeps, with the memory that
        this takes.
    n_iter : int, optional
        Jacobi sweeps after the start vector; 10 by default.
    tol : float
        Largest error of each basis function, which is of size 2.
    zoom : float
        h to start from.
    real_coeffs : bool
        Real coefficients :math:`c_j`.
    shared_filter : bool
        One filter for all channels, then a dense matrix: :math:`g(\Delta) X W`.
    zoom_per_channel : bool
        A zoom for each output channel. Method "chebyshev" runs one recurrence for all of them, as long as the largest
        zoom needs; the others run one for each channel.
    parametrization : {"orthogonal", "coefficients"}
        What is learned: weights in coordinates that are orthogonal over the spectrum, or the :math:`c_j` themselves, as
        in the paper. The filters are the same.
    cached : bool
        Prepare the graph at the first call and keep it, for training on one graph (transductive learning): what later
        calls give in its place is not looked at, so that a changed graph is not noticed. :meth:`reset_parameters`,
        another device and another precision forget it. Layers can share one :class:`GraphLaplacian` instead.

    Attributes
    ----------
    weight : Parameter, shape (2r + 1, in_channels, out_channels)
        Coordinates of the filters in functions that are orthogonal over the spectrum, whatever the zoom is, or with
        ``parametrization="coefficients"`` the coefficients; r + 1 with ``real_coeffs``. :meth:`coefficients` are what
        the formula above has, and what ``state_dict`` holds under this name. With ``shared_filter`` its shape is
        (in_channels, out_channels), and it is what it is.
    coeffs : Parameter, shape (2r + 1,)
        Coordinates of the filter itself, with ``shared_filter`` alone.
    log_zoom : Parameter, shape () or (out_channels,)
        log h.

    Notes
    -----
    Weights start uniform, of a size at which an output has the standard deviation of the inputs times 0.3 to the power
    1/in_channels, if their frequencies are spread evenly: one small filter lets the zoom start in the right direction.
    A shared filter starts as the low-pass with :math:`c_0 = 1/2, c_1 = -1/4`, which leaves the mean of a signal as it
    is.

    What is learned by default are not the :math:`c_j` but weights in coordinates that let Adam find the zoom, see
    :mod:`cayleygsp.nn.coordinates` and :meth:`adapt_to`. Weight decay acts on them: on the mean square of the
    responses over the spectrum. The more input channels there are, the smaller are the functions that vary much over
    it: steepest descent is slow there. With ``parametrization="coefficients"`` the :math:`c_j` themselves are learned,
    and start with outputs of the same size. Layers of both kinds load each other's states.

    ``state_dict`` has the coefficients :math:`c_j` under the name of the parameter, ``weight`` or ``coeffs``, the
    learned numbers themselves under ``coordinates``, and under ``frequencies`` those that the coordinates were made
    for. Loading it is exact, so that training goes on where it stood. The parameters are no state, though their names
    are the same: ``load_state_dict`` misses the frequencies in them, and ``functional_call`` refuses a ``state_dict``.

    Gradients are those of the exact filter up to ``tol``. They cannot be differentiated again, nor in forward mode,
    except for method "exact".

    The graph must be undirected: a Cayley filter is a function of the eigenvalues, which are real, and bounded, only
    then. :class:`ChebConv`, a polynomial, takes any graph. Self-loops count in the degrees, and a vertex without edges
    has the eigenvalue zero, as in the core.

    Shapes: x (n, in_channels) or (batch, n, in_channels) gives the same with out_channels.

    Examples
    --------
    >>> import torch
    >>> import cayleygsp as cg
    >>> from cayleygsp.nn import CayleyConv, GraphLaplacian
    >>> layer = CayleyConv(1, 8, order=3)
    >>> L = GraphLaplacian.from_laplacian(cg.laplacian(cg.gallery.ring(16), "normalized"))
    >>> layer(torch.ones(100, 16, 1), L).shape
    torch.Size([100, 16, 8])
    >>> layer
    CayleyConv(1, 8, order=3, normalization=sym, method=chebyshev)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        order: int,
        normalization: str | None = "sym",
        bias: bool = True,
        *,
        method: Literal["chebyshev", "exact", "jacobi"] = "chebyshev",
        n_iter: int | None = None,
        tol: float = 1e-4,
        zoom: float = 1.0,
        real_coeffs: bool = False,
        shared_filter: bool = False,
        zoom_per_channel: bool = False,
        parametrization: Literal["orthogonal", "coefficients"] = "orthogonal",
        cached: bool = False,
    ) -> None:
        super().__init__(in_channels, out_channels, check_normalization(normalization), bias, cached)
        self.order = check_integer(order, "order", at_least=1)
        self.method = check_choice(method, "method", _METHODS)
        if n_iter is not None and method != "jacobi":
            raise ValueError(f"`n_iter` must be None unless method='jacobi', got {n_iter}")
        self.n_iter = _N_ITER if n_iter is None else check_integer(n_iter, "n_iter", at_least=0)
        self.tol = check_positive(tol, "tol")
        self.initial_zoom = check_positive(zoom, "zoom")
        self.real_coeffs = bool(real_coeffs)
        self.shared_filter = bool(shared_filter)
        self.zoom_per_channel = bool(zoom_per_channel)
        self.parametrization = check_choice(parametrization, "parametrization", PARAMETRIZATIONS)
        if self.shared_filter and self.zoom_per_channel:
            raise ValueError("`zoom_per_channel` must be False with `shared_filter`, which has one zoom")
        self.log_zoom = Parameter(torch.empty((self.out_channels,) if self.zoom_per_channel else ()))
        if self.shared_filter:
            self.coeffs = Parameter(torch.empty(self.n_coeffs))
        self._zoom_elsewhere = ZoomElsewhere()
        self._spread_nodes(self.initial_zoom)
        self._make_weight()
        self.reset_parameters()

    @property
    def zoom(self) -> Tensor:
        """The zoom h, positive whatever the parameter is."""
        return self.log_zoom.exp()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights again, go back to the zoom of the start and forget a graph that is kept.

        Parameters
        ----------
        generator : torch.Generator, optional
            Source of random numbers; torch's global one by default.
        """
        self._kept = ()
        with torch.no_grad():
            self._make_table()
            self.log_zoom.fill_(math.log(self.initial_zoom))
            if self.bias is not None:
                self.bias.zero_()
            if self.shared_filter:
                start = torch.zeros_like(self.coeffs)
                start[:2] = start.new_tensor([0.5, -0.25])
                self._write(start)
        if not self.is_lazy:
            self._draw_weight(generator)

    def _draw_weight(self, generator: torch.Generator | None = None) -> None:
        if self.shared_filter:
            power = 1.0
        elif self.parametrization == ORTHOGONAL:
            power = start_power(self.in_channels, self.n_coeffs)
        else:
            power = plain_start_power(self.in_channels, self.order, real=self.real_coeffs)
        glorot_like(self.weight, power, generator)

    def extra_repr(self) -> str:
        """Return the sizes and the settings that are not the default, for ``repr``."""
        sizes = f"{self.in_channels}, {self.out_channels}, order={self.order}"
        parts = [sizes, f"normalization={self.normalization}", f"method={self.method}"]
        if self.method == "jacobi":
            parts.append(f"n_iter={self.n_iter}")
        for name in ("real_coeffs", "shared_filter", "zoom_per_channel"):
            if getattr(self, name):
                parts.append(f"{name}=True")
        if self.parametrization != ORTHOGONAL:
            parts.append(f"parametrization={self.parametrization}")
        return ", ".join(parts)

    @property
    def graph_dtype(self) -> torch.dtype:
        """Double precision: at a large zoom a filter sees the rounding of the graph in single precision."""
        return self.log_zoom.dtype if self.log_zoom.device.type == "mps" else torch.float64

    def taps(self, laplacian: GraphLaplacian) -> Tensor:
        """Return the weights of all terms of the polynomial of the scaled Laplacian, shape (n_terms, in, out).

        They are computed from zoom and weights by operations that torch can differentiate; the number of terms is read
        from the zoom.
        """
        if self.method == "jacobi":
            raise NotImplementedError("method='jacobi' is no polynomial of the Laplacian; use 'chebyshev' or 'exact'")
        self._zoom_bound()
        real = self.real_coeffs
        bound = float(laplacian.lmax.max()) if laplacian.n_vertices else 0.0
        terms = series_matrix(CAYLEY_REAL if real else CAYLEY, self.order, float(self._zooms().max()), bound, self.tol)
        n_terms = terms.shape[1]
        series = [
            differentiable_series(log_zoom, self.order, bound, n_terms, 2 * n_terms, real=real)
            for log_zoom in self.log_zoom.reshape(-1)
        ]
        c = self.coefficients()
        weight = c[:, None, None] * self.weight if self.shared_filter else c
        a = torch.stack(series).to(weight.dtype).expand(self.out_channels, -1, -1)
        return torch.einsum("obk,bio->kio", a, weight)

    def convolve_sparse(self, x: Tensor, laplacian: GraphLaplacian) -> Tensor:
        """Filter sparse signals of shape (n, in_channels): channels first, if that leaves fewer."""
        mixes_first = self.in_channels > self.out_channels and not self.zoom_per_channel
        if not mixes_first or laplacian.values.requires_grad:
            return super().convolve_sparse(x, laplacian)
        if self.shared_filter:
            mixed = sparse_product(x, self.weight)[None]
            return self._filter_all(mixed, self._coefficients(), laplacian, self._zoom_bound())[0]
        if self.method != "chebyshev":
            return super().convolve_sparse(x, laplacian)
        return self._mix(x, self._coefficients(), self.log_zoom, laplacian, self._zoom_bound())[0]

    def convolve(self, x: Tensor, laplacian: GraphLaplacian) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""
        zoom, c = self._zoom_bound(), self._coefficients()
        if self.shared_filter:
            if self.out_channels < self.in_channels:
                return self._filter_all(x @ self.weight, c, laplacian, zoom)
            return self._filter_all(x, c, laplacian, zoom) @ self.weight
        if self.method == "chebyshev" or not self.zoom_per_channel:
            return self._mix(x, c, self.log_zoom, laplacian, zoom)
        columns = [self._mix(x, c[:, :, [o]], self.log_zoom[o], laplacian, zoom) for o in range(self.out_channels)]
        return torch.cat(columns, dim=2)

    def _filter_all(self, x: Tensor, c: Tensor, laplacian: GraphLaplacian, zoom: float | None) -> Tensor:
        """Apply the shared filter to every channel; where no loops are made for that, channels become signals."""
        if self.method == "chebyshev" and not laplacian.values.requires_grad:
            return self._mix(x, c, self.log_zoom, laplacian, zoom)
        batch, n, channels = x.shape
        signals = x.transpose(1, 2).reshape(batch * channels, n, 1)
        y = self._mix(signals, c[:, None, None], self.log_zoom, laplacian, zoom)
        return y.reshape(batch, channels, n).transpose(1, 2)

    def _mix(
        self, x: Tensor, weight: Tensor, log_zoom: Tensor, laplacian: GraphLaplacian, zoom: float | None
    ) -> Tensor:
        if self.method == "chebyshev":
            return cayley_conv(x, weight, log_zoom, laplacian, tol=self.tol, real=self.real_coeffs, zoom_hint=zoom)
        if self.method == "exact":
            return exact_conv(x, weight, log_zoom, laplacian, real=self.real_coeffs)
        return jacobi_conv(x, weight, log_zoom, laplacian, self.n_iter, real=self.real_coeffs)

    def _zoom_bound(self) -> float | None:
        """Return the largest zoom, read once in a call: a bound of it on a card, nothing where there are no numbers."""
        log_zoom = self.log_zoom
        if log_zoom.device.type not in ("cpu", "meta"):
            return self._zoom_elsewhere.upper_bound(log_zoom)
        if log_zoom.is_meta or torch.compiler.is_compiling():
            return None
        zoom = log_zoom.detach().exp()
        if not bool((torch.isfinite(zoom) & (zoom > 0)).all()):
            raise ValueError(
                f"`log_zoom` must have a positive and finite exponential in {zoom.dtype}, got "
                f"{log_zoom.tolist()}; a smaller learning rate may keep it within bounds"
            )
        return math.exp(float(log_zoom.detach().max()))

    def polynomial(self, in_channel: int, out_channel: int) -> CayleyPolynomial:
        """Return the learned response from one channel to another.

        Parameters
        ----------
        in_channel, out_channel : int
            Which filter.

        Examples
        --------
        >>> from cayleygsp.nn import CayleyConv
        >>> CayleyConv(2, 3, order=4, zoom=0.5).polynomial(1, 2)
        CayleyPolynomial(order=4, zoom=0.5)
        """
        i, o = self._filter_index(in_channel, out_channel)
        weights = self._weights()[:, i, o]
        return CayleyPolynomial(basis_coefficients(weights, real=self.real_coeffs), float(self._zooms()[o]))

    def to_filter(self, graph: GraphLike, in_channel: int, out_channel: int, **options: Any) -> CayleyFilter:
        """Return the learned filter from one channel to another as a filter of the core, without the bias.

        Parameters
        ----------
        graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
            See :func:`cayleygsp.laplacian`; the kind of Laplacian is that of the layer.
        in_channel, out_channel : int
            Which filter.
        **options
            Passed to :class:`cayleygsp.CayleyFilter`. By default the method is "jacobi" with the same sweeps for a
            layer with that method, "auto" for others.
        """
        L = core_laplacian(graph, NORMALIZATIONS[self.normalization])
        if self.method == "jacobi":
            options = {"method": "jacobi", "n_iter": self.n_iter, **options}
        return CayleyFilter(L, self.polynomial(in_channel, out_channel), **options)

    def responses(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return all learned responses at the given frequencies.

        Parameters
        ----------
        eigenvalues : array_like, shape (k,)
            Frequencies.

        Returns
        -------
        numpy.ndarray, shape (k, in_channels, out_channels)
        """
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        if lam.ndim != 1:
            raise ValueError(f"`eigenvalues` must be one-dimensional, got shape {lam.shape}")
        weights = self._weights()
        bases = (power_basis(self.order, h * lam, real=self.real_coeffs) for h in self._zooms())
        return np.stack([basis @ weights[:, :, o] for o, basis in enumerate(bases)], axis=2)

    def _weights(self) -> FloatArray:
        """Return the weights, shape (2r + 1, in_channels, out_channels), as an array of the core."""
        if self.is_lazy:
            raise ValueError(NO_FILTERS)
        with torch.no_grad():
            c = self.coefficients().double().cpu()
        if self.shared_filter:
            c = c[:, None, None] * self.weight.detach().double().cpu()
        return c.numpy()

    def _zooms(self) -> FloatArray:
        return np.broadcast_to(self.log_zoom.detach().double().cpu().exp().numpy(), (self.out_channels,))

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        self._zoom_elsewhere = ZoomElsewhere()  # the zoom may be quite another one now

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_zoom_elsewhere": ZoomElsewhere()}


class ZoomElsewhere:
    """A bound of the largest zoom of a layer on a card, without which each call would wait for all work of the card.

    The degree of a series must be known on the host. A copy of the zoom is sent there at every call; the last one that
    has arrived counts, with a margin for the steps since. Where the zoom has grown beyond that, by a large step or
    behind torch's back, the card raises an error when the host next waits for it. Another tensor in the place of the
    parameter is waited for.
    """

    margin = 1.5

    def __init__(self) -> None:
        self.source: weakref.ref[Tensor] | None = None
        self.known = math.nan
        self.arriving: tuple[Tensor, Any] | None = None

    def upper_bound(self, log_zoom: Tensor) -> float:
        """Return a bound of the zoom, which the card checks."""
        if not torch.compiler.is_compiling():
            if self.source is None or self.source() is not log_zoom:
                self.source = weakref.ref(log_zoom)
                self.known, self.arriving = float(log_zoom.detach().max()), None
            if self.arriving is not None and (self.arriving[1] is None or self.arriving[1].query()):
                self.known, self.arriving = float(self.arriving[0].max()), None
            if self.arriving is None:
                on_cuda = log_zoom.device.type == "cuda"
                copy = torch.empty(log_zoom.shape, dtype=log_zoom.dtype, pin_memory=on_cuda)
                copy.copy_(log_zoom.detach(), non_blocking=on_cuda)
                self.arriving = copy, torch.cuda.current_stream().record_event() if on_cuda else None
        assert self.source is not None, "the layer must be called once before it is compiled for this device"
        assert_async(
            (log_zoom.detach() <= self.known + math.log(self.margin)).all(),
            f"the zoom of a CayleyConv on another device has grown by more than {self.margin} since the host read "
            f"{math.exp(self.known):.4g}: the degree of the series is too low for it. Take smaller steps, or write to "
            "`log_zoom` by `copy_` under torch.no_grad() and synchronize before the next call",
        )
        return self.margin * math.exp(self.known)


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

    def forward(self, features: PrecomputedFeatures, index: Tensor | None = None) -> Tensor:  # type: ignore[override]
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
        if not isinstance(features, PrecomputedFeatures):
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
        self._zoom_bound()
        features.check_zoom(self.order, float(self._zooms().max()))
        with full_precision(self.weight):
            c = self.coefficients()
            weight = c[:, None, None] * self.weight if self.shared_filter else c
            y = features.mix(weight, self.log_zoom, index, real=self.real_coeffs)
        return y if self.bias is None else y + self.bias
