"""Convolution with learned Cayley filters and a learned spectral zoom."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from cayleygsp._typing import ArrayLike, FloatArray, GraphLike
from cayleygsp._validation import check_choice, check_eigenvalues, check_integer, check_positive
from cayleygsp.filters import CayleyFilter
from cayleygsp.laplacians import laplacian as core_laplacian
from cayleygsp.nn.conv_op import cayley_conv
from cayleygsp.nn.exact import exact_conv
from cayleygsp.nn.frame import (
    STRETCH,
    coefficients_of,
    default_nodes,
    frame_at,
    frame_table,
    spectral_nodes,
    weights_of,
)
from cayleygsp.nn.graph_laplacian import NORMALIZATIONS, GraphLaplacian
from cayleygsp.nn.jacobi import jacobi_conv
from cayleygsp.nn.layer import GraphConv, check_channel, glorot_like
from cayleygsp.nn.zoom_mirror import ZoomMirror
from cayleygsp.responses.basis import basis_coefficients, basis_size, power_basis
from cayleygsp.responses.cayley import CayleyPolynomial

METHODS = ("chebyshev", "exact", "jacobi")

# Sweeps after the start vector, as in the authors' code.
_N_ITER = 10

# Root mean square of an output at the start, relative to the inputs.
_START = 0.3


class CayleyConv(GraphConv):
    r"""A layer of Cayley filters, one for each pair of channels, Eq. (4) of the paper.

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
        r ≥ 1: a filter has 2r + 1 real parameters, or r + 1 with ``real_coeffs``. PyTorch Geometric's ChebConv counts
        terms, K = r + 1.
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
    normalization : {"sym", None}
        Normalized Laplacian, or combinatorial.
    real_coeffs : bool
        Real coefficients :math:`c_j`.
    shared_filter : bool
        One filter for all channels, then a dense matrix: :math:`g(\Delta) X W`.
    bias : bool
        Whether to add a learned number to each output channel.
    zoom_per_channel : bool
        A zoom for each output channel; slower, as each has a recurrence of its own.

    Attributes
    ----------
    weight : Parameter, shape (2r + 1, in_channels, out_channels)
        Coordinates of the filters in functions that are orthonormal over the spectrum, whatever the zoom is;
        r + 1 with ``real_coeffs``. :meth:`coefficients` are what the formula above has, and what ``state_dict`` holds
        under this name. With ``shared_filter`` its shape is (in_channels, out_channels), and it is what it is.
    coeffs : Parameter, shape (2r + 1,)
        Coordinates of the filter itself, with ``shared_filter`` alone.
    log_zoom : Parameter, shape () or (out_channels,)
        log h.

    Notes
    -----
    Weights start uniform, of a size at which an output has 0.3 times the standard deviation of the inputs, if their
    frequencies are spread evenly: small filters let the zoom start in the right direction. A shared
    filter starts as the low-pass with :math:`c_0 = 1/2, c_1 = -1/4`, which leaves the mean of a signal as it is.

    What is learned are not the :math:`c_j` but weights in coordinates that let plain optimisers find the zoom, see
    :mod:`cayleygsp.nn.frame` and :meth:`adapt_to`. Weight decay acts on them: on the mean square of the responses over
    the spectrum. ``state_dict`` converts, so that its tensors are copies, right to rounding.

    Gradients are those of the exact filter up to ``tol``. They cannot be differentiated again, nor in forward mode,
    except for method "exact".

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
    CayleyConv(1, 8, order=3, normalization='sym', method='chebyshev')
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        order: int,
        *,
        method: Literal["chebyshev", "exact", "jacobi"] = "chebyshev",
        n_iter: int | None = None,
        tol: float = 1e-4,
        zoom: float = 1.0,
        normalization: str | None = "sym",
        real_coeffs: bool = False,
        shared_filter: bool = False,
        bias: bool = True,
        zoom_per_channel: bool = False,
    ) -> None:
        super().__init__(in_channels, out_channels, order, normalization, bias)
        self.method = check_choice(method, "method", METHODS)
        if n_iter is not None and method != "jacobi":
            raise ValueError(f"`n_iter` must be None unless method='jacobi', got {n_iter}")
        self.n_iter = _N_ITER if n_iter is None else check_integer(n_iter, "n_iter", at_least=0)
        self.tol = check_positive(tol, "tol")
        self.initial_zoom = check_positive(zoom, "zoom")
        self.real_coeffs = bool(real_coeffs)
        self.shared_filter = bool(shared_filter)
        self.zoom_per_channel = bool(zoom_per_channel)
        if self.shared_filter and self.zoom_per_channel:
            raise ValueError("`zoom_per_channel` must be False with `shared_filter`, which has one zoom")
        self.log_zoom = Parameter(torch.empty((self.out_channels,) if self.zoom_per_channel else ()))
        if self.shared_filter:
            self.coeffs = Parameter(torch.empty(self.n_coeffs))
        self._mirror = ZoomMirror()
        self._nodes = default_nodes(self.normalization, self.initial_zoom)
        self._frame: Tensor
        self._frame_start: Tensor
        self.register_buffer("_frame", None, persistent=False)
        self.register_buffer("_frame_start", None, persistent=False)
        self._make_weight()
        self.reset_parameters()

    @property
    def n_coeffs(self) -> int:
        """Real parameters of one filter."""
        return basis_size(self.order, real=self.real_coeffs)

    @property
    def zoom(self) -> Tensor:
        """The zoom h, positive whatever the parameter is."""
        return self.log_zoom.exp()

    def weight_shape(self, in_channels: int) -> tuple[int, ...]:
        """Return the shape of the weights."""
        pair = (in_channels, self.out_channels)
        return pair if self.shared_filter else (self.n_coeffs, *pair)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights again and go back to the zoom of the start.

        Parameters
        ----------
        generator : torch.Generator, optional
            Source of random numbers; torch's global one by default.
        """
        with torch.no_grad():
            self._make_frame()
            self.log_zoom.fill_(math.log(self.initial_zoom))
            if self.bias is not None:
                self.bias.zero_()
            if self.shared_filter:
                start = torch.zeros_like(self.coeffs)
                start[:2] = start.new_tensor([0.5, -0.25])
                self.coeffs.copy_(weights_of(start, self._frame_at(self.log_zoom)))
        if not self.is_lazy:
            self.draw_weight(generator)

    def draw_weight(self, generator: torch.Generator | None = None) -> None:
        """Draw ``weight`` again and leave all other parameters as they are.

        Parameters
        ----------
        generator : torch.Generator, optional
            Source of random numbers; torch's global one by default.
        """
        power = 1 if self.shared_filter else self.n_coeffs * (STRETCH / _START) ** 2
        glorot_like(self.weight, power, generator)

    def _make_frame(self, device: torch.device | None = None) -> None:
        """Fill in the table of coordinates, on a device, or that of the zoom, and in the precision of the zoom."""
        first, table = frame_table(self.order, self.real_coeffs, self._nodes)
        like: dict[str, Any] = {"dtype": self.log_zoom.dtype, "device": device or self.log_zoom.device}
        self._frame, self._frame_start = torch.tensor(table, **like), torch.tensor(first, **like)

    def _apply(self, fn: Any, recurse: bool = True) -> CayleyConv:
        super()._apply(fn, recurse)
        self._make_frame()  # not what another precision has left of it
        return self

    def _frame_at(self, log_zoom: Tensor) -> Tensor:
        return frame_at(self._frame, self._frame_start, log_zoom)

    def coefficients(self) -> Tensor:
        r"""Return the coefficients :math:`c_0, \mathrm{Re}\,c_1, \mathrm{Im}\,c_1, \dots` of all filters.

        Returns
        -------
        Tensor, shape (2r + 1, in_channels, out_channels), or (2r + 1,) with ``shared_filter``
            Only real parts with ``real_coeffs``. It can be differentiated in weights and zoom.

        Examples
        --------
        >>> from cayleygsp.nn import CayleyConv
        >>> CayleyConv(2, 3, order=4).coefficients().shape
        torch.Size([9, 2, 3])
        """
        learned = self.coeffs if self.shared_filter else self.weight
        return coefficients_of(learned, self._frame_at(self.log_zoom))

    def set_coefficients(self, coefficients: Tensor) -> None:
        """Set the weights to those with the given coefficients, see :meth:`coefficients`, at the present zoom.

        Parameters
        ----------
        coefficients : Tensor
            In the shape that :meth:`coefficients` has.
        """
        learned = self.coeffs if self.shared_filter else self.weight
        if coefficients.shape != learned.shape:
            raise ValueError(f"`coefficients` must have shape {tuple(learned.shape)}, got {tuple(coefficients.shape)}")
        with torch.no_grad():
            learned.copy_(weights_of(coefficients.to(learned.device), self._frame_at(self.log_zoom)))

    def adapt_to(self, graph: GraphLike, rng: np.random.Generator | int | None = None) -> CayleyConv:
        """Learn in coordinates for the spectrum of a graph, in the place of one that is spread evenly.

        All filters stay what they are, to rounding. Do this before the training: it changes the parameters, of which
        an optimiser may have kept averages.

        Parameters
        ----------
        graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
            See :func:`cayleygsp.laplacian`; the kind of Laplacian is that of the layer.
        rng : numpy.random.Generator or int, optional
            For the probes by which the spectrum of a large graph is estimated.

        Returns
        -------
        CayleyConv
            The layer itself.
        """
        nodes = spectral_nodes(core_laplacian(graph, NORMALIZATIONS[self.normalization]), rng)
        kept = None if self.is_lazy and not self.shared_filter else self.coefficients().detach()
        self._nodes = nodes
        self._make_frame()
        if kept is not None:
            self.set_coefficients(kept)
        return self

    def extra_repr(self) -> str:
        """Say the sizes and what is not the default."""
        parts = [super().extra_repr(), f"method={self.method!r}"]
        if self.method == "jacobi":
            parts.append(f"n_iter={self.n_iter}")
        for name in ("real_coeffs", "shared_filter", "zoom_per_channel"):
            if getattr(self, name):
                parts.append(f"{name}=True")
        return ", ".join(parts)

    def convolve(self, x: Tensor, laplacian: GraphLaplacian) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""
        self._check_zoom()
        c = self.coefficients()
        if self.shared_filter:
            if self.out_channels < self.in_channels:
                return self._filter_all(x @ self.weight, c, laplacian)
            return self._filter_all(x, c, laplacian) @ self.weight
        if self.zoom_per_channel:
            columns = [self._mix(x, c[:, :, o : o + 1], self.log_zoom[o], laplacian) for o in range(self.out_channels)]
            return torch.cat(columns, dim=2)
        return self._mix(x, c, self.log_zoom, laplacian)

    def _check_zoom(self) -> None:
        """Reject a zoom that is not a number; where the host would have to wait for it, it is not looked at."""
        if self.log_zoom.device.type != "cpu" or torch.compiler.is_compiling():
            return
        zoom = self.log_zoom.detach().exp()
        if not bool((torch.isfinite(zoom) & (zoom > 0)).all()):
            raise ValueError(
                f"`log_zoom` must have a positive and finite exponential in {zoom.dtype}, got "
                f"{self.log_zoom.tolist()}; a smaller learning rate may keep it within bounds"
            )

    def _filter_all(self, x: Tensor, c: Tensor, laplacian: GraphLaplacian) -> Tensor:
        """Apply the shared filter to every channel: channels become signals."""
        batch, n, channels = x.shape
        signals = x.transpose(1, 2).reshape(batch * channels, n, 1)
        y = self._mix(signals, c[:, None, None], self.log_zoom, laplacian)
        return y.reshape(batch, channels, n).transpose(1, 2)

    def _mix(self, x: Tensor, weight: Tensor, log_zoom: Tensor, laplacian: GraphLaplacian) -> Tensor:
        if self.method == "chebyshev":
            elsewhere = log_zoom.device.type not in ("cpu", "meta")
            hint = self._mirror.upper_bound(self.log_zoom) if elsewhere else None
            return cayley_conv(x, weight, log_zoom, laplacian, tol=self.tol, real=self.real_coeffs, zoom_hint=hint)
        if self.method == "exact":
            return exact_conv(x, weight, log_zoom, laplacian, real=self.real_coeffs)
        return jacobi_conv(x, weight, log_zoom, laplacian, self.n_iter, real=self.real_coeffs)

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
        i = check_channel(in_channel, self.in_channels, "in_channel")
        o = check_channel(out_channel, self.out_channels, "out_channel")
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
        weights, zooms = self._weights(), self._zooms()
        out = np.empty((lam.size, weights.shape[1], weights.shape[2]))
        for o, h in enumerate(zooms):
            out[:, :, o] = power_basis(self.order, h * lam, real=self.real_coeffs) @ weights[:, :, o]
        return out

    def _weights(self) -> FloatArray:
        """Return the weights, shape (2r + 1, in_channels, out_channels), as an array of the core."""
        if self.is_lazy:
            raise ValueError("the layer has no filters before its first call: in_channels is not known")
        with torch.no_grad():
            c = self.coefficients().double().cpu()
        if self.shared_filter:
            c = c[:, None, None] * self.weight.detach().double().cpu()
        return c.numpy()

    def _zooms(self) -> FloatArray:
        return np.broadcast_to(self.log_zoom.detach().double().cpu().exp().numpy(), (self.out_channels,))

    @property
    def _learned_name(self) -> str:
        return "coeffs" if self.shared_filter else "weight"

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        name = prefix + self._learned_name
        if name in destination:
            c = self.coefficients()
            destination[name] = c if keep_vars else c.detach()

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any, **kwargs: Any) -> None:
        name = prefix + self._learned_name
        given = state_dict.get(name)
        log_zoom = state_dict.get(prefix + "log_zoom", self.log_zoom)
        if self._can_convert(given, log_zoom):
            if self._frame.is_meta and not given.is_meta:
                self._make_frame(given.device)
            frame = self._frame_at(log_zoom.detach().to(self._frame.device))
            state_dict[name] = weights_of(given.detach().to(frame.device), frame).to(given)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
        if name in state_dict:
            state_dict[name] = given
        self._mirror = ZoomMirror()  # the zoom may be quite another one now

    def _can_convert(self, given: Any, log_zoom: Any) -> bool:
        """Whether these can be coefficients and zooms of the layer; if not, torch says what is wrong."""
        if not (isinstance(given, Tensor) and isinstance(log_zoom, Tensor) and given.is_floating_point()):
            return False
        shape = (
            (self.n_coeffs,) if self.shared_filter else (self.n_coeffs, given.shape[-2:-1].numel(), self.out_channels)
        )
        return tuple(given.shape) == shape and log_zoom.shape == self.log_zoom.shape

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_mirror": ZoomMirror()}
