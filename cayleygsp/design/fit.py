"""What a fit is: a polynomial of low order, its target, and how near it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from cayleygsp._format import format_at_most
from cayleygsp._typing import FloatArray, Kernel
from cayleygsp._validation import check_choice, check_integer, check_not_negative, check_positive
from cayleygsp.design.distance import largest_distance, largest_response, wave_of
from cayleygsp.design.problem import NORMS, Norm, Over, Problem, Weight, make_problem
from cayleygsp.design.search import ROUNDS, BasisFit, search_zoom, solve
from cayleygsp.design.target import Target
from cayleygsp.responses.basis import basis_coefficients, power_basis
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.chebyshev import ChebyshevPolynomial
from cayleygsp.responses.series import Certificate

# A response this many times above the target is worth a word.
_FAR_ABOVE = 2.0


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted polynomial and how near it came; ``cayleygsp.CayleyFilter(graph, fit.polynomial)`` applies it.

    Attributes
    ----------
    polynomial : CayleyPolynomial or ChebyshevPolynomial
        The fit.
    target : Target
        What was fitted, a function of frequency: of a smooth step the sharp one that it stands for.
    lmax : float
        Right end of the interval of frequencies.
    norm : {"least-squares", "minimax"}
        What was made small.
    residual_rms : float
        Root of the mean square of the distance from the target, weighted as asked for.
    rms_is_estimated : bool
        Whether the weights of that mean are an estimate of the spectral density.
    residual_max : float
        The largest distance from ``target`` outside its transition bands, over what ``over`` says; never below the
        true one if ``certificate`` is "proved". A smooth step that was given is itself up to 0.001 away from the sharp
        one outside its band. An ideal step has both its values at its cutoff: on an interval no continuous response is
        nearer to it than 1/2.
    over : {"eigenvalues", "frequencies", "interval"}
        Where ``residual_max`` holds: at the computed eigenvalues of a graph, rounding included; at the frequencies that
        were given; or at every frequency of [0, lmax], which is said of a graph whose spectrum is only estimated.
    certificate : {"proved", "sampled"}
        "sampled" for a function of which nothing is known but its values, looked at in many places.
    lower_bound : float
        No polynomial of the order, at this zoom, has a smaller ``residual_max``; with ``real_coeffs``, none that has
        real coefficients. Zero if it is not known: for least squares, where a ridge was used, and where rounding left
        directions of the basis out.
    coeff_norm : float
        Euclidean norm of the coefficients. When it is far above the response, terms cancel.
    peak : float
        Largest absolute response over all of [0, lmax], also where the fit had no weight: a proved upper bound.
    zoom : float or None
        The zoom of a Cayley fit.
    nodes, weights : numpy.ndarray, shape (m,)
        Frequencies at which the target was compared, and their weights in the fit, summing to 1.
    has_transition : bool
        Whether some frequencies lie in transition bands and are not spoken of.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> fit = cg.design.fit_cayley(cg.design.Heat(3.0), order=3, lmax=8.0)
    >>> fit.polynomial.order, fit.certificate, fit.residual_rms <= fit.residual_max
    (3, 'proved', True)
    >>> cg.CayleyFilter(cg.gallery.ring(12), fit.polynomial).shape
    (12, 12)
    """

    polynomial: CayleyPolynomial | ChebyshevPolynomial
    target: Target
    lmax: float
    norm: Norm
    residual_rms: float
    rms_is_estimated: bool
    residual_max: float
    over: Over
    certificate: Certificate
    lower_bound: float
    coeff_norm: float
    peak: float
    zoom: float | None
    nodes: FloatArray
    weights: FloatArray
    has_transition: bool

    def __repr__(self) -> str:
        return (
            f"Fit({self.polynomial!r}, residual_rms={self.residual_rms:.3g}, residual_max={self.residual_max:.3g}, "
            f"over={self.over!r}, certificate={self.certificate!r}, coeff_norm={self.coeff_norm:.3g})"
        )

    @property
    def n_parameters(self) -> int:
        """Real numbers that describe the polynomial: coefficients, and the zoom if there is one."""
        c = self.polynomial.coeffs
        if self.zoom is None:
            return c.size
        return c.size + 1 + (c.size - 1 if np.iscomplex(c).any() else 0)

    @property
    def where(self) -> str:
        """Where ``residual_max`` holds, in words."""
        if self.over == "interval":
            every = "every frequency" if self.certificate == "proved" else "the sampled frequencies"
            place = f"at {every} of [0, {self.lmax:.4g}]"
        else:
            count = f"{self.nodes.size:,} " if self.nodes.size > 1 else ""
            noun = "eigenvalue" if self.over == "eigenvalues" else "given frequency"
            plural = "eigenvalues" if self.over == "eigenvalues" else "given frequencies"
            place = f"at the {count}{noun if self.nodes.size == 1 else plural}"
        return place + (" outside the transition" if self.has_transition else "")

    @property
    def is_far_above(self) -> bool:
        """Whether the largest response is far above that of the target."""
        return self.peak > _FAR_ABOVE * self.target_peak

    @property
    def target_peak(self) -> float:
        """The largest absolute value of the target at the points of the fit."""
        return float(np.abs(self.target(self.nodes)).max())

    @property
    def summary(self) -> str:
        """Both distances, what they are over, and a word on the largest response where it is far above the target."""
        rms = f"distance {self.residual_rms:.2g} rms" + (" (estimated)" if self.rms_is_estimated else "")
        text = f"{rms}, at most {format_at_most(self.residual_max, 2)} {self.where}"
        if self.certificate == "sampled":
            text += ", by sampling"
        if self.is_far_above:
            text += f"; its largest response is {self.peak:.2g}, far above the target's {self.target_peak:.2g}"
        return text


