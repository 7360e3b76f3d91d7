"""Layers whose filters are learned in coordinates that suit optimisers, and kept in files as coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.parameter import Parameter
from typing_extensions import Self

from cayleygsp._typing import GraphLike
from cayleygsp.laplacians import laplacian as core_laplacian
from cayleygsp.nn.frame import coefficients_of, default_nodes, frame_at, frame_table, spectral_nodes, weights_of
from cayleygsp.nn.graph_laplacian import NORMALIZATIONS
from cayleygsp.nn.layer import GraphConv
from cayleygsp.responses.basis import basis_size

# What a state has beside the coefficients, so that loading it is exact: the learned numbers themselves.
_EXACT = "coordinates"


class FramedConv(GraphConv):
    """What a layer of Cayley filters learns, see :mod:`cayleygsp.nn.frame`: coordinates of its coefficients."""

    order: int
    real_coeffs: bool
    shared_filter: bool
    initial_zoom: float
    log_zoom: Parameter
    coeffs: Parameter
    _frame: Tensor
    _frame_start: Tensor

    def _spread_nodes(self) -> None:
        """Prepare coordinates for a graph that is not known yet."""
        self._nodes = default_nodes(self.normalization, self.initial_zoom)
        self.register_buffer("_frame", None, persistent=False)
        self.register_buffer("_frame_start", None, persistent=False)

    @property
    def n_coeffs(self) -> int:
        """Real parameters of one filter."""
        return basis_size(self.order, real=self.real_coeffs)

    def _make_frame(self, device: torch.device | None = None) -> None:
        """Fill in the table of coordinates, on a device, or that of the zoom, and in the precision of the zoom."""
        first, table = frame_table(self.order, self.real_coeffs, self._nodes)
        like: dict[str, Any] = {"dtype": self.log_zoom.dtype, "device": device or self.log_zoom.device}
        self._frame, self._frame_start = torch.tensor(table, **like), torch.tensor(first, **like)

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
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

    def adapt_to(self, graph: GraphLike, rng: np.random.Generator | int | None = None) -> Self:
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
        Self
            The layer itself.
        """
        nodes = spectral_nodes(core_laplacian(graph, NORMALIZATIONS[self.normalization]), rng)
        kept = None if self.is_lazy and not self.shared_filter else self.coefficients().detach()
        self._nodes = nodes
        self._make_frame()
        if kept is not None:
            self.set_coefficients(kept)
        return self

    @property
    def _learned_name(self) -> str:
        return "coeffs" if self.shared_filter else "weight"

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        name = prefix + self._learned_name
        if name in destination:
            learned, c = destination[name], self.coefficients()
            destination[name] = c if keep_vars else c.detach()
            destination[prefix + _EXACT] = learned

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any, **kwargs: Any) -> None:
        name = prefix + self._learned_name
        given, exact = state_dict.get(name), state_dict.pop(prefix + _EXACT, None)
        log_zoom = state_dict.get(prefix + "log_zoom", self.log_zoom)
        if self._can_convert(given, log_zoom):
            if self._frame.is_meta and not given.is_meta:
                self._make_frame(given.device)
            frame = self._frame_at(log_zoom.detach().to(self._frame.device))
            state_dict[name] = _weights_to_load(given.detach(), exact, frame)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
        if name in state_dict:
            state_dict[name] = given

    def _can_convert(self, given: Any, log_zoom: Any) -> bool:
        """Whether these can be coefficients and zooms of the layer; if not, torch says what is wrong."""
        if not (isinstance(given, Tensor) and isinstance(log_zoom, Tensor) and given.is_floating_point()):
            return False
        shape = (
            (self.n_coeffs,) if self.shared_filter else (self.n_coeffs, given.shape[-2:-1].numel(), self.out_channels)
        )
        return tuple(given.shape) == shape and log_zoom.shape == self.log_zoom.shape


def _weights_to_load(coefficients: Tensor, exact: Tensor | None, frame: Tensor) -> Tensor:
    """Return the weights that came with the coefficients if they still belong to them, else those that do."""
    c = coefficients.to(frame.device)
    if exact is not None and exact.shape == c.shape:
        w = exact.detach().to(c)
        if not c.is_meta and torch.equal(coefficients_of(w, frame), c):
            return w.to(coefficients)
    return weights_of(c, frame).to(coefficients)
