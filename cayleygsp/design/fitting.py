"""Polynomials of low order that come nearest to a target."""

from __future__ import annotations

from typing import Literal

import numpy as np

from cayleygsp._typing import Kernel
from cayleygsp._validation import check_choice, check_integer, check_positive, check_real
from cayleygsp.design.fit import Fit, report_fit
from cayleygsp.design.lawson import ROUNDS, Solution, solve
from cayleygsp.design.problem import NORMS, Norm, Problem, Weight, make_problem
from cayleygsp.design.waves import CayleyWave, ChebyshevWave
from cayleygsp.design.zoom_search import search_zoom
from cayleygsp.responses.basis import basis_coefficients, power_basis
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.chebyshev import ChebyshevPolynomial

# Weight of the coefficients beside the distance, see `fit_cayley`.
DEFAULT_RIDGE = 1e-6

# The largest orders of fits. The search for a zoom solves some hundred dense problems whose time grows with the cube of
# the order. Cosines and sines on half a circle, nearly dependent long before these, add little but cancellation.
MAX_CAYLEY_ORDER = 48
MAX_CHEBYSHEV_ORDER = 512


def fit_cayley(
    target: Kernel | str,
    order: int,
    lmax: float,
    zoom: float | Literal["auto"] = "auto",
    weight: Weight = None,
    *,
    real_coeffs: bool = False,
    ridge: float = DEFAULT_RIDGE,
    norm: Norm = "least-squares",
) -> Fit:
    r"""Fit a Cayley polynomial to a target.

    On the angle :math:`\theta = \arg C(h\lambda)` the polynomial is the trigonometric one
    :math:`c_0 + 2\sum_j \mathrm{Re}\,c_j \cos j\theta - \mathrm{Im}\,c_j \sin j\theta`, which is linear in its
    coefficients; the zoom is looked for around that.

    Parameters
    ----------
    target : callable, Target or str
        A function of frequency, or a text for :func:`parse_target`, relative numbers being relative to ``lmax``.
    order : int
        r from 1 to ``MAX_CAYLEY_ORDER`` = 48.
    lmax : float
        Right end of the interval of frequencies, ≥ 0.
    zoom : float or "auto"
        h > 0, or "auto" for the best that a search over its logarithm finds.
    weight : None, SpectralDensity, callable or array_like
        What matters: all of [0, lmax] alike (None), the spectrum that a density describes, a function of frequency
        ≥ 0, or the given frequencies, each alike, such as the eigenvalues of a graph. Where a density is an estimate, a
        twentieth of the weight goes to all frequencies, so that none is free.
    real_coeffs : bool
        Whether to use cosines alone.
    ridge : float
        Cosines and sines together are nearly dependent on the half of the circle that frequencies use: without a
        ridge, coefficients of high order are huge and cancel. The square of ``ridge`` times the largest singular value
        of the problem weighs the squared norm of the coefficients. 0 for none; then directions that rounding alone
        decides are still left out.
    norm : {"least-squares", "minimax"}
        Whether the weighted mean square of the distance is made small, or its maximum over all points of positive
        weight, however small the weight. The latter uses Lawson's method of reweighted least squares.

    Returns
    -------
    Fit
        With the polynomial, its zoom, its proved distance from the target and the norm of the coefficients.

    Examples
    --------
    >>> from cayleygsp import design
    >>> fit = design.fit_cayley("heat:3", order=4, lmax=8.0)
    >>> fit.polynomial.order, fit.residual_max < 1e-3, fit.certificate
    (4, True, 'proved')
    """
    r = check_order(order, MAX_CAYLEY_ORDER)
    mu = check_ridge(ridge)
    check_choice(norm, "norm", NORMS)
    if not isinstance(real_coeffs, bool | np.bool_):
        raise TypeError(f"`real_coeffs` must be True or False, got {real_coeffs!r}")
    real = bool(real_coeffs)
    h = None if isinstance(zoom, str) and zoom == "auto" else check_positive(zoom, "zoom")
    problem = make_problem(target, lmax, weight, lambda a, b: 12 + 2 * r)

    def solve_at(h: float, n_rounds: int) -> Solution:
        return solve(power_basis(r, h * problem.nodes, real=real), problem, norm, mu, n_rounds)

    if h is None:
        h = search_zoom(lambda h, n_rounds: solve_at(h, n_rounds).error, problem, r)
    solution = solve_at(h, ROUNDS)
    polynomial = CayleyPolynomial(basis_coefficients(solution.coeffs, real=real), h)
    return report_fit(problem, polynomial, CayleyWave(polynomial), norm, solution, h)


