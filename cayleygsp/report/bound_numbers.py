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
from cayleygsp.responses.cayley import CayleyPolynomial

SWEEPS = (1, 5, 9, 13)


MORE_SWEEPS = (40, 80)


# The error of the filter that Jacobi's are measured against.
REFERENCE_TOL = 1e-10


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
        For one signal, where it was measured.
    paper, safe, sharp : float
        See :func:`cayleygsp.bounds.jacobi_bound`.
    paper_valid : bool
        Whether the printed bound is known to hold here.
    rounding : float
        What rounding may add.
    series : float or None
        Bound of the Chebyshev series of degree r (K + 1), with as many products; None where the series is too long
        to be looked at.
    """

    n_iter: int
    n_matvecs: int
    measured: float | None
    paper: float
    safe: float
    sharp: float
    paper_valid: bool
    rounding: float
    series: float | None


@dataclass(frozen=True)
class Needs:
    """What an error, relative to the norm of the signal, takes.

    Attributes
    ----------
    atol : float
        The error.
    paper, safe, sharp : int or None
        Jacobi sweeps by each bound; None if no number is known to be enough.
    series_degree : int or None
        Degree of the Chebyshev series, that is products.
    n_iter : int
        Some number of sweeps,
    affordable_zoom : float
        and the largest zoom at which they keep the error, by the sharp bound.
    """

    atol: float
    paper: int | None
    safe: int | None
    sharp: int | None
    series_degree: int | None
    n_iter: int
    affordable_zoom: float


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
        What to filter; errors are against the filter with a certified error of 1e-10 of its gain.

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
    reference = None if signal is None else filtered(CayleyFilter(L, polynomial, tol=REFERENCE_TOL), signal)
    tails = _series_tails(L, polynomial, max(r * (K + 1) for K in sweeps) + 1)
    rows = []
    for K in sweeps:
        measured = None
        if signal is not None and reference is not None:
            y = filtered(CayleyFilter(L, polynomial, "jacobi", n_iter=K), signal)
            measured = float(np.linalg.norm(y - reference) / np.linalg.norm(signal))
        found = {kind: bounds.jacobi_bound(L, polynomial, K, kind) for kind in bounds.BOUND_KINDS}
        rows.append(
            BoundRow(
                n_iter=K,
                n_matvecs=r * (K + 1),
                measured=measured,
                paper=found["paper"].value,
                safe=found["safe"].value,
                sharp=found["sharp"].value,
                paper_valid=found["paper"].valid,
                rounding=bounds.jacobi_rounding(L, polynomial, K),
                series=None if tails is None else float(tails[r * (K + 1)]),
            )
        )
    return rows


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
    return Needs(
        atol=atol,
        paper=known["paper"],
        safe=known["safe"],
        sharp=known["sharp"],
        series_degree=degree,
        n_iter=n_iter,
        affordable_zoom=bounds.affordable_zoom(L, polynomial, n_iter, atol),
    )


def filtered(g: CayleyFilter, signal: FloatArray) -> FloatArray:
    """Return the filtered signal, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return g.filter(signal)


def _series_tails(L: Laplacian, p: CayleyPolynomial, n_degrees: int) -> FloatArray | None:
    try:
        return bounds.series_tails(L, p, n_degrees)[0]
    except ValueError:  # millions of terms
        return None
