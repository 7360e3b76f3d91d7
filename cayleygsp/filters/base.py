"""A response bound to one graph: the base of all filters."""

from __future__ import annotations

import warnings
from typing import Any, Literal, overload

import numpy as np
from scipy.sparse.linalg import LinearOperator

from cayleygsp._memory import available_memory, format_bytes
from cayleygsp._typing import Array, ArrayLike, Method
from cayleygsp._validation import check_choice, check_integer, check_positive, check_signals, check_vertex
from cayleygsp.filters.info import ConvergenceWarning, FilterInfo
from cayleygsp.filters.signals import SignalBlock
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.choice import METHODS, make_method
from cayleygsp.responses.base import Response


class GraphFilter(LinearOperator):
    """A real response bound to one graph: the base of all filters, a scipy ``LinearOperator``.

    Besides what is listed here, everything that scipy does with linear operators works: ``g @ f``, sums, products,
    ``g.H``, Krylov solvers.

    Attributes
    ----------
    laplacian : Laplacian
        The graph.
    response : callable
        The response g.
    method : str
        How it is applied; for "auto", what was chosen.
    tol : float or None
        Error allowed, relative to the gain.
    """

    def __init__(
        self,
        L: Laplacian,
        response: Response,
        method: Method,
        tol: float | None,
        n_iter: int | None = None,
        normalize: bool = False,
    ) -> None:
        check_choice(method, "method", METHODS)
        self.tol = None if tol is None else check_positive(tol, "tol")
        if n_iter is not None:
            n_iter = check_integer(n_iter, "n_iter", at_least=0)
        if not isinstance(normalize, bool):
            raise TypeError(f"`normalize` must be True or False, got {normalize!r}")
        if method != "jacobi" and (n_iter is not None or normalize):
            raise ValueError(f"`n_iter` and `normalize` belong to method='jacobi', got method={method!r}")
        self.laplacian = L
        self.response = response
        self._method, self.reason = make_method(L, [response], method, self.tol, n_iter, normalize)
        self._may_fall_short = n_iter is not None  # a fixed number of sweeps is the user's own choice
        self.gain = float(self._method.gains[0])
        super().__init__(np.dtype(np.float64), (L.n_vertices, L.n_vertices))

    @property
    def method(self) -> str:
        """The method in use."""
        return self._method.name

    @property
    def n_vertices(self) -> int:
        """Number of vertices of the graph."""
        return self.laplacian.n_vertices

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.response!r}, n_vertices={self.n_vertices}, method={self.method!r}, "
            f"tol={self.tol})"
        )

    def evaluate(self, eigenvalues: ArrayLike) -> Array:
        """Return the response g at the given frequencies.

        Parameters
        ----------
        eigenvalues : array_like
            Frequencies, of any shape.
        """
        return self.response(eigenvalues)

    @overload
    def filter(self, signals: ArrayLike, *, return_info: Literal[False] = False) -> Array: ...
    @overload
    def filter(self, signals: ArrayLike, *, return_info: Literal[True]) -> tuple[Array, FilterInfo]: ...

    def filter(self, signals: ArrayLike, *, return_info: bool = False) -> Array | tuple[Array, FilterInfo]:
        r"""Return g(Δ) f.

        Parameters
        ----------
        signals : array_like, shape (n_vertices,) or (n_vertices, n_signals)
            Real or complex, single or double precision.
        return_info : bool
            Also return what is known of the result.

        Returns
        -------
        filtered : numpy.ndarray
            Of the shape and dtype of the signals (whole numbers give float64).
        info : FilterInfo
            Only with ``return_info``.

        Warns
        -----
        ConvergenceWarning
            If the tolerance could not be certified.
        """
        block = SignalBlock(check_signals(signals, self.n_vertices), self._method)
        applied = self._method.apply(block.real, certify=return_info)
        y = applied.signals[0] if self._method.is_bank else applied.signals
        filtered, rounding = block.restore(y)
        bounds = np.asarray(applied.error_bound) + rounding
        converged = bool((bounds <= self.tol * self.gain if self.tol is not None else np.isfinite(bounds)).all())
        certified = return_info or bool(np.isfinite(bounds).all())
        if not converged and certified and not self._may_fall_short:
            self._warn(float(bounds.max()))
        if not return_info:
            return filtered
        return filtered, FilterInfo(
            method=self.method,
            error_bound=block.bound(bounds),
            converged=converged,
            n_matvecs=applied.n_matvecs,
            tol=self.tol,
            gain=self.gain,
            certificate=self._method.certificate,
            reason=self.reason,
            residuals=applied.residuals,
        )

    def _warn(self, bound: float) -> None:
        wanted = "any accuracy" if self.tol is None else f"tol={self.tol:.3g}"
        reached = f"{bound / self.gain:.3g} of the gain" if self.gain else f"{bound:.3g}, and the gain is zero"
        warnings.warn(
            f"method={self.method!r} could not certify {wanted}: the error is at most {reached} "
            "(zoom, precision of the signals and tolerance decide what rounding allows)",
            ConvergenceWarning,
            stacklevel=3,
        )

    def localize(self, vertex: int) -> Array:
        """Return g(Δ) δ, the filter seen from one vertex.

        Parameters
        ----------
        vertex : int
            Where the unit impulse sits.
        """
        delta = np.zeros(self.n_vertices)
        delta[check_vertex(vertex, self.n_vertices)] = 1.0
        return self.filter(delta)

    def toarray(self) -> Array:
        """Return the dense matrix of the filter as it is applied.

        Raises
        ------
        MemoryError
            If it would not fit.
        """
        needed, available = 5 * 8 * self.n_vertices**2, available_memory()
        if needed > available:
            raise MemoryError(
                f"the dense matrix of {self.n_vertices} vertices needs {format_bytes(needed)} and "
                f"{format_bytes(available)} are available; apply the filter to signals instead"
            )
        return self.filter(np.eye(self.n_vertices))

    def dot(self, x: Any) -> Any:
        """Return the filtered signals, or the product with another operator or a number."""
        return super().dot(x) if isinstance(x, LinearOperator) or np.ndim(x) == 0 else self.filter(x)

    def _matvec(self, x: Array) -> Array:
        return self.filter(x.reshape(-1)).reshape(x.shape)

    def _matmat(self, X: Array) -> Array:
        return self.filter(X)

    def _apply_adjoint(self, signals: ArrayLike) -> Array:
        block = SignalBlock(check_signals(signals, self.n_vertices), self._method)
        y = self._method.apply_adjoint(block.real[None] if self._method.is_bank else block.real)
        return block.restore(y)[0]

    def _rmatvec(self, x: Array) -> Array:
        return self._apply_adjoint(x.reshape(-1)).reshape(x.shape)

    def _rmatmat(self, X: Array) -> Array:
        return self._apply_adjoint(X)
