"""Polynomials of low order that come nearest to a target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cayleygsp._typing import FloatArray, Kernel
from cayleygsp._validation import check_choice, check_integer, check_positive, check_real
from cayleygsp.design.lawson import ROUNDS, Solution, solve
from cayleygsp.design.problem import NORMS, Norm, Problem, Weight, interval_quadrature, make_problem
from cayleygsp.design.zoom_search import search_zoom
from cayleygsp.responses.cayley import CayleyPolynomial, cayley_angle
from cayleygsp.responses.chebyshev import ChebyshevPolynomial

# Weight of the coefficients beside the distance, see `fit_cayley`.
DEFAULT_RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted polynomial and how near it came.

    Attributes
    ----------
    polynomial : CayleyPolynomial or ChebyshevPolynomial
        The fit.
    target : callable
        What was fitted.
    norm : {"least-squares", "minimax"}
        What was made small.
    residual_rms : float
        Root of the weighted mean square of the distance from the target.
    residual_max : float
        Largest distance at the points of the fit; what is between the eigenvalues of a graph, or inside a transition
        band, is not looked at.
    lower_bound : float
        No polynomial of the order, at this zoom, has a smaller ``residual_max``. Zero if it is not known: for least
        squares, where a ridge was used, and where rounding left directions of the basis out.
    coeff_norm : float
        Euclidean norm of the coefficients. When it is far above the response, terms cancel.
    peak : float
        Largest absolute response over all of [0, lmax], also where the fit had no weight.
    zoom : float or None
        The zoom of a Cayley fit.
    nodes, weights : numpy.ndarray, shape (m,)
        Frequencies at which the target was compared, and their weights, summing to 1.
    """

    polynomial: CayleyPolynomial | ChebyshevPolynomial
    target: Callable[..., Any]
    norm: Norm
    residual_rms: float
    residual_max: float
    lower_bound: float
    coeff_norm: float
    peak: float
    zoom: float | None
    nodes: FloatArray
    weights: FloatArray

    def __repr__(self) -> str:
        return (
            f"Fit({self.polynomial!r}, residual_rms={self.residual_rms:.3g}, residual_max={self.residual_max:.3g}, "
            f"coeff_norm={self.coeff_norm:.3g})"
        )

    @property
    def n_parameters(self) -> int:
        """Real numbers that describe the polynomial: coefficients, and the zoom if there is one."""
        c = self.polynomial.coeffs
        if self.zoom is None:
            return c.size
        return c.size + 1 + (c.size - 1 if np.iscomplex(c).any() else 0)


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
        r ≥ 1.
    lmax : float
        Right end of the interval of frequencies, ≥ 0.
    zoom : float or "auto"
        h > 0, or "auto" for the best that a search over its logarithm finds.
    weight : None, SpectralDensity, callable or array_like
        What matters: all of [0, lmax] alike (None), the spectrum that a density describes, a function of frequency
        ≥ 0, or the given frequencies, each alike, such as the eigenvalues of a graph.
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
        With the polynomial, its zoom, residuals and the norm of the coefficients.

    Examples
    --------
    >>> from cayleygsp import design
    >>> fit = design.fit_cayley("heat:3", order=4, lmax=8.0)
    >>> fit.polynomial.order, fit.residual_max < 1e-3
    (4, True)
    """
    r = check_integer(order, "order", at_least=1)
    mu = check_ridge(ridge)
    check_choice(norm, "norm", NORMS)
    if not isinstance(real_coeffs, bool | np.bool_):
        raise TypeError(f"`real_coeffs` must be True or False, got {real_coeffs!r}")
    h = None if isinstance(zoom, str) and zoom == "auto" else check_positive(zoom, "zoom")
    problem = make_problem(target, lmax, weight, lambda a, b: 12 + 2 * r)

    def solve_at(h: float, n_rounds: int) -> Solution:
        A = cayley_basis(h, r, problem.nodes, bool(real_coeffs))
        return solve(A, problem, norm, mu, n_rounds)

    if h is None:
        h = search_zoom(lambda h, n_rounds: solve_at(h, n_rounds).error, problem, r)
    solution = solve_at(h, ROUNDS)
    x = solution.coeffs
    c = np.zeros(r + 1, dtype=np.complex128)
    c.real = x[: r + 1]
    c.imag[1:] = x[r + 1 :] if not real_coeffs else 0.0
    return report_fit(problem, CayleyPolynomial(c, h), norm, solution, h)


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
    target, order, lmax, weight, norm
        As in :func:`fit_cayley`.
    ridge : float
        As in :func:`fit_cayley`. On the whole interval it makes no difference; where the weight leaves parts of it
        free, it keeps coefficients of high order moderate. With 0 a minimax fit comes with a lower bound.

    Returns
    -------
    Fit
        With the polynomial and its residuals.

    Examples
    --------
    >>> from cayleygsp import design
    >>> fit = design.fit_chebyshev("low:2:1", order=12, lmax=8.0, ridge=0, norm="minimax")
    >>> fit.polynomial
    ChebyshevPolynomial(order=12, lmax=8)
    >>> bool(fit.lower_bound <= fit.residual_max < 0.15)
    True
    """
    solution, problem = chebyshev_solution(target, order, lmax, weight, ridge, norm, None)
    polynomial = ChebyshevPolynomial(solution.coeffs, problem.lmax)
    return report_fit(problem, polynomial, norm, solution, None)


