"""A response bound to one graph: the base of all filters."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from scipy.sparse.linalg import LinearOperator

from cayleygsp._memory import available_memory, format_bytes
from cayleygsp._typing import Array, ArrayLike, GraphLike, Kernel, LaplacianKind, Method
from cayleygsp._validation import check_choice, check_integer, check_positive, check_vertex
from cayleygsp.filters.application import Application, FilterInfo, check_gain
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.methods.choice import METHODS, Choice
from cayleygsp.responses.base import Response, is_real_number
from cayleygsp.responses.function import as_response


class GraphFilter(LinearOperator):
    """A real response bound to one graph: the base of all filters, a scipy ``LinearOperator``.

    Besides what is listed here, everything that scipy does with linear operators works: ``g @ f``, ``g.H``, Krylov
    solvers. Sums, differences, products, multiples and powers of filters on the same graph (``F + G``, ``F @ G``,
    ``2 * F``, ``F ** 2``, ``-F``) are filters again, with a tolerance and a certificate; with other operators they are
    plain scipy operators. Filters can be copied and pickled (one of a function, if the function can): what the method
    has prepared is prepared anew. Like :meth:`filter`, ``g @ f`` and ``g.H @ f`` warn if the tolerance could not be
    certified.

    Attributes
    ----------
    laplacian : Laplacian
        The graph.
    response : callable
        The response g.
    tol : float or None
        Error allowed, relative to the gain.
    gain : float
        Largest response over the spectrum as far as it is known, never overestimated.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> L = cg.laplacian(cg.gallery.ring(20))
    >>> band = cg.KernelFilter(L, cg.responses.Heat(1.0)) - cg.KernelFilter(L, cg.responses.Heat(4.0))
    >>> isinstance(band, cg.GraphFilter), band.shape
    (True, (20, 20))
    >>> band.filter([1.0] * 20, return_info=True)[1].certificate
    'proved'
    """

    _response_name = "polynomial"  # how the constructor calls the response
    _needs_tol = False

    def __init__(
        self,
        L: Laplacian,
        response: Response,
        *,
        method: Method,
        tol: float | None,
        n_iter: int | None = None,
        normalize: bool = False,
    ) -> None:
        check_choice(method, "method", METHODS)
        self.tol = check_positive(tol, "tol") if self._needs_tol or tol is not None else None
        if n_iter is not None:
            n_iter = check_integer(n_iter, "n_iter", at_least=0)
        if not isinstance(normalize, bool):
            raise TypeError(f"`normalize` must be True or False, got {normalize!r}")
        if method != "jacobi" and (n_iter is not None or normalize):
            raise ValueError(f"`n_iter` and `normalize` belong to method='jacobi', got method={method!r}")
        self.laplacian = L
        self.response = response
        check_gain(L, response, self._response_name)
        self._n_iter, self._normalize = n_iter, normalize
        self._choice = Choice(L, [response], method, self.tol, n_iter, normalize)
        self.gain = float(self._choice.gains[0])
        super().__init__(np.dtype(np.float64), (L.n_vertices, L.n_vertices))

    @property
    def method(self) -> Method:
        """How it is applied: "auto" chooses where the number of signals is known.

        This is the method of the latest call, and before the first one that of a single signal.
        """
        return self._choice.latest.method.name  # type: ignore[return-value]

    @property
    def reason(self) -> str:
        """Why this method."""
        return self._choice.latest.reason

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
        """Return the response g at frequencies, an array of any shape."""
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
            Real or complex, finite, of any byte order. Half precision is raised to single precision, whole numbers and
            booleans to double precision.
        return_info : bool
            Also return what is known of the result.

        Returns
        -------
        filtered : numpy.ndarray
            Of the shape and dtype of the signals, or of what they were raised to, in native byte order.
        info : FilterInfo
            Only with ``return_info``.

        Warns
        -----
        ConvergenceWarning
            If the tolerance could not be certified (a number of Jacobi sweeps that was asked for is taken as it is), or
            if the result overflows.
        """
        f = self.laplacian.check_signals(signals)
        done = Application(self._choice, f, self.gain, certify=return_info)
        self._warn(done)
        (filtered,) = done.signals
        return (filtered, done.info(done.block.bound(done.bounds[0]), self.gain)) if return_info else filtered

    def _warn(self, done: Application) -> None:
        """Warn if the tolerance was not certified; a number of sweeps is the user's choice."""
        worst = max(done.bounds[0].tolist(), default=0.0)
        if done.overflows or not (self._n_iter is not None or done.is_enough(worst, self.gain)):
            done.warn(f"method={done.chosen.method.name!r}", worst, self.gain)

    def localize(self, vertex: int) -> Array:
        """Return g(Δ) δ, the filter seen from one vertex, where the unit impulse δ sits."""
        delta = np.zeros(self.n_vertices)
        delta[check_vertex(vertex, self.n_vertices)] = 1.0
        return self.filter(delta)

    def toarray(self) -> Array:
        """Return the dense matrix of the filter as it is applied; raises MemoryError if it would not fit."""
        needed, available = 5 * 8 * self.n_vertices**2, available_memory()
        if available is not None and needed > available:
            raise MemoryError(
                f"the dense matrix of {self.n_vertices} vertices needs {format_bytes(needed)} and "
                f"{format_bytes(available)} are available; apply the filter to signals instead"
            )
        return self.filter(np.eye(self.n_vertices))

    def dot(self, x: Any) -> Any:
        """Return the filtered signals, or the product with another filter, operator or number."""
        if isinstance(x, GraphFilter) and self._shares_graph(x):
            return self._with_response(self.response * x.response, x)
        if is_real_number(x) and self._is_function:
            return self._with_response(float(x) * self.response)
        return super().dot(x) if isinstance(x, LinearOperator) or np.ndim(x) == 0 else self.filter(x)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, GraphFilter) and self._shares_graph(other):
            return self._with_response(self.response + other.response, other)
        return super().__add__(other)

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, GraphFilter) and self._shares_graph(other):
            return self._with_response(self.response - other.response, other)
        return super().__sub__(other)

    def __neg__(self) -> Any:
        return self._with_response(-self.response) if self._is_function else super().__neg__()

    def __rmul__(self, other: Any) -> Any:
        if is_real_number(other) and self._is_function:
            return self._with_response(float(other) * self.response)
        return super().__rmul__(other)

    def __pow__(self, exponent: Any) -> Any:
        whole = isinstance(exponent, int | np.integer) and exponent >= 1
        if whole and self._is_function:
            return self._with_response(self.response**exponent)
        return super().__pow__(exponent)

    @property
    def _is_function(self) -> bool:
        """Whether the operator is the response of the Laplacian up to its error; a fixed number of sweeps is not."""
        return self._choice.asked != "jacobi"

    def _shares_graph(self, other: GraphFilter) -> bool:
        return self._is_function and other._is_function and self.laplacian.equals(other.laplacian)

    def _with_response(self, response: Response, other: GraphFilter | None = None) -> GraphFilter:
        """Return the filter of another response on the same graph, to the smaller of the tolerances."""
        tols = [g.tol for g in (self, other) if g is not None and g.tol is not None]
        return GraphFilter(self.laplacian, response, method="auto", tol=min(tols, default=None))

    def _matmat(self, X: Array) -> Array:
        return self.filter(X)

    def _apply_adjoint(self, signals: ArrayLike) -> Array:
        f = self.laplacian.check_signals(signals)
        done = Application(self._choice, f[None], self.gain, adjoint=True, certify=False)
        self._warn(done)
        return done.signals[0]

    def _rmatvec(self, x: Array) -> Array:
        return self._apply_adjoint(x.reshape(-1)).reshape(x.shape)

    def _rmatmat(self, X: Array) -> Array:
        return self._apply_adjoint(X)


