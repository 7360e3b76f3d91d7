"""Graph filters as linear operators: a response bound to one graph."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from scipy.sparse.linalg import LinearOperator

from cayleygsp._memory import available_memory, format_bytes
from cayleygsp._typing import Array, ArrayLike, FloatArray, GraphLike, Kernel, LaplacianKind, Method
from cayleygsp._validation import (
    check_choice,
    check_integer,
    check_positive,
    check_signals,
    check_vertex,
)
from cayleygsp.cayley import CayleyPolynomial
from cayleygsp.chebyshev import ChebyshevPolynomial
from cayleygsp.kernel import KernelResponse
from cayleygsp.laplacian import Laplacian, laplacian
from cayleygsp.methods.base import FilterMethod, Response, column_norms, filter_gain, over
from cayleygsp.methods.choice import METHODS, make_method

if TYPE_CHECKING:
    from cayleygsp.design import Fit, GraphWeight


class ConvergenceWarning(UserWarning):
    """The tolerance could not be certified; the message says what could."""


@dataclass(frozen=True)
class FilterInfo:
    r"""What is known of filtered signals.

    Attributes
    ----------
    method : str
        The method that was used.
    error_bound : float or numpy.ndarray
        An upper bound of :math:`\|Gf - y\|_2 / \|f\|_2`, rounding included: one number, one a signal, or one a
        filter of a bank.
    converged : bool
        Whether the bound is within ``tol`` times the gain.
    n_matvecs : int
        Passes over the graph: products of the Laplacian with all signals at once. The paper's scheme takes
        r (K + 1) of them.
    tol : float or None
        The tolerance that was asked for.
    gain : float or numpy.ndarray
        Largest response over the spectrum as far as it is known, never overestimated; ``tol`` is relative to it.
    certificate : {"proved", "sampled", "estimated"}
        "sampled" if nothing but samples is known of the response (any function given by a user), "estimated" if the
        bound rests on a λ_max from Lanczos (a Chebyshev filter whose ``lmax`` is below the guaranteed one).
    reason : str
        Why this method.
    residuals : tuple of numpy.ndarray
        For iterative methods, one array a power of shape (n_steps, n_signals): residual norms of its solve,
        relative to the signal.
    """

    method: str
    error_bound: float | FloatArray
    converged: bool
    n_matvecs: int
    tol: float | None
    gain: float | FloatArray
    certificate: str
    reason: str
    residuals: tuple[FloatArray, ...] = ()

    @property
    def relative_error_bound(self) -> float | FloatArray:
        """The error bound over the gain, which is what ``tol`` allows."""
        gain = np.asarray(self.gain)
        ratio = np.divide(
            self.error_bound, gain, out=np.zeros(np.broadcast(self.error_bound, gain).shape), where=gain > 0
        )
        return ratio if np.ndim(self.error_bound) else float(ratio)


class _Block:
    """Signals as one real block, and the way back to the caller's shape and kind of numbers."""

    def __init__(self, signals: Array, method: FilterMethod) -> None:
        self.shape = signals.shape
        self.dtype = signals.dtype
        self.is_complex = signals.dtype.kind == "c"
        columns = signals.reshape(signals.shape[0], -1)
        real_dtype = signals.real.dtype
        if self.is_complex:
            columns = np.ascontiguousarray(columns).view(real_dtype)
        # squares of extreme numbers leave the range of floating point: such columns are scaled by a power of two
        peaks = np.maximum(columns.max(axis=0, initial=0.0), -columns.min(axis=0, initial=0.0))
        far = (peaks > 0) & ((peaks < 1e-15) | (peaks > 1e15))
        self.exponents = np.where(far, np.frexp(peaks)[1], 0) if far.any() else None
        if self.exponents is not None:
            columns = np.ldexp(columns, -self.exponents)
        self.real = np.ascontiguousarray(columns, dtype=method.working_dtype(real_dtype))

    def restore(self, y: Array) -> tuple[Array, FloatArray]:
        """Return one filter's answer as the caller's signals were, and the rounding of that for each column."""
        target = np.finfo(self.dtype).dtype
        cast = y.astype(target, copy=False)
        rounding: FloatArray = np.zeros(y.shape[1])
        if cast.dtype != y.dtype:
            rounding = over(column_norms(y - cast), column_norms(self.real))
        if self.exponents is not None:
            cast = np.ldexp(cast, self.exponents)
        if self.is_complex:
            cast = np.ascontiguousarray(cast).view(self.dtype)
        return cast.reshape(self.shape), rounding

    def bound(self, bounds: FloatArray) -> float | FloatArray:
        """Turn a bound for each real column into one number or one a signal."""
        if self.is_complex:
            bounds = bounds.reshape(-1, 2).max(axis=1)
        return float(bounds[0]) if len(self.shape) == 1 else bounds


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
        self.gain = filter_gain(L, response)
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
        block = _Block(check_signals(signals, self.n_vertices), self._method)
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
        block = _Block(check_signals(signals, self.n_vertices), self._method)
        y = self._method.apply_adjoint(block.real[None] if self._method.is_bank else block.real)
        return block.restore(y)[0]

    def _rmatvec(self, x: Array) -> Array:
        return self._apply_adjoint(x.reshape(-1)).reshape(x.shape)

    def _rmatmat(self, X: Array) -> Array:
        return self._apply_adjoint(X)


