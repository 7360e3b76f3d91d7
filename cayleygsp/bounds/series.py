"""The error of cut Chebyshev series."""

from __future__ import annotations

import numpy as np

from cayleygsp._typing import FloatArray, GraphLike, Kernel
from cayleygsp._validation import check_integer, check_positive
from cayleygsp.bounds.result import Assumption, Bound
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.responses.base import Response
from cayleygsp.responses.function import as_response


def series_bound(graph: GraphLike, response: Response | Kernel, degree: int) -> Bound:
    r"""Bound the error of the Chebyshev series on [0, lmax] cut after the given degree: its tail.

    With :math:`g = \sum_k a_k T_k` the error is at most :math:`\sum_{k > K} |a_k|`. The coefficients are computed as
    far as they matter, and what is beyond is added, with their rounding; or, if that is smaller, the tail is bounded
    through the poles of the response alone, which has no floor (see :meth:`CayleyPolynomial.tails`).

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        Only its bounds of the spectrum are used.
    response : CayleyPolynomial, ChebyshevPolynomial, other response or function of frequency
        ``filter.response`` of any filter. Of a user's function only samples are known: its bound is not valid.
    degree : int
        K ≥ 0.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> ring, p = cg.gallery.ring(16), cg.CayleyPolynomial([0.5, -0.25], zoom=0.5)
    >>> [float(f"{cg.bounds.series_bound(ring, p, K).value:.2g}") for K in (0, 5, 10, 20)]
    [0.54, 0.0014, 1.5e-05, 3.6e-10]
    """
    L, degree = laplacian(graph), check_integer(degree, "degree", at_least=0)
    response = as_response(response, name="response")
    tails, proved = series_tails(L, response, degree + 1)
    known, sure = response.certificate == "proved", L.lmax_guaranteed
    of_response = "the tail follows from the form of the response" if known else "nothing but samples of it are known"
    of_spectrum = "no eigenvalue is above `lmax`" if sure else "`lmax` is an estimate: an eigenvalue may be above it"
    assumptions = (
        Assumption("known response", known, of_response),
        Assumption("guaranteed spectrum", sure, of_spectrum),
    )
    return Bound(float(tails[degree]), "series", proved, assumptions)


def series_degree(graph: GraphLike, response: Response | Kernel, atol: float) -> int:
    """Return the least degree at which :func:`series_bound` is at most ``atol``.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        Only its bounds of the spectrum are used.
    response : CayleyPolynomial, ChebyshevPolynomial, other response or function of frequency
        ``filter.response`` of any filter.
    atol : float
        Error allowed, relative to the norm of the signal; above 0.

    Raises
    ------
    ValueError
        If samples of a user's function do not show such a degree.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> graph = cg.gallery.communities(rng=0)
    >>> [cg.bounds.series_degree(graph, cg.CayleyPolynomial([0.5, -0.25], zoom), 1e-6) for zoom in (0.1, 1.0, 10.0)]
    [19, 62, 197]
    """
    L, atol = laplacian(graph), check_positive(atol, "atol")
    response = as_response(response, name="response")
    n_degrees = response.tail_degree(L.lmax, atol, lmin=L.lmin) + 1
    tails, _ = series_tails(L, response, n_degrees)
    if tails[-1] > atol:
        raise ValueError(
            f"`atol` must be at least {tails[-1]:.3g}, the smallest bound that samples of this response give, got "
            f"{atol:.3g}"
        )
    return int(np.argmax(tails <= atol))


def series_tails(L: Laplacian, response: Response, n_degrees: int) -> tuple[FloatArray, bool]:
    """Bound the tails of a response's series beyond the degrees 0 … n - 1, and say if that is proved."""
    tails = response.tails(L.lmax, n_degrees, lmin=L.lmin)
    return tails, response.certificate == "proved" and L.lmax_guaranteed
