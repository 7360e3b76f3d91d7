"""The error of cut Chebyshev series."""

from __future__ import annotations

import numpy as np

from cayleygsp._typing import FloatArray, GraphLike
from cayleygsp._validation import check_integer, check_positive
from cayleygsp.bounds.result import Assumption, Bound
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.methods.base import Response
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.chebyshev import ChebyshevPolynomial
from cayleygsp.responses.series import MAX_SAMPLES, ChebyshevSeries, chebyshev_nodes, series_from_samples


def series_bound(graph: GraphLike, response: Response, degree: int) -> Bound:
    r"""Bound the error of the Chebyshev series on [0, lmax] cut after the given degree: its tail.

    With :math:`g = \sum_k a_k T_k` the error is at most :math:`\sum_{k > K} |a_k|`. The coefficients are computed as
    far as they matter, and what is beyond is added, with their rounding; or, if that is smaller, the tail is bounded
    through the poles of the response alone, which has no floor (see :meth:`CayleyPolynomial.series`).

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        Only its guaranteed bound of the spectrum is used.
    response : CayleyPolynomial, ChebyshevPolynomial or other response
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
    tails, proved = series_tails(L, response, degree + 1)
    text = "the tail follows from the form of the response" if proved else "nothing but samples of it are known"
    return Bound(float(tails[degree]), "series", proved, (Assumption("known response", proved, text),))


def series_degree(graph: GraphLike, response: Response, atol: float) -> int:
    """Return the least degree at which :func:`series_bound` is at most ``atol``.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        Only its guaranteed bound of the spectrum is used.
    response : CayleyPolynomial, ChebyshevPolynomial or other response
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
    n_degrees = _long_series(L, response).degree + 2
    if isinstance(response, ChebyshevPolynomial):
        n_degrees = response.order + 1
    elif isinstance(response, CayleyPolynomial) and L.lmax > 0:
        log_tail, log_rho = _ellipse_tails(response, L.lmax)
        needed = float(np.min((log_tail - np.log(atol)) / log_rho))  # -inf for the response 0
        n_degrees = max(n_degrees, int(needed) + 2 if np.isfinite(needed) else 0)
    tails, _ = series_tails(L, response, n_degrees)
    if tails[-1] > atol:
        raise ValueError(f"`atol` must be at least {tails[-1]:.3g}, what samples of this response show, got {atol:.3g}")
    return int(np.argmax(tails <= atol))


def series_tails(L: Laplacian, response: Response, n_degrees: int) -> tuple[FloatArray, bool]:
    """Bound the tails of a response's series on [0, lmax] beyond the degrees 0 … n - 1, and say if that is proved."""
    degrees = np.arange(n_degrees)
    if isinstance(response, CayleyPolynomial) and response.degree_bound(L.lmax, 0.0) > MAX_SAMPLES:
        # too long to be computed: what the poles tell must do
        tails, proved = np.full(n_degrees, np.inf), True
    else:
        series = _long_series(L, response)
        proved = series.certificate == "proved"
        if L.lmax == 0:  # one frequency: every response is constant
            return np.zeros(n_degrees), proved
        beyond = np.append(np.cumsum(np.abs(series.coeffs[:0:-1]))[::-1], 0.0) + series.error
        tails = beyond[np.minimum(degrees, series.degree)]
    if isinstance(response, ChebyshevPolynomial):
        tails[response.order :] = 0.0
    if isinstance(response, CayleyPolynomial):
        with np.errstate(over="ignore", under="ignore"):
            for log_tail, log_rho in zip(*_ellipse_tails(response, L.lmax), strict=True):
                np.minimum(tails, np.exp(log_tail - degrees * log_rho), out=tails)
    return tails, proved


def _ellipse_tails(p: CayleyPolynomial, lmax: float) -> tuple[FloatArray, FloatArray]:
    """Return log A and log ρ for ellipses short of the poles: the tail beyond degree K is at most A ρ^{-K} for each."""
    delta, log_M = p.ellipse_bounds(lmax)
    # |a_k| ≤ 2 M ρ^{-k}, summed over k > K
    return np.log(2 / delta) + log_M, np.log1p(delta)


def _long_series(L: Laplacian, response: Response) -> ChebyshevSeries:
    """Return a series on an interval that holds the spectrum, as long as rounding lets it matter."""
    if not isinstance(response, ChebyshevPolynomial) or response.lmax >= L.lmax:
        return response.series(L.lmax, 0.0)
    # a Chebyshev filter scaled to less than the guaranteed spectrum: the same polynomial on the longer interval
    r = response.order
    growth = np.cosh(np.arange(r + 1) * np.arccosh(2 * L.lmax / response.lmax - 1))
    rounding = 2**-50 * (r + 1) ** 2 * float(growth @ np.abs(response.coeffs))
    values = response(chebyshev_nodes(r + 1, L.lmax))
    return series_from_samples(values, L.lmax, 0.0, beyond=0.0, sample_error=rounding)