class CayleyFilter(GraphFilter):
    r"""A Cayley filter, Eq. (4) of the paper, with the error that you allow.

    .. math:: G f = c_0 f + 2\,\mathrm{Re} \sum_{j=1}^r c_j (h\Delta - iI)^j (h\Delta + iI)^{-j} f

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    polynomial : CayleyPolynomial
        The response.
    method : {"auto", "exact", "jacobi", "chebyshev", "multigrid"}
        "auto" takes the cheapest by prediction.
    tol : float
        :math:`\|Gf - y\|_2 \le tol \cdot \sup|g| \cdot \|f\|_2`.
    n_iter : int, optional
        Jacobi: sweeps K for each power; by default as many as the sharp bound asks for.
    normalize : bool
        Jacobi: rescale each power to the norm of the signal.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> graph = cg.gallery.ring(64)
    >>> g = cg.CayleyFilter(graph, cg.CayleyPolynomial([0.5, -0.25], zoom=2.0), method="chebyshev", tol=1e-8)
    >>> delta_answer, info = g.filter([1.0] + 63 * [0.0], return_info=True)
    >>> info.method, info.n_matvecs, info.converged
    ('chebyshev', 35, True)
    """

    def __init__(
        self,
        graph: GraphLike,
        polynomial: CayleyPolynomial,
        method: Method = "auto",
        tol: float = 1e-6,
        *,
        n_iter: int | None = None,
        normalize: bool = False,
        kind: LaplacianKind | None = None,
    ) -> None:
        if not isinstance(polynomial, CayleyPolynomial):
            raise TypeError(f"`polynomial` must be a CayleyPolynomial, got {type(polynomial).__name__}")
        super().__init__(laplacian(graph, kind), polynomial, method, check_positive(tol, "tol"), n_iter, normalize)

    @overload
    @classmethod
    def fit(
        cls,
        graph: GraphLike,
        target: Kernel | str,
        order: int,
        zoom: float | Literal["auto"] = ...,
        weight: GraphWeight = ...,
        *,
        real_coeffs: bool = ...,
        method: Method = ...,
        tol: float = ...,
        kind: LaplacianKind | None = ...,
        rng: np.random.Generator | int | None = ...,
        return_info: Literal[False] = ...,
        **options: Any,
    ) -> CayleyFilter: ...
    @overload
    @classmethod
    def fit(
        cls,
        graph: GraphLike,
        target: Kernel | str,
        order: int,
        zoom: float | Literal["auto"] = ...,
        weight: GraphWeight = ...,
        *,
        real_coeffs: bool = ...,
        method: Method = ...,
        tol: float = ...,
        kind: LaplacianKind | None = ...,
        rng: np.random.Generator | int | None = ...,
        return_info: Literal[True],
        **options: Any,
    ) -> tuple[CayleyFilter, Fit]: ...

    @classmethod
    def fit(
        cls,
        graph: GraphLike,
        target: Kernel | str,
        order: int,
        zoom: float | Literal["auto"] = "auto",
        weight: GraphWeight = "auto",
        *,
        real_coeffs: bool = False,
        method: Method = "auto",
        tol: float = 1e-6,
        kind: LaplacianKind | None = None,
        rng: np.random.Generator | int | None = None,
        return_info: bool = False,
        **options: Any,
    ) -> CayleyFilter | tuple[CayleyFilter, Fit]:
        """Return the filter of the given order whose response is nearest to a target on the graph's spectrum.

        Parameters
        ----------
        graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
            See :func:`laplacian`.
        target : callable, Target or str
            A function of frequency, or a text such as "low:0.5", see :func:`cayleygsp.design.parse_target`; relative
            numbers in it refer to the Laplacian's guaranteed bound.
        order : int
            r ≥ 1.
        zoom : float or "auto"
            h > 0, or "auto" for the best that a search finds.
        weight : {"auto", "spectrum", "density", "uniform"} or what :meth:`CayleyPolynomial.fit` takes
            What matters: the eigenvalues, which must be computed, an estimate of their density, or all frequencies
            alike; "auto" takes the eigenvalues of a graph of up to 500 vertices or where they are known, else the
            density.
        real_coeffs : bool
            Whether all coefficients are real.
        method, tol, kind
            As for the class.
        rng : numpy.random.Generator or int, optional
            For the probes of the density.
        return_info : bool
            Also return the residuals of the fit.
        **options
            ``ridge`` and ``norm`` of :meth:`CayleyPolynomial.fit`.

        Returns
        -------
        filter : CayleyFilter
            The fit, bound to the graph.
        info : Fit
            Only with ``return_info``.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> g, info = cg.CayleyFilter.fit(cg.gallery.grid(20), "low:0.5:0.2", order=4, return_info=True)
        >>> round(info.residual_rms, 3)
        0.017
        """
        from cayleygsp.design import graph_weight

        L = laplacian(graph, kind)
        weight = graph_weight(L, weight, rng)
        polynomial, info = CayleyPolynomial.fit(
            target, order, L.lmax, zoom, weight, real_coeffs=real_coeffs, return_info=True, **options
        )
        g = cls(L, polynomial, method, tol)
        return (g, info) if return_info else g

    @property
    def polynomial(self) -> CayleyPolynomial:
        """The Cayley polynomial."""
        assert isinstance(self.response, CayleyPolynomial)
        return self.response


