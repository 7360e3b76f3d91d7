r"""Coordinates in which plain optimisers learn coefficients and zoom of Cayley filters.

The functions 1, 2 Re Cʲ, −2 Im Cʲ of a filter are nearly dependent on the frequencies of a graph, and a change of the
zoom looks much like one of the coefficients: gradients in the coefficients :math:`c_j` point along narrow valleys. A
layer therefore learns weights w with :math:`c = E(\log h)\, w`. For frequencies spread like those of a graph, G(z) the
matrix of mean products of the functions at log h = z and M(z) that of the functions and their derivatives in z,

.. math:: E' = -(G + \epsilon^2)^{-1} M E, \qquad E^\top (G + \epsilon^2) E = I \text{ at the start.}

As :math:`G' = M + M^\top` the last equation then holds for every z: the new functions are orthonormal up to the ridge
ε at every zoom, and the singular values of E are those of :math:`(G + \epsilon^2)^{-1/2}`, at most 1/ε. And the change
of a filter with the zoom at fixed w is orthogonal, up to the ridge, to all filters at that zoom: the gradient in log h
sees what the weights cannot explain and nothing else, as in variable projection.

All this stays true if the functions are multiplied by numbers, see :func:`sizes`: they decide how far one step of an
optimiser goes along a function, and how strongly weight decay draws it to zero.

:class:`CoordinateConv` is a layer that learns in these coordinates, and is kept in files as coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter, UninitializedParameter
from typing_extensions import Self

from cayleygsp._typing import FloatArray, GraphLike
from cayleygsp._validation import check_positive
from cayleygsp.density import spectral_density
from cayleygsp.laplacians import Laplacian
from cayleygsp.laplacians import laplacian as core_laplacian
from cayleygsp.nn.graph.laplacian import NORMALIZATIONS, GraphLaplacian
from cayleygsp.nn.layers.base import NO_FILTERS, GraphConv
from cayleygsp.nn.ops.operation import full_precision, outside_inference
from cayleygsp.responses.basis import basis_size, power_basis, zoom_derivative

# What is learned: weights in coordinates that suit optimisers, or the coefficients themselves.
ORTHOGONAL, COEFFICIENTS = "orthogonal", "coefficients"
PARAMETRIZATIONS = (ORTHOGONAL, COEFFICIENTS)

# What a state has beside the coefficients, so that loading it is exact: the learned numbers themselves, and the
# frequencies that their coordinates were made for.
_EXACT, _NODES = "coordinates", "frequencies"

# Functions of a mean square below ε² are not stretched to size one.
RIDGE = 0.01

# With one input channel: sizes of the functions, and root mean square of the outputs at the start, the inputs having 1.
STRETCH, START = 3.0, 0.3

# The table of E: its ends, as logarithms of the zoom times the middle of the spectrum, and its steps.
LOG_LOW, LOG_HIGH, STEP = -7.0, 9.0, 0.1

# Steps of the Runge–Kutta method within one of the table.
_INNER = 2

# Frequencies that stand for a spectrum.
N_NODES = 128


def spectral_nodes(L: Laplacian, rng: np.random.Generator | int | None = None) -> tuple[float, ...]:
    """Return frequencies that are spread like those of a graph: quantiles of its spectrum, estimated if it is large."""
    density = spectral_density(L, rng=rng)
    share = (np.arange(N_NODES) + 0.5) / N_NODES
    below = np.cumsum(density.weights) / density.weights.sum()
    return tuple(density.nodes[np.searchsorted(below, share).clip(max=density.nodes.size - 1)].tolist())


def default_nodes(normalization: str | None, zoom: float) -> tuple[float, ...]:
    """Return frequencies for a graph that is not known yet.

    Evenly over the spectrum of the normalized Laplacian; for the combinatorial one, whose scale is not known, evenly in
    the angle at the zoom of the start.
    """
    share = (np.arange(N_NODES) + 0.5) / N_NODES
    nodes = 2 * share if normalization == "sym" else np.tan(share * np.pi / 2) / zoom
    return tuple(nodes.tolist())


def sizes(in_channels: int, n_coeffs: int) -> FloatArray:
    r"""Return the sizes that the functions have in a layer.

    .. math:: d_j = 3^{1/n}\, (1 + j)^{-(1 - 1/n)}, \qquad n \text{ input channels}

    A single filter is identified from all its outputs: its functions are alike, and large, so that a step of the
    weights counts for as much beside one of log h. An output of many channels is moved by all of them at once and has
    far more weights than it can tell apart: there the first functions, which vary least over the spectrum, are of size
    one, and function j starts smaller, moves less and decays faster, like 1 / (1 + j).
    """
    share = 1 / in_channels
    return STRETCH**share * np.arange(1.0, n_coeffs + 1) ** (share - 1)


def start_power(in_channels: int, n_coeffs: int) -> float:
    """Return what the variance of the weights at the start is divided by.

    An output then has 0.3 to the power 1/n times the root mean square of the inputs, for n input channels, if their
    frequencies are spread as the functions expect: a single small filter lets the zoom start in the right direction.
    """
    return float(np.sum(sizes(in_channels, n_coeffs) ** 2)) / START ** (2 / in_channels)


def plain_start_power(in_channels: int, order: int, *, real: bool) -> float:
    r"""Return the same as :func:`start_power` where the coefficients themselves are drawn.

    The squares of 2 Re Cʲ and 2 Im Cʲ add up to 4 at every frequency and zoom. Real coefficients have the first of the
    two alone, for which half of that is taken.
    """
    return (1 + (2 if real else 4) * order) / START ** (2 / in_channels)


@lru_cache(maxsize=32)
def coordinate_table(order: int, real: bool, nodes: tuple[float, ...]) -> tuple[float, FloatArray]:
    """Return the first log h of the table, and E and dE/d log h from there on, shape (n, 2, k, k), ``STEP`` apart.

    They are made for frequencies ``nodes``, each counting alike, and of cosines alone if ``real``.
    """
    lam = np.array(nodes)
    middle = -math.log(float(np.median(lam[lam > 0]))) if (lam > 0).any() else 0.0
    n_below, n_above = round(-LOG_LOW / STEP), round(LOG_HIGH / STEP)
    start = _orthonormal(order, real, lam, middle)
    below = _transport(order, real, lam, middle, start, -STEP, n_below)
    above = _transport(order, real, lam, middle, start, STEP, n_above)
    table = np.array([*reversed(below[1:]), *above])
    table.setflags(write=False)
    return middle + LOG_LOW, table


def _orthonormal(order: int, real: bool, lam: FloatArray, z: float) -> FloatArray:
    """Return the triangular E at one zoom."""
    basis = power_basis(order, math.exp(z) * lam, real=real)
    G = basis.T @ basis / lam.size + RIDGE**2 * np.eye(basis.shape[1])
    return np.linalg.inv(np.linalg.cholesky(G).T)


def _transport(
    order: int, real: bool, lam: FloatArray, z: float, E: FloatArray, step: float, n_steps: int
) -> list[tuple[FloatArray, FloatArray]]:
    """Follow E from z in one direction by the classical Runge–Kutta method; return E and its derivative."""
    h = step / _INNER
    slope = _slope(order, real, lam, z)
    path: list[tuple[FloatArray, FloatArray]] = [(E, slope @ E)]
    for k in range(n_steps * _INNER):
        middle, end = (_slope(order, real, lam, z + (k + part) * h) for part in (0.5, 1.0))
        k1 = slope @ E
        k2 = middle @ (E + h / 2 * k1)
        k3 = middle @ (E + h / 2 * k2)
        k4 = end @ (E + h * k3)
        E, slope = E + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), end
        if (k + 1) % _INNER == 0:
            path.append((E, slope @ E))
    return path


def _slope(order: int, real: bool, lam: FloatArray, z: float) -> FloatArray:
    """Return −(G + ε²)⁻¹ M."""
    derivative = zoom_derivative(order, real=real)
    wide = power_basis(order + 1, math.exp(z) * lam, real=real)
    size = derivative.shape[0]
    G = wide[:, :size].T @ wide[:, :size] / lam.size + RIDGE**2 * np.eye(size)
    M = wide[:, :size].T @ (wide @ derivative.T) / lam.size
    return -np.linalg.solve(G, M)


def coordinates_at(table: Tensor, first: Tensor, log_zoom: Tensor) -> Tensor:
    """Return E at each zoom, shape (..., k, k), by cubic Hermite interpolation; constant beyond the table.

    ``first`` is log h where the table begins. The result can be differentiated in ``log_zoom``.
    """
    n = table.shape[0]
    u = ((log_zoom.to(table.dtype) - first) / STEP).clamp(0, n - 1)
    index = u.detach().nan_to_num().floor().clamp(max=n - 2).long()
    t = (u - index)[..., None, None]
    left, right = (table.index_select(0, i.reshape(-1)).view(*i.shape, *table.shape[1:]) for i in (index, index + 1))
    a, da, b, db = left.select(-3, 0), left.select(-3, 1), right.select(-3, 0), right.select(-3, 1)
    s = 1 - t
    return s * s * ((1 + 2 * t) * a + STEP * t * da) + t * t * ((1 + 2 * s) * b - STEP * s * db)


def coefficients_of(weights: Tensor, E: Tensor) -> Tensor:
    """Return the coefficients c = E w, for weights of shape (k, ...), or (k, in, out) with an E per output."""
    if E.dim() == 3:
        return torch.einsum("obk,kio->bio", E, weights)
    return torch.tensordot(E, weights, 1)


def weights_of(coefficients: Tensor, E: Tensor) -> Tensor:
    """Return the weights w that have the given coefficients: the inverse of :func:`coefficients_of`, in double."""
    E, c = E.double(), coefficients.double()
    if E.dim() == 3:
        return torch.linalg.solve(E, c.permute(2, 0, 1)).permute(1, 2, 0)
    return torch.linalg.solve(E, c.reshape(c.shape[0], -1)).reshape(c.shape)


class CoordinateConv(GraphConv):
    """What a layer of Cayley filters learns: coordinates of its coefficients, or these themselves."""

    matrix = GraphLaplacian
    order: int
    real_coeffs: bool
    shared_filter: bool
    parametrization: str
    log_zoom: Parameter
    coeffs: Parameter
    # the table of coordinates and where it begins; none where the coefficients themselves are learned
    _table: Tensor | None
    _table_start: Tensor | None

    def _spread_nodes(self, zoom: float) -> None:
        """Choose coordinates for a graph that is not known yet, with the zoom that training starts from."""
        self._nodes = default_nodes(self.normalization, zoom)
        self.register_buffer("_table", None, persistent=False)
        self.register_buffer("_table_start", None, persistent=False)

    @property
    def frequencies(self) -> Tensor:
        """The frequencies that the coordinates were made for, in double precision; see :meth:`adapt_to`."""
        return torch.tensor(self._nodes, dtype=torch.float64, device="cpu")

    @frequencies.setter
    def frequencies(self, value: Any) -> None:
        raise AttributeError(
            "`frequencies` cannot be set, use adapt_to; functional_call takes what named_parameters gives, not a "
            "state_dict, which holds coefficients"
        )

    @property
    def n_coeffs(self) -> int:
        """Real parameters of one filter."""
        return basis_size(self.order, real=self.real_coeffs)

    def _make_table(self) -> None:
        """Fill in the table of coordinates, on the device and in the precision of the zoom, if there are any."""
        if self.parametrization == ORTHOGONAL:
            zoom = self.log_zoom
            self._table, self._table_start = self._tables(self.in_channels, zoom.dtype, zoom.device)

    def _tables(self, in_channels: int, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
        """Return the table of coordinates, with functions of the sizes of the layer, and the first log h of it."""
        first, table = coordinate_table(self.order, self.real_coeffs, self._nodes)
        # how many filters add up to one output; one as long as it is not known
        fan_in = 1 if self.shared_filter else max(in_channels, 1)
        table = table * sizes(fan_in, self.n_coeffs)
        return torch.tensor(table, dtype=dtype, device=device), torch.tensor(first, dtype=dtype, device=device)

    @property
    def parameter(self) -> Parameter:
        """A parameter whose precision and device are those of the layer."""
        return cast(Parameter, self.weight)

    def _weight_shape(self, in_channels: int) -> tuple[int, ...]:
        pair = (in_channels, self.out_channels)
        return pair if self.shared_filter else (self.n_coeffs, *pair)

    def _make_weight(self) -> None:
        """Register the weights; with unknown input channels they get their shape at the first call."""
        if self.in_channels == -1:
            self.register_parameter("weight", cast(Parameter, UninitializedParameter()))
        else:
            self.weight = Parameter(torch.empty(self._weight_shape(self.in_channels)))

    def _give_shape(self, in_channels: int) -> None:
        self.in_channels = in_channels
        cast(UninitializedParameter, self.weight).materialize(self._weight_shape(in_channels))
        self._make_table()

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        super()._apply(fn, recurse)
        self._make_table()  # not what another precision has left of it
        return self

    @property
    def _is_unknown(self) -> bool:
        """Whether the layer has no filters yet."""
        return self.is_lazy and not self.shared_filter

    def _learned(self) -> Tensor:
        learned = self.coeffs if self.shared_filter else self.weight
        if isinstance(learned, UninitializedParameter):
            raise ValueError(NO_FILTERS)
        return learned

    def _coordinates(self) -> Tensor:
        """Return E at the present zoom."""
        assert self._table is not None
        assert self._table_start is not None
        return coordinates_at(self._table, self._table_start, self.log_zoom)

    def coefficients(self) -> Tensor:
        r"""Return the coefficients :math:`c_0, \mathrm{Re}\,c_1, \mathrm{Im}\,c_1, \dots` of all filters.

        Returns
        -------
        Tensor, shape (2r + 1, in_channels, out_channels), or (2r + 1,) with ``shared_filter``
            Only real parts with ``real_coeffs``. It can be differentiated in weights and zoom. Where the coefficients
            are what is learned, it is the parameter itself.

        Examples
        --------
        >>> from cayleygsp.nn import CayleyConv
        >>> CayleyConv(2, 3, order=4).coefficients().shape
        torch.Size([9, 2, 3])
        """
        with full_precision(self.log_zoom):
            return self._coefficients()

    def _coefficients(self) -> Tensor:
        """Return the coefficients where autocast is off already."""
        learned = self._learned()
        return learned if self._table is None else coefficients_of(learned, self._coordinates())

    def set_coefficients(self, coefficients: Tensor) -> None:
        """Set the weights to those with the given coefficients, see :meth:`coefficients`, at the present zoom.

        Parameters
        ----------
        coefficients : Tensor
            Real and finite, in the shape that :meth:`coefficients` has.
        """
        learned = self._learned()
        if not isinstance(coefficients, Tensor):
            raise TypeError(f"`coefficients` must be a tensor, got {type(coefficients).__name__}")
        if coefficients.is_complex():
            raise TypeError(f"`coefficients` must be real numbers, got dtype {coefficients.dtype}")
        if coefficients.shape != learned.shape:
            raise ValueError(f"`coefficients` must have shape {tuple(learned.shape)}, got {tuple(coefficients.shape)}")
        if coefficients.device.type != "meta" and not bool(coefficients.isfinite().all()):
            first = coefficients[~coefficients.isfinite()][0].item()
            raise ValueError(f"`coefficients` must be finite, got {first}")
        self._write(coefficients)

    def _write(self, coefficients: Tensor) -> None:
        """Set the weights to those with checked coefficients."""
        learned = self._learned()
        with torch.no_grad(), full_precision(self.log_zoom):
            c = coefficients.to(learned.device)
            learned.copy_(c if self._table is None else weights_of(c, self._coordinates()))

    def adapt_to(self, graph: GraphLike, rng: np.random.Generator | int | None = 0) -> Self:
        """Learn in coordinates for the spectrum of a graph, in the place of one that is spread evenly.

        All filters stay what they are, to rounding. Do this before the training: it changes the parameters, of which
        an optimiser may have kept averages. The frequencies are part of ``state_dict``: a layer that loads it learns in
        the same coordinates.

        Parameters
        ----------
        graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
            See :func:`cayleygsp.laplacian`; the kind of Laplacian is that of the layer.
        rng : numpy.random.Generator or int, optional
            For the probes by which the spectrum of a large graph is estimated. By default a fixed seed, so that all
            processes learn in the same coordinates.

        Returns
        -------
        Self
            The layer itself.

        Raises
        ------
        ValueError
            If the layer learns the coefficients themselves.
        """
        if self.parametrization == COEFFICIENTS:
            raise ValueError(
                f"`adapt_to` needs parametrization={ORTHOGONAL!r}: the layer learns coefficients themselves"
            )
        nodes = spectral_nodes(core_laplacian(graph, NORMALIZATIONS[self.normalization]), rng)
        kept = None if self._is_unknown else self.coefficients().detach()
        self._nodes = nodes
        self._make_table()
        if kept is not None:
            self._write(kept)
        return self

    @property
    def _learned_name(self) -> str:
        return "coeffs" if self.shared_filter else "weight"

    @contextmanager
    def _without_lazy_weight(self) -> Iterator[None]:
        """Hide weights without a shape for a while: there is nothing to save or to load."""
        weight = self._parameters["weight"]
        is_lazy = isinstance(weight, UninitializedParameter)
        if is_lazy:
            self._parameters["weight"] = None
        try:
            yield
        finally:
            if is_lazy:
                self._parameters["weight"] = weight

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        with self._without_lazy_weight():
            super()._save_to_state_dict(destination, prefix, keep_vars)
        name = prefix + self._learned_name
        if name in destination and self._table is not None:
            learned, c = destination[name], self.coefficients().contiguous()
            destination[name] = c if keep_vars else c.detach()
            destination[prefix + _EXACT] = learned
        destination[prefix + _NODES] = self.frequencies

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, metadata: Any, strict: bool, missing: list[str], *lists: list[str]
    ) -> None:
        name = prefix + self._learned_name
        given, exact = state_dict.get(name), state_dict.pop(prefix + _EXACT, None)
        nodes = state_dict.pop(prefix + _NODES, None)
        log_zoom = state_dict.get(prefix + "log_zoom", self.log_zoom)
        kept, convert = self._nodes, self._can_convert(given, log_zoom)
        if nodes is None and strict and self._table is not None:  # parameters by their names are no coefficients
            missing.append(prefix + _NODES)
        if nodes is not None and not (isinstance(nodes, Tensor) and nodes.is_meta):
            is_row = isinstance(nodes, Tensor) and nodes.shape == (N_NODES,) and nodes.is_floating_point()
            if not is_row or not bool(nodes.isfinite().all()):
                lists[-1].append(f"`{prefix}{_NODES}` must hold {N_NODES} finite numbers, got {nodes}")
            elif convert or (given is None and self._is_unknown):
                self._nodes = tuple(nodes.double().tolist())
        if convert and self._table is not None:
            state_dict[name] = self._weights_to_load(given.detach(), exact, log_zoom.detach())
        weight, refused = state_dict.get(prefix + "weight"), False
        if self.is_lazy and weight is not None:
            shape = tuple(getattr(weight, "shape", ()))
            refused = len(shape) < 2 or shape[-2] == 0 or shape != self._weight_shape(shape[-2])
            if refused:  # as torch says it; the layer stays lazy
                needed = f"the layer needs {self._weight_shape(-1)}, -1 being any number"
                lists[-1].append(f"size mismatch for {prefix}weight: got shape {shape}, {needed}")
                del state_dict[prefix + "weight"]
            else:
                with outside_inference():
                    self._give_shape(shape[-2])
        with self._without_lazy_weight():
            super()._load_from_state_dict(state_dict, prefix, metadata, strict, missing, *lists)
        if refused:
            state_dict[prefix + "weight"] = weight
        if name in state_dict:
            state_dict[name] = given
        place, zoom = self._table, self.log_zoom
        is_elsewhere = place is not None and (place.dtype, place.device) != (zoom.dtype, zoom.device)
        if self._nodes != kept or is_elsewhere:
            self._make_table()

    def _can_convert(self, given: Any, log_zoom: Any) -> bool:
        """Whether these can be coefficients and zooms of the layer; if not, torch says what is wrong."""
        if not (isinstance(given, Tensor) and isinstance(log_zoom, Tensor) and given.is_floating_point()):
            return False
        if self.shared_filter:
            shape: tuple[int, ...] = (self.n_coeffs,)
        else:
            shape = self._weight_shape(given.shape[-2:-1].numel() if self.is_lazy else self.in_channels)
        return tuple(given.shape) == shape and log_zoom.shape == self.log_zoom.shape

    def _weights_to_load(self, coefficients: Tensor, exact: Any, log_zoom: Tensor) -> Tensor:
        """Return the weights that came with the coefficients if they still belong to them, else those that do.

        They belong to them if they give the same numbers in the precision of the state, which need not be the layer's.
        """
        device = coefficients.device if self.log_zoom.is_meta else self.log_zoom.device
        c, log_zoom = coefficients.to(device), log_zoom.to(device)
        in_channels = self.in_channels if self.shared_filter else c.shape[-2]

        def coordinates(dtype: torch.dtype) -> Tensor:
            return coordinates_at(*self._tables(in_channels, dtype, device), log_zoom)

        with full_precision(c):
            if isinstance(exact, Tensor) and exact.shape == c.shape and exact.dtype == c.dtype and not c.is_meta:
                w = exact.detach().to(device)
                if torch.equal(coefficients_of(w, coordinates(c.dtype)), c):
                    return w.to(coefficients.device)
            finer = torch.promote_types(c.dtype, self.log_zoom.dtype)
            return weights_of(c, coordinates(finer)).to(coefficients).contiguous()


def parameter_groups(module: nn.Module, lr: float = 1e-3, *, zoom_factor: float = 10.0) -> list[dict[str, Any]]:
    """Return the parameters of a model in groups for an optimiser of torch, zooms apart from all others.

    One step of Adam changes a parameter by no more than about the learning rate. Weights of the size one are within
    reach of its default rate of 0.001; log h is not, whose right value may be several units away.

    Parameters
    ----------
    module : torch.nn.Module
        A model, with layers of Cayley filters anywhere in it.
    lr : float
        Learning rate of all parameters but the zooms; by default that of Adam.
    zoom_factor : float
        How many times as long the steps of log h are.

    Returns
    -------
    list of dict
        What any optimiser of torch takes in the place of parameters. Zooms are the last group, without weight decay,
        which would draw them to 1; a group that would be empty is left out.

    Raises
    ------
    ValueError
        If a number is not positive and finite.

    Examples
    --------
    >>> import torch
    >>> from cayleygsp.nn import CayleyConv, parameter_groups
    >>> model = torch.nn.ModuleList([CayleyConv(1, 8, order=3), torch.nn.Linear(8, 2)])
    >>> optimizer = torch.optim.Adam(parameter_groups(model), weight_decay=5e-4)
    >>> [(len(group["params"]), group["lr"], group["weight_decay"]) for group in optimizer.param_groups]
    [(4, 0.001, 0.0005), (1, 0.01, 0.0)]
    """
    lr, zoom_factor = check_positive(lr, "lr"), check_positive(zoom_factor, "zoom_factor")
    zooms = {layer.log_zoom: None for layer in module.modules() if isinstance(layer, CoordinateConv)}
    others = [parameter for parameter in module.parameters() if parameter not in zooms]
    groups = [{"params": others, "lr": lr}, {"params": list(zooms), "lr": zoom_factor * lr, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]