def check_ridge(ridge: float) -> float:
    """Return ``ridge`` as a float if it is finite and not negative."""
    mu = check_real(ridge, "ridge")
    if not (np.isfinite(mu) and mu >= 0):
        raise ValueError(f"`ridge` must be at least 0 and finite, got {ridge!r}")
    return mu


def cayley_basis(h: float, r: int, lam: FloatArray, real_coeffs: bool) -> FloatArray:
    """Return the response to each unknown as a column: c_0, the real parts, then the imaginary parts."""
    angles = np.outer(cayley_angle(h * lam), np.arange(1, r + 1))
    parts = [np.ones((lam.size, 1)), 2 * np.cos(angles)]
    return np.concatenate(parts if real_coeffs else [*parts, -2 * np.sin(angles)], axis=1)


def chebyshev_solution(
    target: Kernel | str, order: int, lmax: float, weight: Weight, ridge: float, norm: Norm, decide: float | None
) -> tuple[Solution, Problem]:
    """Solve for Chebyshev coefficients."""
    r = check_integer(order, "order", at_least=1)
    mu = check_ridge(ridge)
    check_choice(norm, "norm", NORMS)

    def n_points(a: float, b: float) -> int:
        """Four points and more for every half wave of T_r in the panel."""
        share = (np.arcsin(np.sqrt(b)) - np.arcsin(np.sqrt(a))) * 2 / np.pi
        return 12 + int(np.ceil(4 * r * share))

    problem = make_problem(target, lmax, weight, n_points)
    x = 2 * problem.nodes / problem.lmax - 1 if problem.lmax else np.full(problem.nodes.shape, -1.0)
    A = np.polynomial.chebyshev.chebvander(x, r)
    return solve(A, problem, norm, mu, ROUNDS, decide), problem


def report_fit(
    problem: Problem,
    polynomial: CayleyPolynomial | ChebyshevPolynomial,
    norm: Norm,
    solution: Solution,
    zoom: float | None,
) -> Fit:
    """Measure a fitted polynomial against its target."""
    distance = np.abs(polynomial(problem.nodes) - problem.values)
    grid = np.append(interval_quadrature(problem.lmax, problem.features, lambda a, b: 40)[0], problem.nodes)
    return Fit(
        polynomial=polynomial,
        target=problem.target,
        norm=norm,
        residual_rms=float(np.sqrt(problem.weights @ distance**2)),
        residual_max=float(distance.max()),
        lower_bound=solution.lower_bound,
        coeff_norm=float(np.linalg.norm(polynomial.coeffs)),
        peak=float(np.abs(polynomial(grid)).max()),
        zoom=zoom,
        nodes=problem.nodes,
        weights=problem.weights,
    )