# Weight of the coefficients beside the distance, see `fit_cayley`.
DEFAULT_RIDGE = 1e-6

# The largest orders of fits. The search for a zoom solves some hundred dense problems whose time grows with the cube of
# the order. Cosines and sines on half a circle, nearly dependent long before these, add little but cancellation.
MAX_CAYLEY_ORDER = 48
MAX_CHEBYSHEV_ORDER = 512


def checked_order(order: int, largest: int) -> int:
    """Return the order of a fit as an int if it is from 1 to the largest that is allowed."""
    r = check_integer(order, "order", at_least=1)
    if r > largest:
        raise ValueError(
            f"`order` of a fit must be at most {largest}, as its time grows with the cube of the order, got {r}"
        )
    return r


def _report(
    problem: Problem, polynomial: CayleyPolynomial | ChebyshevPolynomial, norm: Norm, lower_bound: float
) -> Fit:
    """Measure a fitted polynomial against its target."""
    wave, form = wave_of(polynomial), polynomial.cayley_form
    difference = polynomial(problem.nodes) - problem.values
    residual_max, certificate = largest_distance(wave, problem)
    return Fit(
        polynomial=polynomial,
        target=problem.target,
        lmax=problem.lmax,
        norm=norm,
        residual_rms=float(np.sqrt(problem.mean_weights @ difference**2)),
        rms_is_estimated=problem.is_estimated,
        residual_max=residual_max,
        over=problem.over,
        certificate=certificate,
        lower_bound=lower_bound,
        coeff_norm=float(np.linalg.norm(polynomial.coeffs)),
        peak=largest_response(wave, problem.lmax),
        zoom=None if form is None else form.zoom,
        nodes=problem.nodes,
        weights=problem.weights,
        has_transition=problem.is_free_somewhere,
    )


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
    target : callable, response or str
        A function of frequency, or a text for :func:`parse_target`, relative numbers being relative to ``lmax``. A
        smooth step of :mod:`cayleygsp.responses` stands for the sharp one, with any value in its ``transition``.
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

    Examples
    --------
    >>> from cayleygsp import design
    >>> fit = design.fit_cayley("heat:3", order=4, lmax=8.0)
    >>> fit.polynomial.order, fit.residual_max < 1e-3, fit.certificate
    (4, True, 'proved')
    """
    r, mu = checked_order(order, MAX_CAYLEY_ORDER), check_not_negative(ridge, "ridge")
    check_choice(norm, "norm", NORMS)
    if not isinstance(real_coeffs, bool | np.bool_):
        raise TypeError(f"`real_coeffs` must be True or False, got {real_coeffs!r}")
    real = bool(real_coeffs)
    h = None if isinstance(zoom, str) and zoom == "auto" else check_positive(zoom, "zoom")
    problem = make_problem(target, lmax, weight, lambda a, b: 12 + 2 * r)

    def solve_at(h: float, n_rounds: int) -> BasisFit:
        return solve(power_basis(r, h * problem.nodes, real=real), problem, norm, mu, n_rounds)

    if h is None:
        h = search_zoom(lambda h, n_rounds: solve_at(h, n_rounds).error, problem, r)
    solution = solve_at(h, ROUNDS)
    polynomial = CayleyPolynomial(basis_coefficients(solution.coeffs, real=real), h)
    return _report(problem, polynomial, norm, solution.lower_bound)


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

    Examples
    --------
    >>> from cayleygsp import design
    >>> fit = design.fit_chebyshev("low:2:1", order=12, lmax=8.0, ridge=0, norm="minimax")
    >>> fit.polynomial
    ChebyshevPolynomial(order=12, lmax=8)
    >>> bool(fit.lower_bound <= fit.residual_max < 0.15)
    True
    """
    solution, problem = _solve_chebyshev(target, order, lmax, weight, ridge, norm)
    return _report(problem, ChebyshevPolynomial(solution.coeffs, problem.lmax), norm, solution.lower_bound)


