"""Filters by any function of frequency."""

from __future__ import annotations

from cayleygsp._typing import ArrayLike, GraphLike, Kernel, LaplacianKind, Method
from cayleygsp._validation import check_positive
from cayleygsp.filters.base import GraphFilter
from cayleygsp.laplacians import laplacian
from cayleygsp.responses.function import as_response


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
        super().__init__(laplacian(graph, kind), response, method=method, tol=check_positive(tol, "tol"))
