"""Several filters on one graph, applied in one pass."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Literal, overload

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray, GraphLike, Kernel, LaplacianKind, Method
from cayleygsp._validation import check_choice, check_integer, check_positive, check_signals
from cayleygsp.filters.base import GraphFilter
from cayleygsp.filters.cayley import CayleyFilter
from cayleygsp.filters.info import ConvergenceWarning, FilterInfo
from cayleygsp.filters.signals import SignalBlock
from cayleygsp.laplacians import laplacian
from cayleygsp.methods.base import over
from cayleygsp.methods.choice import make_method
from cayleygsp.responses.base import Response
from cayleygsp.responses.function import as_response


class FilterBank:
    r"""Several filters on one graph, applied to a block of signals in one recurrence.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    responses : sequence
        Cayley polynomials (zooms may differ), Chebyshev polynomials and functions of frequency.
    tol : float
        Error allowed to each filter, relative to its gain.
    method : {"auto", "chebyshev", "exact"}
        "exact" uses the eigenbasis.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> zooms = [0.1, 1.0, 10.0]
    >>> bank = cg.FilterBank(cg.gallery.grid(20), [cg.CayleyPolynomial([0.5, -0.25], h) for h in zooms])
    >>> bank.filter(np.ones((400, 5))).shape
    (400, 5, 3)
    """

    def __init__(
        self,
        graph: GraphLike,
        responses: Response | Kernel | Sequence[Response | Kernel],
        tol: float = 1e-6,
        method: Method = "auto",
        *,
        kind: LaplacianKind | None = None,
    ) -> None:
        self.laplacian = laplacian(graph, kind)
        given = [responses] if callable(responses) else list(responses)
        self.responses: list[Response] = [as_response(p) for p in given]
        if not self.responses:
            raise ValueError("`responses` must hold at least one filter, got none")
        check_choice(method, "method", ("auto", "chebyshev", "exact"))
        self.tol = check_positive(tol, "tol")
        if method == "auto":
            method = "exact" if self.laplacian.has_eigenbasis and self.laplacian.n_vertices <= 500 else "chebyshev"
        self._method, self.reason = make_method(self.laplacian, self.responses, method, self.tol, None, False)
        self.gains = self._method.gains

    @property
    def method(self) -> str:
        """The method in use."""
        return self._method.name

    def __len__(self) -> int:
        return len(self.responses)

    def __iter__(self) -> Iterator[GraphFilter]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> GraphFilter:
        """Return one of the filters."""
        response = self.responses[check_integer(index, "index", at_least=-len(self))]
        method: Method = "exact" if self.method == "exact" else "chebyshev"
        if response.cayley_form is not None:
            return CayleyFilter(self.laplacian, response.cayley_form, method=method, tol=self.tol)
        return GraphFilter(self.laplacian, response, method=method, tol=self.tol)

    def __repr__(self) -> str:
        return f"FilterBank(n_filters={len(self)}, n_vertices={self.laplacian.n_vertices}, method={self.method!r})"

    def evaluate(self, eigenvalues: ArrayLike) -> Array:
        """Return the responses, shape (n_filters,) followed by that of the frequencies."""
        return np.stack([response(eigenvalues) for response in self.responses])

    @overload
    def filter(self, signals: ArrayLike, *, return_info: Literal[False] = False) -> Array: ...
    @overload
    def filter(self, signals: ArrayLike, *, return_info: Literal[True]) -> tuple[Array, FilterInfo]: ...

    def filter(self, signals: ArrayLike, *, return_info: bool = False) -> Array | tuple[Array, FilterInfo]:
        """Apply all filters to all signals (analysis).

        Parameters
        ----------
        signals : array_like, shape (n_vertices,) or (n_vertices, n_signals)
            Real or complex, single or double precision.
        return_info : bool
            Also return what is known of the result; bounds and gains come one a filter.

        Returns
        -------
        filtered : numpy.ndarray
            Shape of the signals followed by the number of filters.
        info : FilterInfo
            Only with ``return_info``.
        """
        block = SignalBlock(check_signals(signals, self.laplacian.n_vertices), self._method)
        applied = self._method.apply(block.real, certify=return_info)
        restored = [block.restore(y) for y in applied.signals]
        filtered = np.stack([y for y, _ in restored], axis=-1)
        bounds = np.asarray(applied.error_bound) + [rounding.max(initial=0.0) for _, rounding in restored]
        converged = bool((bounds <= self.tol * self.gains).all())
        if not converged:
            self._warn(bounds)
        if not return_info:
            return filtered
        return filtered, FilterInfo(
            method=self.method,
            error_bound=bounds,
            converged=converged,
            n_matvecs=applied.n_matvecs,
            tol=self.tol,
            gain=self.gains,
            certificate=self._method.certificate,
            reason=self.reason,
        )

    def _warn(self, bounds: FloatArray) -> None:
        worst = int(np.argmax(over(bounds, self.gains)))
        warnings.warn(
            f"the bank could not certify tol={self.tol:.3g}: the error of filter {worst} is at most "
            f"{bounds[worst] / self.gains[worst]:.3g} of its gain",
            ConvergenceWarning,
            stacklevel=3,
        )

    def synthesize(self, coefficients: ArrayLike) -> Array:
        """Apply the adjoint: filter i to the i-th signals, and add up.

        Parameters
        ----------
        coefficients : array_like, shape (n_vertices, n_filters) or (n_vertices, n_signals, n_filters)
            As :meth:`filter` returns them.
        """
        y = np.asarray(coefficients)
        if y.ndim not in (2, 3) or y.shape[-1] != len(self):
            raise ValueError(f"`coefficients` must have shape (n_vertices, [n_signals,] {len(self)}), got {y.shape}")
        n = self.laplacian.n_vertices
        blocks = [SignalBlock(check_signals(y[..., i], n, "coefficients"), self._method) for i in range(len(self))]
        return blocks[0].restore(self._method.apply_adjoint(np.stack([b.real for b in blocks])))[0]