def _solve_chebyshev(
    target: Kernel | str, order: int, lmax: float, weight: Weight, ridge: float, norm: Norm, decide: float | None = None
) -> tuple[BasisFit, Problem]:
    """Solve for Chebyshev coefficients."""
    r, mu = checked_order(order, MAX_CHEBYSHEV_ORDER), check_not_negative(ridge, "ridge")
    check_choice(norm, "norm", NORMS)

    def n_points(a: float, b: float) -> int:
        """Points for every half wave of T_r in the panel: four, or twelve where the largest distance counts."""
        share = (np.arcsin(np.sqrt(b)) - np.arcsin(np.sqrt(a))) * 2 / np.pi
        return 12 + int(np.ceil((12 if norm == "minimax" else 4) * r * share))

    problem = make_problem(target, lmax, weight, n_points)
    x = 2 * problem.nodes / problem.lmax - 1 if problem.lmax else np.full(problem.nodes.shape, -1.0)
    A = np.polynomial.chebyshev.chebvander(x, r)
    return solve(A, problem, norm, mu, ROUNDS, decide), problem


def least_order(
    target: Kernel | str,
    max_error: float,
    lmax: float,
    weight: Weight = None,
    *,
    family: Literal["cayley", "chebyshev"] = "cayley",
    max_order: int | None = None,
    ridge: float | None = None,
    real_coeffs: bool = False,
) -> Fit:
    """Return the minimax fit of the least order that stays within an error.

    Parameters
    ----------
    target, lmax, weight
        As in :func:`fit_cayley`.
    max_error : float
        The largest distance allowed, > 0.
    family : {"cayley", "chebyshev"}
        Which polynomials. For Chebyshev ones without a ridge a lower bound of the error rules out every order below,
        except that an order which 400 rounds do not settle, or whose basis is not whole to rounding, is taken not to
        be enough; ``lower_bound`` of a fit of one order less tells. For Cayley ones the zoom is searched at every
        order, and a better one may have been missed.
    max_order : int, optional
        The largest order to try; by default, and at most, the largest of a fit, 48 for Cayley polynomials and 512 for
        Chebyshev ones.
    ridge : float, optional
        As in :func:`fit_cayley`; by default 0 for Chebyshev polynomials and 1e-6 for Cayley ones.
    real_coeffs : bool
        For Cayley polynomials, whether to use cosines alone.

    Raises
    ------
    ValueError
        If no order up to ``max_order`` is enough.

    Examples
    --------
    >>> from cayleygsp import design
    >>> fits = [design.least_order("low:1:1", 0.1, 40.0, family=f) for f in ("cayley", "chebyshev")]
    >>> [fit.polynomial.order for fit in fits]
    [2, 15]
    """
    error = check_positive(max_error, "max_error")
    check_choice(family, "family", ("cayley", "chebyshev"))
    last = MAX_CAYLEY_ORDER if family == "cayley" else MAX_CHEBYSHEV_ORDER
    if max_order is not None:
        last = min(check_integer(max_order, "max_order", at_least=1), last)
    mu = ridge if ridge is not None else DEFAULT_RIDGE if family == "cayley" else 0.0
    fit_of = partial(fit_cayley, real_coeffs=real_coeffs) if family == "cayley" else fit_chebyshev

    def enough(r: int) -> bool:
        return _solve_chebyshev(target, r, lmax, weight, mu, "minimax", error)[0].error <= error

    # the points of a fit may be within the error, and a frequency between them not
    for r in range(1 if family == "cayley" else _first(enough, last), last + 1):
        fit = fit_of(target, r, lmax, weight=weight, ridge=mu, norm="minimax")
        if fit.residual_max <= error:
            return fit
    raise ValueError(
        f"`max_error` must be larger: no {family} polynomial up to order {last} was found within {error:g}"
    )


def _first(enough: Callable[[int], bool], last: int) -> int:
    """Return the least order that is enough by doubling and bisection, or the one beyond the last."""
    low, high = 0, 1  # low is not enough
    while not enough(high):
        if high == last:
            return last + 1
        low, high = high, min(2 * high, last)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
