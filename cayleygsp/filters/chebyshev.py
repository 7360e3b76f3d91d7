"""Chebyshev filters on a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._typing import ArrayLike, GraphLike, Kernel, LaplacianKind, Method
from cayleygsp._validation import check_positive
from cayleygsp.design.fit import fit_chebyshev
from cayleygsp.design.problem import GraphWeight, graph_weight
from cayleygsp.filters.base import GraphFilter
from cayleygsp.laplacians import laplacian
from cayleygsp.responses.chebyshev import ChebyshevPolynomial, as_chebyshev


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
            As in :meth:`CayleyFilter.fit`.
        method, tol, kind
            As for the class.
        **options
            ``ridge`` and ``norm`` of :func:`cayleygsp.design.fit_chebyshev`.

        Returns
        -------
        filter : ChebyshevFilter
            The fit, bound to the graph.
        fit : Fit
            Only with ``return_info``.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> g, fit = cg.ChebyshevFilter.fit(cg.gallery.grid(20), "low:0.5:0.2", order=20, return_info=True)
        >>> round(fit.residual_rms, 3)
        0.024
        """
        L = laplacian(graph, kind)
        fit = fit_chebyshev(target, order, L.lmax, graph_weight(L, weight, rng), **options)
        g = cls(L, fit.polynomial, method=method, tol=tol)
        return (g, fit) if return_info else g
