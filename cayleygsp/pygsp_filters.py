"""Cayley filters for PyGSP: a ``pygsp.filters.Filter`` with a tolerance in place of an order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pygsp import filters, graphs

from cayleygsp._typing import Array, ArrayLike, Kernel, Method
from cayleygsp._validation import check_positive
from cayleygsp.filters import FilterBank
from cayleygsp.laplacians import laplacian
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.function import as_response


class Cayley(filters.Filter):
    r"""A bank of Cayley filters on a PyGSP graph.

    Everything that PyGSP does with filters works: ``filter``, ``analyze``, ``synthesize``, ``evaluate``,
    ``localize``, ``plot``, ``estimate_frame_bounds``, ``compute_frame``, ``+`` and indexing. Signals follow PyGSP's
    convention (n_vertices, n_signals, n_features), and unlike PyGSP's own filters keep single precision and complex
    numbers. Filtering is by one recurrence for the whole bank, to the tolerance asked for.

    Parameters
    ----------
    G : pygsp.graphs.Graph
        The graph; its ``lap_type`` decides which Laplacian is used.
    polynomials : CayleyPolynomial or sequence of them
        One per filter; zooms may differ. Functions of frequency, PyGSP's kernels, may stand among them.
    tol : float
        Error allowed to each filter, relative to its largest response.

    Examples
    --------
    >>> import numpy as np
    >>> from pygsp import graphs
    >>> from cayleygsp import CayleyPolynomial
    >>> from cayleygsp.pygsp_filters import Cayley
    >>> G = graphs.Ring(60)
    >>> g = Cayley(G, [CayleyPolynomial([0.5, -0.25], zoom) for zoom in (1.0, 10.0)])
    >>> g
    Cayley(in=1, out=2, order=[1, 1], zoom=[1, 10], tol=1e-06)
    >>> g.filter(np.ones((60, 5))).shape
    (60, 5, 2)
    """

    def __init__(
        self,
        G: graphs.Graph,
        polynomials: CayleyPolynomial | Sequence[CayleyPolynomial | Kernel],
        *,
        tol: float = 1e-6,
    ) -> None:
        if not isinstance(G, graphs.Graph):
            raise TypeError(f"`G` must be a pygsp.graphs.Graph, got {type(G).__name__}; see cayleygsp.CayleyFilter")
        kernels = [polynomials] if callable(polynomials) else polynomials
        if not isinstance(kernels, Sequence) or not kernels or not all(callable(kernel) for kernel in kernels):
            raise TypeError(f"`polynomials` must be a CayleyPolynomial or a sequence of some, got {polynomials!r}")
        self.tol = check_positive(tol, "tol")
        self._banks: dict[tuple[str, str, float], FilterBank] = {}
        super().__init__(G, list(kernels))

    def _get_extra_repr(self) -> dict[str, Any]:
        polynomials = list(filter(None, (as_response(kernel).cayley_form for kernel in self._kernels)))
        return {
            "order": f"[{', '.join(str(p.order) for p in polynomials)}]",
            "zoom": f"[{', '.join(f'{p.zoom:g}' for p in polynomials)}]",
            "tol": f"{self.tol:g}",
        }

    def __getitem__(self, key: int | slice) -> Cayley:
        return Cayley(self.G, self._kernels[key], tol=self.tol)

    def __add__(self, other: filters.Filter) -> Cayley:
        if not isinstance(other, filters.Filter):
            return NotImplemented
        return Cayley(self.G, self._kernels + list(other._kernels), tol=self.tol)

    def __call__(self, x: graphs.Graph | ArrayLike) -> Cayley | Array:
        """Bind the bank to another graph, or evaluate it at frequencies."""
        return Cayley(x, self._kernels, tol=self.tol) if isinstance(x, graphs.Graph) else self.evaluate(x)

    def bank(self, *, method: Method = "auto", tol: float | None = None) -> FilterBank:
        """Return the filters as a :class:`FilterBank`, whose ``filter`` also tells the certified errors."""
        key = (self.G.lap_type, method, self.tol if tol is None else tol)
        if key not in self._banks:
            L = next((bank.laplacian for (kind, *_), bank in self._banks.items() if kind == key[0]), None)
            self._banks[key] = FilterBank(L or laplacian(self.G), self._kernels, tol=key[2], method=method)
        return self._banks[key]

    def filter(self, s: ArrayLike, method: Method = "auto", order: None = None, *, tol: float | None = None) -> Array:
        """Filter signals: analysis, or synthesis where the last dimension is the number of filters.

        Parameters
        ----------
        s : array_like, shape (n_vertices[, n_signals[, n_features]])
            As for ``pygsp.filters.Filter.filter``: a last dimension that equals the number of filters (above one)
            means synthesis. Give three dimensions to be sure what is done.
        method : {"auto", "chebyshev", "exact"}
            The recurrence, or the eigenbasis.
        order : None
            Not used: the degree follows from the tolerance.
        tol : float, optional
            In place of the bank's own.

        Returns
        -------
        numpy.ndarray
            Dimensions of size one are squeezed, as PyGSP does.
        """
        if order is not None:
            raise ValueError(f"`order` is chosen from the tolerance: give `tol` instead, got order={order}")
        f = self.G._check_signal(np.asarray(s))
        if f.ndim > 3:
            raise ValueError(f"`s` must have at most 3 dimensions (vertices, signals, features), got {f.ndim}")
        if f.ndim == 3 and f.shape[2] not in (1, self.n_filters):
            raise ValueError(f"`s` must have 1 or {self.n_filters} features in its third dimension, got {f.shape[2]}")
        # the dimensions that PyGSP would add
        if f.ndim == 1 or (f.ndim == 2 and f.shape[1] not in (1, self.n_filters)):
            f = f[..., None]
        if f.ndim == 2:
            f = f[:, None, :]
        bank = self.bank(method=method, tol=tol)
        return (bank.filter(f[:, :, 0]) if f.shape[2] == 1 else bank.synthesize(f)).squeeze()

    def analyze(self, s: ArrayLike, method: Method = "auto", order: None = None) -> Array:
        """Filter every signal with every filter of the bank, to shape (n_vertices, n_signals, n_filters).

        Dimensions of size one are squeezed, as PyGSP does.

        Parameters
        ----------
        s : array_like, shape (n_vertices[, n_signals[, 1]])
            Signals, any number of them. PyGSP's own filters take as many signals as there are filters for features.
        method, order
            As for :meth:`filter`.
        """
        f = np.asarray(s)
        if f.ndim == 3 and f.shape[2] != 1:
            raise ValueError(f"`s` must have one feature in its third dimension, got shape {f.shape}")
        return self.filter(f[:, :, None] if f.ndim == 2 else f, method, order)

    def synthesize(self, s: Array, method: Method = "auto", order: None = None) -> Array:
        """Filter each feature with its own filter and add up."""
        if np.shape(s)[-1] != self.n_filters:
            raise ValueError(f"`s` must have {self.n_filters} features in its last dimension, got shape {np.shape(s)}")
        return self.filter(s, method, order)
