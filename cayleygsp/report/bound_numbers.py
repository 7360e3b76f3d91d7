"""Errors of the Jacobi scheme and of the series, in numbers."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayleygsp import bounds
from cayleygsp._typing import FloatArray
from cayleygsp.filters import CayleyFilter, ConvergenceWarning
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.cayley import CayleyPolynomial, cayley_angle

SWEEPS = (1, 5, 9, 13)
MORE_SWEEPS = (40, 80)

# The error of the filter that Jacobi's are measured against.
REFERENCE_TOL = 1e-10

# Sums of a row's entries differ by about as much from what they should be.
KAPPA_ROUNDING = 1e-12


@dataclass(frozen=True)
class BoundRow:
    """Error of K Jacobi sweeps, relative to the norm of the signal, and bounds of it in exact arithmetic.

    Attributes
    ----------
    n_iter : int
        K.
    n_matvecs : int
        r (K + 1) products.
    measured : float or None
        Distance from a reference for one signal, where it was measured.
    reference_bound : float or None
        How far the reference may be from the exact result: a measured error that is not above it is not resolved.
    paper, safe, sharp : float
        See :func:`cayleygsp.bounds.jacobi_bound`.
    paper_valid : bool
        Whether the printed bound is known to hold here.
    rounding : float
        What rounding may add.
    series : float or None
        Bound of the Chebyshev series of degree r (K + 1), with as many products; None where the series is too long
        to be looked at.
    gain : float
        sup|g|, see :func:`largest_response`. A bound above it is empty: the signal 0 is never off by more.
    """

    n_iter: int
    n_matvecs: int
    measured: float | None
    reference_bound: float | None
    paper: float
    safe: float
    sharp: float
    paper_valid: bool
    rounding: float
    series: float | None
    gain: float


@dataclass(frozen=True)
class Needs:
    """What it takes to keep an error, relative to the norm of the signal.

    Attributes
    ----------
    atol : float
        The error.
    paper, safe, sharp : int or None
        Jacobi sweeps by each bound; None if no number is known to be enough.
    series_degree : int or None
        Degree of the Chebyshev series, that is products.
    n_iter : int
        A number of sweeps K.
    affordable_zoom : float or None
        The largest zoom at which K sweeps keep the error, by the sharp bound; None if there is none.
    every_zoom : bool
        Whether they keep it at every zoom: the largest one is infinite then, for which JSON has no number.
    """

    atol: float
    paper: int | None
    safe: int | None
    sharp: int | None
    series_degree: int | None
    n_iter: int
    affordable_zoom: float | None
    every_zoom: bool


def bound_rows(
    L: Laplacian, polynomial: CayleyPolynomial, sweeps: Sequence[int], signal: FloatArray | None = None
) -> list[BoundRow]:
    """Bound the error of the Jacobi scheme, and measure it on a signal if one is given.

    Parameters
    ----------
    L : Laplacian
        The graph.
    polynomial : CayleyPolynomial
        The response.
    sweeps : sequence of int
        Numbers K ≥ 0.
    signal : numpy.ndarray, shape (n,), optional
        What to filter; errors are distances from the filter with a certified error of 1e-10 of its gain.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.report.bound_numbers import bound_rows
    >>> p = cg.CayleyPolynomial([0.5, -0.25], zoom=1.0)
    >>> rows = bound_rows(cg.laplacian(cg.gallery.ring(12)), p, [5, 20])
    >>> [row.n_matvecs for row in rows], rows[1].sharp < rows[0].sharp
    ([6, 21], True)
    """
    r = polynomial.order
    reference, reference_bound = None, None
    if signal is not None:
        reference, reference_bound = filtered(CayleyFilter(L, polynomial, tol=REFERENCE_TOL), signal)
    gain = largest_response(L, polynomial)
    tails = _series_tails(L, polynomial, max(r * (K + 1) for K in sweeps) + 1)
    rows = []
    for K in sweeps:
        measured = None
        if signal is not None and reference is not None:
            g = CayleyFilter(L, polynomial, method="jacobi", n_iter=K)
            measured = float(np.linalg.norm(filtered(g, signal)[0] - reference) / np.linalg.norm(signal))
        proved = {kind: bounds.jacobi_bound(L, polynomial, K, kind) for kind in bounds.BOUND_KINDS}
        rows.append(
            BoundRow(
                n_iter=K,
                n_matvecs=r * (K + 1),
                measured=measured,
                reference_bound=reference_bound,
                paper=proved["paper"].value,
                safe=proved["safe"].value,
                sharp=proved["sharp"].value,
                paper_valid=proved["paper"].valid,
                rounding=bounds.jacobi_rounding(L, polynomial, K),
                series=None if tails is None else float(tails[r * (K + 1)]),
                gain=gain,
            )
        )
    return rows


def largest_response(L: Laplacian, polynomial: CayleyPolynomial) -> float:
    r"""Return sup\|g\| on [0, λ_max], never too small and at most 0.2 % too large.

    On the circle g is a trigonometric polynomial of degree r. At points that are δ apart its largest value is at least
    :math:`\cos(r\delta/2)` times the supremum (Bernstein and Szegő). λ_max is the guaranteed bound.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.report.bound_numbers import largest_response
    >>> p = cg.CayleyPolynomial([0.5, -0.25], zoom=1.0)
    >>> f"{largest_response(cg.laplacian(cg.gallery.ring(16)), p):.2f}"
    '1.00'
    """
    r = polynomial.order
    last = float(cayley_angle(np.float64(polynomial.zoom * L.lmax)))
    angles = np.linspace(-np.pi, last, 32 * r + 1)
    with np.errstate(divide="ignore"):
        frequencies = -1 / np.tan(angles / 2) / polynomial.zoom
    largest = float(np.abs(polynomial(np.clip(frequencies, 0.0, L.lmax))).max())
    return largest / float(np.cos(r * (last + np.pi) / (32 * r) / 2))


def kappa_gap(L: Laplacian, zoom: float) -> float:
    r"""Return :math:`1 - \kappa`, to all its digits where κ itself rounds to 1.

    For the combinatorial Laplacian κ = x/E with x = hd, E = √(x² + 1) and d the largest degree, so that
    :math:`1 - \kappa = 1/(E(E + x))`.

    Parameters
    ----------
    L : Laplacian
        The graph.
    zoom : float
        h > 0.

    Returns
    -------
    float
        Negative where κ is above 1. For a normalized Laplacian it is the difference of floating-point numbers, 0 where
        these do not tell κ from 1.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.report.bound_numbers import kappa_gap
    >>> f"{kappa_gap(cg.laplacian(cg.gallery.ring(16)), zoom=1e9):.3g}"
    '1.25e-19'
    """
    if L.kind == "combinatorial":
        x = zoom * float(L.diagonal.max())
        E = float(np.hypot(x, 1.0))
        return 1 / E / (E + x)
    gap = 1 - bounds.kappa(L, zoom)
    return gap if abs(gap) > KAPPA_ROUNDING else 0.0


def needs(L: Laplacian, polynomial: CayleyPolynomial, atol: float, n_iter: int) -> Needs:
    """Return what it takes to keep the error within ``atol``, and the zoom that ``n_iter`` sweeps can serve.

    Parameters
    ----------
    L : Laplacian
        The graph.
    polynomial : CayleyPolynomial
        The response.
    atol : float
        Error allowed, relative to the norm of the signal; above 0.
    n_iter : int
        K ≥ 0.
    """
    known = {kind: bounds.jacobi_sweeps(L, polynomial, atol, kind) for kind in bounds.BOUND_KINDS}
    try:
        degree = bounds.series_degree(L, polynomial, atol)
    except ValueError:  # millions of terms
        degree = None
    zoom = bounds.affordable_zoom(L, polynomial, n_iter, atol)
    return Needs(
        atol=atol,
        paper=known["paper"],
        safe=known["safe"],
        sharp=known["sharp"],
        series_degree=degree,
        n_iter=n_iter,
        affordable_zoom=zoom,
        every_zoom=zoom == np.inf,
    )


def filtered(g: CayleyFilter, signal: FloatArray) -> tuple[FloatArray, float]:
    """Return the filtered signal and its error bound, relative to the norm of the signal, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        y, info = g.filter(signal, return_info=True)
    return y, float(np.max(info.error_bound))


def _series_tails(L: Laplacian, p: CayleyPolynomial, n_degrees: int) -> FloatArray | None:
    try:
        return bounds.series_tails(L, p, n_degrees)[0]
    except ValueError:  # millions of terms
        return None
