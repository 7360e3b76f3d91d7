"""Filters by Cayley and Chebyshev polynomials, given, fitted or learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from cayleygsp._typing import ArrayLike, GraphLike, Kernel, LaplacianKind, Method
from cayleygsp._validation import check_positive
from cayleygsp.design.fit import DEFAULT_RIDGE, fit_cayley, fit_chebyshev
from cayleygsp.design.identification import identify_cayley
from cayleygsp.design.problem import GraphWeight, graph_weight
from cayleygsp.filters.base import GraphFilter
from cayleygsp.laplacians import laplacian
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley
from cayleygsp.responses.chebyshev import ChebyshevPolynomial, as_chebyshev


class CayleyFilter(GraphFilter):
    r"""A Cayley filter (equation 4 of the paper), with the error that you allow.

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

    _needs_tol = True

    def __init__(
        self,
        graph: GraphLike,
        polynomial: CayleyPolynomial,
        *,
        method: Method = "auto",
        tol: float = 1e-6,
        n_iter: int | None = None,
        normalize: bool = False,
        kind: LaplacianKind | None = None,
    ) -> None:
        form, L = as_cayley(polynomial), laplacian(graph, kind)
        super().__init__(L, form, method=method, tol=tol, n_iter=n_iter, normalize=normalize)

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
    ) -> Any:
        """Return the filter of the given order whose response is nearest to a target on the graph's spectrum.

        Parameters
        ----------
        graph, method, tol, kind
            As for the class.
        target : callable, response or str
            A function of frequency, or a text such as "low:0.5", see :func:`cayleygsp.design.parse_target`; relative
            numbers in it refer to the Laplacian's guaranteed bound.
        order : int
            r ≥ 1.
        zoom : float or "auto"
            h > 0, or "auto" for the best that a search finds.
        weight : {"auto", "spectrum", "density", "uniform"} or what :func:`cayleygsp.design.fit_cayley` takes
            What matters: the eigenvalues, which must be computed, an estimate of their density, or all frequencies
            alike; "auto" takes the eigenvalues of a graph of up to 500 vertices or where they are known, else the
            density. Over the eigenvalues the fit's distance is that at each of them, else that at every frequency.
        real_coeffs : bool
            Whether all coefficients are real.
        rng : numpy.random.Generator or int, optional
            For the probes of the density.
        return_info : bool
            Also return the fit, which says how near it came and where.
        **options
            ``ridge`` and ``norm`` of :func:`cayleygsp.design.fit_cayley`.

        Returns
        -------
        filter : CayleyFilter
            The fit, bound to the graph.
        fit : Fit
            Only with ``return_info``.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> g, fit = cg.CayleyFilter.fit(cg.gallery.grid(20), "low:0.5:0.2", order=4, return_info=True)
        >>> round(fit.residual_rms, 3), fit.over
        (0.017, 'eigenvalues')
        """
        L = laplacian(graph, kind)
        w = graph_weight(L, weight, rng)
        fit: Any = fit_cayley(target, order, L.lmax, zoom, w, real_coeffs=real_coeffs, **options)
        g = cls(L, fit.polynomial, method=method, tol=tol)
        return (g, fit) if return_info else g

    @classmethod
    def learn(
        cls,
        graph: GraphLike,
        inputs: ArrayLike,
        outputs: ArrayLike,
        order: int,
        zoom: float | Literal["auto"] = "auto",
        *,
        real_coeffs: bool = False,
        ridge: float = DEFAULT_RIDGE,
        method: Method = "auto",
        tol: float = 1e-6,
        kind: LaplacianKind | None = None,
        return_info: bool = False,
    ) -> Any:
        """Return the filter of the given order that maps the inputs nearest to the outputs, in the mean square.

        Parameters
        ----------
        graph, method, tol, kind
            As for the class.
        inputs, outputs : array_like, shape (n,) or (n, m)
            Signals before and after the filter, in pairs.
        order, zoom, real_coeffs, ridge
            See :func:`cayleygsp.design.identify_cayley`.
        return_info : bool
            Also return what is known of the filter: its residual, measured, and which zooms explain the outputs.

        Returns
        -------
        filter : CayleyFilter
            Bound to the graph.
        info : Identification
            Only with ``return_info``.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> import numpy as np
        >>> graph = cg.gallery.grid(12)
        >>> before = np.random.default_rng(0).standard_normal((144, 3))
        >>> unknown = cg.CayleyFilter(graph, cg.CayleyPolynomial([0.5, -0.25], zoom=3.0), tol=1e-10)
        >>> g, info = cg.CayleyFilter.learn(graph, before, unknown @ before, order=1, return_info=True)
        >>> round(info.zoom, 3), info.residual < 1e-8
        (3.0, True)
        """
        L = laplacian(graph, kind)
        info = identify_cayley(L, inputs, outputs, order, zoom, real_coeffs=real_coeffs, ridge=ridge)
        g = cls(L, info.polynomial, method=method, tol=tol)
        if not return_info:
            return g
        if info.residual_is_estimated:
            Y = np.asarray(outputs)
            unit = 2.0 ** -max(int(np.frexp(np.abs(Y).max(initial=0.0))[1]), -1000)  # squares stay in range
            rest = np.linalg.norm((Y - g @ np.asarray(inputs)) * unit) / (np.linalg.norm(Y * unit) or 1.0)
            info = replace(info, residual=float(rest), residual_is_estimated=False)
        return g, info

    @property
    def polynomial(self) -> CayleyPolynomial:
        """The Cayley polynomial."""
        return as_cayley(self.response)


class ChebyshevFilter(GraphFilter):
    r"""A Chebyshev filter of order r (equation 2 of the paper).

    .. math:: G f = \sum_{k=0}^r \alpha_k T_k(\tilde\Delta) f, \qquad \tilde\Delta = 2\Delta/\lambda_{max} - I

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    coeffs : array_like, shape (r + 1,), or ChebyshevPolynomial
        Real :math:`\alpha_k`; the first is not halved. A polynomial brings its own λ_max.
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

    _response_name = "coeffs"

    def __init__(
        self,
        graph: GraphLike,
        coeffs: ArrayLike | ChebyshevPolynomial,
        lmax: float | None = None,
        *,
        method: Method = "chebyshev",
        tol: float | None = None,
        kind: LaplacianKind | None = None,
    ) -> None:
        L = laplacian(graph, kind)
        lmax = None if lmax is None else check_positive(lmax, "lmax")
        polynomial = as_chebyshev(coeffs, L.lmax if lmax is None else lmax)
        if lmax not in (None, polynomial.lmax):
            raise ValueError(
                f"`lmax` must be that of the given polynomial, {polynomial.lmax:g}, or left out, got {lmax:g}"
            )
        super().__init__(L, polynomial, method=method, tol=tol)

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
    ) -> Any:
        """Return the filter of the given order whose response is nearest to a target on the graph's spectrum.

        Parameters
        ----------
        graph, target, order, weight, rng, return_info
            As in :meth:`CayleyFilter.fit`, with as much returned.
        method, tol, kind
            As for the class.
        **options
            ``ridge`` and ``norm`` of :func:`cayleygsp.design.fit_chebyshev`.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> g, fit = cg.ChebyshevFilter.fit(cg.gallery.grid(20), "low:0.5:0.2", order=20, return_info=True)
        >>> round(fit.residual_rms, 3)
        0.024
        """
        L = laplacian(graph, kind)
        fit: Any = fit_chebyshev(target, order, L.lmax, graph_weight(L, weight, rng), **options)
        g = cls(L, fit.polynomial, method=method, tol=tol)
        return (g, fit) if return_info else g