class ChebyshevFilter(GraphFilter):
    r"""A Chebyshev filter of order r, Eq. (2) of the paper.

    .. math:: G f = \sum_{k=0}^r \alpha_k T_k(\tilde\Delta) f, \qquad \tilde\Delta = 2\Delta/\lambda_{max} - I

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    coeffs : array_like, shape (r + 1,)
        Real :math:`\alpha_k`; the first is not halved.
    lmax : float, optional
        λ_max of the scaling; by default the Laplacian's guaranteed upper bound.
    method : {"auto", "chebyshev", "exact"}
        The recurrence, or the eigenbasis.
    tol : float, optional
        The recurrence has no error but rounding; with a tolerance, signals in single precision are filtered in
        double precision where that is needed.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> g = cg.ChebyshevFilter(cg.gallery.path(4), [0.5, -0.5], lmax=4.0)
    >>> g @ [1.0, 0.0, 0.0, 0.0]
    array([0.75, 0.25, 0.  , 0.  ])
    """

    def __init__(
        self,
        graph: GraphLike,
        coeffs: ArrayLike,
        lmax: float | None = None,
        method: Method = "chebyshev",
        tol: float | None = None,
        *,
        kind: LaplacianKind | None = None,
    ) -> None:
        L = laplacian(graph, kind)
        polynomial = ChebyshevPolynomial(coeffs, L.lmax if lmax is None else check_positive(lmax, "lmax"))
        super().__init__(L, polynomial, method, tol)

    @overload
    @classmethod
    def fit(
        cls,
        graph: GraphLike,
        target: Kernel | str,
        order: int,
        weight: GraphWeight = ...,
        *,
        method: Method = ...,
        tol: float | None = ...,
        kind: LaplacianKind | None = ...,
        rng: np.random.Generator | int | None = ...,
        return_info: Literal[False] = ...,
        **options: Any,
    ) -> ChebyshevFilter: ...
    @overload
    @classmethod
    def fit(
        cls,
        graph: GraphLike,
        target: Kernel | str,
        order: int,
        weight: GraphWeight = ...,
        *,
        method: Method = ...,
        tol: float | None = ...,
        kind: LaplacianKind | None = ...,
        rng: np.random.Generator | int | None = ...,
        return_info: Literal[True],
        **options: Any,
    ) -> tuple[ChebyshevFilter, Fit]: ...

    @classmethod
    def fit(
        cls,
        graph: GraphLike,
        target: Kernel | str,
        order: int,
        weight: GraphWeight = "auto",
        *,
        method: Method = "chebyshev",
        tol: float | None = None,
        kind: LaplacianKind | None = None,
        rng: np.random.Generator | int | None = None,
        return_info: bool = False,
        **options: Any,
    ) -> ChebyshevFilter | tuple[ChebyshevFilter, Fit]:
        """Return the filter of the given order whose response is nearest to a target on the graph's spectrum.

        Parameters
        ----------
        graph, target, order, weight, rng, return_info
            As in :meth:`CayleyFilter.fit`.
        method, tol, kind
            As for the class.
        **options
            ``ridge`` and ``norm`` of :meth:`ChebyshevPolynomial.fit`.

        Returns
        -------
        filter : ChebyshevFilter
            The fit, bound to the graph.
        info : Fit
            Only with ``return_info``.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> g, info = cg.ChebyshevFilter.fit(cg.gallery.grid(20), "low:0.5:0.2", order=20, return_info=True)
        >>> round(info.residual_rms, 3)
        0.024
        """
        from cayleygsp.design import graph_weight

        L = laplacian(graph, kind)
        weight = graph_weight(L, weight, rng)
        polynomial, info = ChebyshevPolynomial.fit(target, order, L.lmax, weight, return_info=True, **options)
        g = cls(L, polynomial.coeffs, None, method, tol)
        return (g, info) if return_info else g