class KernelFilter(GraphFilter):
    """Any response g(λ) that you can write as a function, with the same engine and tolerance.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    function : callable or Response
        Takes an array of frequencies, returns as many real numbers; finite on [0, lmax]. Responses of
        :mod:`cayleygsp.responses`, such as ``Heat(5.0)``, their sums and products prove their own errors.
    method : {"auto", "chebyshev", "exact", "multigrid"}
        A function with jumps has no short series: use "exact" for it on small graphs. "multigrid" is for rational
        responses such as ``Tikhonov(10.0)``.
    tol : float
        Error allowed, relative to the gain. If nothing is known of the function but its values, the certificate
        rests on samples; ``info.certificate`` says so, and ``info.reason`` where they were taken.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.
    lipschitz : float, optional
        A number that no slope of the function exceeds. With it the error bound is proved.
    breakpoints : array_like, optional
        Frequencies beside which the function is sampled densely, so that a feature narrower than the usual samples lie
        apart is seen.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> heat = cg.KernelFilter(cg.gallery.ring(64), lambda lam: np.exp(-5 * lam), tol=1e-8)
    >>> round(float(heat.localize(0).sum()), 6)
    1.0
    """

    _response_name = "function"
    _needs_tol = True

    def __init__(
        self,
        graph: GraphLike,
        function: Kernel,
        *,
        method: Method = "auto",
        tol: float = 1e-6,
        kind: LaplacianKind | None = None,
        lipschitz: float | None = None,
        breakpoints: ArrayLike | None = None,
    ) -> None:
        response = as_response(function, lipschitz=lipschitz, breakpoints=breakpoints)
        super().__init__(laplacian(graph, kind), response, method=method, tol=tol)