def fit_chebyshev(
    target: Kernel | str,
    order: int,
    lmax: float,
    weight: Weight = None,
    *,
    ridge: float = DEFAULT_RIDGE,
    norm: Norm = "least-squares",
) -> Fit:
    r"""Fit a Chebyshev polynomial :math:`\sum_k \alpha_k T_k(2\lambda/\lambda_{max} - 1)` to a target.

    Parameters
    ----------
    target, lmax, weight, norm
        As in :func:`fit_cayley`.
    order : int
        r from 1 to ``MAX_CHEBYSHEV_ORDER`` = 512.
    ridge : float
        As in :func:`fit_cayley`. On the whole interval it makes no difference; where the weight leaves parts of it
        free, it keeps coefficients of high order moderate. With 0 a minimax fit comes with a lower bound.

    Returns
    -------
    Fit
        With the polynomial and its proved distance from the target.

    Examples
    --------
    >>> from cayleygsp import design
    >>> fit = design.fit_chebyshev("low:2:1", order=12, lmax=8.0, ridge=0, norm="minimax")
    >>> fit.polynomial
    ChebyshevPolynomial(order=12, lmax=8)
    >>> bool(fit.lower_bound <= fit.residual_max < 0.15)
    True
    """
    solution, problem = chebyshev_solution(target, order, lmax, weight, ridge, norm)
    return report_chebyshev(problem, norm, solution)


def check_order(order: int, largest: int) -> int:
    """Return the order of a fit as an int if it is from 1 to the largest that is allowed."""
    r = check_integer(order, "order", at_least=1)
    if r > largest:
        raise ValueError(
            f"`order` of a fit must be at most {largest}, as its time grows with the cube of the order, got {r}"
        )
    return r


def check_ridge(ridge: float) -> float:
    """Return ``ridge`` as a float if it is finite and not negative."""
    mu = check_real(ridge, "ridge")
    if not (np.isfinite(mu) and mu >= 0):
        raise ValueError(f"`ridge` must be at least 0 and finite, got {ridge!r}")
    return mu


def chebyshev_solution(
    target: Kernel | str,
    order: int,
    lmax: float,
    weight: Weight,
    ridge: float,
    norm: Norm,
    decide: float | None = None,
) -> tuple[Solution, Problem]:
    """Solve for Chebyshev coefficients."""
    r = check_order(order, MAX_CHEBYSHEV_ORDER)
    mu = check_ridge(ridge)
    check_choice(norm, "norm", NORMS)

    def n_points(a: float, b: float) -> int:
        """Points for every half wave of T_r in the panel: four, or twelve where the largest distance counts."""
        share = (np.arcsin(np.sqrt(b)) - np.arcsin(np.sqrt(a))) * 2 / np.pi
        return 12 + int(np.ceil((12 if norm == "minimax" else 4) * r * share))

    problem = make_problem(target, lmax, weight, n_points)
    x = 2 * problem.nodes / problem.lmax - 1 if problem.lmax else np.full(problem.nodes.shape, -1.0)
    A = np.polynomial.chebyshev.chebvander(x, r)
    return solve(A, problem, norm, mu, ROUNDS, decide), problem


def report_chebyshev(problem: Problem, norm: Norm, solution: Solution) -> Fit:
    """Measure fitted Chebyshev coefficients against the target."""
    polynomial = ChebyshevPolynomial(solution.coeffs, problem.lmax)
    return report_fit(problem, polynomial, ChebyshevWave(polynomial), norm, solution, None)