class KernelFilter(GraphFilter):
    """Any response g(λ) that you can write as a function, with the same engine and tolerance.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    function : callable
        Takes an array of frequencies, returns as many real numbers; finite on [0, lmax].
    tol : float
        Error allowed, relative to the gain. Nothing is known of the function but its values, so the certificate
        rests on samples; ``info.certificate`` says so.
    method : {"auto", "chebyshev", "exact"}
        A function with jumps has no short series: use "exact" for it on small graphs.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> heat = cg.KernelFilter(cg.gallery.ring(64), lambda lam: np.exp(-5 * lam), tol=1e-8)
    >>> round(float(heat.localize(0).sum()), 6)
    1.0
    """

    def __init__(
        self,
        graph: GraphLike,
        function: Kernel,
        tol: float = 1e-6,
        method: Method = "auto",
        *,
        kind: LaplacianKind | None = None,
    ) -> None:
        super().__init__(laplacian(graph, kind), KernelResponse(function), method, check_positive(tol, "tol"))


class FilterBank:
    r"""Several filters on one graph, applied to a block of signals in one recurrence.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    responses : sequence
        Cayley polynomials (zooms may differ) and functions of frequency.
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
        responses: CayleyPolynomial | Kernel | Sequence[CayleyPolynomial | Kernel],
        tol: float = 1e-6,
        method: Method = "auto",
        *,
        kind: LaplacianKind | None = None,
    ) -> None:
        self.laplacian = laplacian(graph, kind)
        given = [responses] if callable(responses) else list(responses)
        self.responses: list[Response] = [
            p if isinstance(p, CayleyPolynomial | KernelResponse) else KernelResponse(p) for p in given
        ]
        if not self.responses:
            raise ValueError("`responses` must hold at least one filter, got none")
        check_choice(method, "method", ("auto", "chebyshev", "exact"))
        self.tol = check_positive(tol, "tol")
        if method == "auto":
            method = "exact" if self.laplacian.has_eigenbasis and self.laplacian.n_vertices <= 500 else "chebyshev"
        self._method, self.reason = make_method(self.laplacian, self.responses, method, self.tol, None, False)
        self.gains = np.array([filter_gain(self.laplacian, p) for p in self.responses])

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
        if isinstance(response, CayleyPolynomial):
            return CayleyFilter(self.laplacian, response, method, self.tol)
        assert isinstance(response, KernelResponse)
        return KernelFilter(self.laplacian, response.function, self.tol, method)

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
        block = _Block(check_signals(signals, self.laplacian.n_vertices), self._method)
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
        blocks = [_Block(check_signals(y[..., i], n, "coefficients"), self._method) for i in range(len(self))]
        return blocks[0].restore(self._method.apply_adjoint(np.stack([b.real for b in blocks])))[0]
