r"""Filter design: targets that users name, and the polynomials that come nearest to them.

A target is a function of frequency. :func:`fit_cayley` and :func:`fit_chebyshev` look for the polynomial of a given
order that is nearest to it in the mean square or in the largest deviation, over the frequencies that matter: an
interval, a spectral density, or the eigenvalues of a graph. What comes out is reported in a :class:`Fit`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from scipy import linalg

from cayleygsp._typing import Array, ArrayLike, FloatArray, Kernel
from cayleygsp._validation import check_choice, check_eigenvalues, check_integer, check_positive, check_real
from cayleygsp.cayley import CayleyPolynomial, cayley_angle
from cayleygsp.chebyshev import ChebyshevPolynomial
from cayleygsp.density import EXACT_VERTICES, SpectralDensity, spectral_density
from cayleygsp.kernel import KernelResponse
from cayleygsp.laplacian import Laplacian

__all__ = [
    "BandPass",
    "Fit",
    "Heat",
    "HighPass",
    "Indicator",
    "LowPass",
    "MexicanHat",
    "Target",
    "fit_cayley",
    "fit_chebyshev",
    "graph_weight",
    "least_order",
    "make_target",
    "parse_target",
]

Norm: TypeAlias = Literal["least-squares", "minimax"]
Weight: TypeAlias = SpectralDensity | Kernel | ArrayLike | None
GraphWeight: TypeAlias = Weight | Literal["auto", "spectrum", "density", "uniform"]

NORMS: tuple[Norm, ...] = ("least-squares", "minimax")

# Below this share of the mean weight, a point of a density counts for nothing.
_NEGLIGIBLE = 1e-6

# Panels of the interval are halved towards zero this many times: large zooms look there.
_HALVINGS = 24

# Weight of the coefficients beside the distance, see `fit_cayley`.
DEFAULT_RIDGE = 1e-6

# Rounds of Lawson's method: on the grid of a search for the zoom, in its closer look, and for what is returned.
_GRID_ROUNDS, _SEARCH_ROUNDS, _ROUNDS = 10, 25, 400


# ------------------------------------------------------------------------------------------------- targets


class Target(ABC):
    """A function of frequency with the places where something happens; the base of the named targets."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def features(self) -> tuple[float, ...]:
        """Frequencies at which the target changes; fits look closely there."""

    @abstractmethod
    def __call__(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the value at the given frequencies, in their shape."""

    def weight(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return 0 inside transition bands, where any value will do, and 1 elsewhere."""
        return np.ones(np.shape(eigenvalues))


class _Band(Target):
    """Steps up and down, each with a transition band."""

    transition: float

    @abstractmethod
    def _steps(self) -> tuple[float | None, float | None]:
        """Return where the target rises from 0 to 1 and where it falls; None for never."""

    @property
    def features(self) -> tuple[float, ...]:
        half = self.transition / 2
        cutoffs = [c for c in self._steps() if c is not None]
        return tuple(sorted({edge for c in cutoffs for edge in (c - half, c + half)}))

    def __call__(self, eigenvalues: ArrayLike) -> FloatArray:
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        rise, fall = self._steps()
        values = np.ones(lam.shape)
        if rise is not None:
            values = np.minimum(values, self._step(lam - rise))
        if fall is not None:
            values = np.minimum(values, self._step(fall - lam))
        return values

    def _step(self, beyond: FloatArray) -> FloatArray:
        """Return 0 far below the cutoff, 1 from there on, and a ramp across the transition band."""
        if self.transition == 0:
            return (beyond >= 0).astype(np.float64)
        return np.clip(beyond / self.transition + 0.5, 0.0, 1.0)

    def weight(self, eigenvalues: ArrayLike) -> FloatArray:
        lam = check_eigenvalues(eigenvalues)
        matters = np.ones(lam.shape)
        for cutoff in self._steps():
            if cutoff is not None:
                matters[np.abs(lam - cutoff) < self.transition / 2] = 0.0
        return matters

    def _check_transition(self, room: float) -> None:
        width = check_real(self.transition, "transition")
        if not 0 <= width < room:
            raise ValueError(f"`transition` must be at least 0 and below {room:g}, what the band leaves, got {width:g}")


@dataclass(frozen=True)
class LowPass(_Band):
    r"""1 up to the cutoff, 0 above.

    Parameters
    ----------
    cutoff : float
        The last frequency to pass, > 0.
    transition : float
        Width of a band around the cutoff in which any value will do, below twice the cutoff. With 0 the target is an
        ideal step: a continuous fit misses it by 1/2 somewhere, if the weight reaches up to it.

    Examples
    --------
    >>> from cayleygsp.design import LowPass
    >>> LowPass(0.5)([0.0, 0.5, 0.6])
    array([1., 1., 0.])
    """

    name: ClassVar[str] = "low-pass"
    cutoff: float
    transition: float = 0.0

    def __post_init__(self) -> None:
        self._check_transition(2 * check_positive(self.cutoff, "cutoff"))

    def _steps(self) -> tuple[float | None, float | None]:
        return None, self.cutoff


@dataclass(frozen=True)
class HighPass(_Band):
    """0 below the cutoff, 1 from there on.

    Parameters
    ----------
    cutoff : float
        The first frequency to pass, > 0.
    transition : float
        Width of a band around the cutoff in which any value will do, below twice the cutoff.

    Examples
    --------
    >>> from cayleygsp.design import HighPass
    >>> HighPass(0.5)([0.4, 0.5, 9.0])
    array([0., 1., 1.])
    """

    name: ClassVar[str] = "high-pass"
    cutoff: float
    transition: float = 0.0

    def __post_init__(self) -> None:
        self._check_transition(2 * check_positive(self.cutoff, "cutoff"))

    def _steps(self) -> tuple[float | None, float | None]:
        return self.cutoff, None


@dataclass(frozen=True)
class BandPass(_Band):
    """1 from ``low`` to ``high``, 0 elsewhere.

    Parameters
    ----------
    low, high : float
        Ends of the band, 0 ≤ low < high.
    transition : float
        Width of a band around each end in which any value will do; less than the band, and less than twice ``low``
        unless that is 0.

    Examples
    --------
    >>> from cayleygsp.design import BandPass
    >>> BandPass(0.2, 0.4)([0.1, 0.3, 0.5])
    array([0., 1., 0.])
    """

    name: ClassVar[str] = "band-pass"
    low: float
    high: float
    transition: float = 0.0

    def __post_init__(self) -> None:
        _check_band(self.low, self.high)
        self._check_transition(min(self.high - self.low, 2 * self.low if self.low else np.inf))

    def _steps(self) -> tuple[float | None, float | None]:
        return self.low or None, self.high


@dataclass(frozen=True)
class Indicator(_Band):
    """1 on the closed band [low, high], 0 elsewhere, without a transition.

    Parameters
    ----------
    low, high : float
        Ends of the band, 0 ≤ low < high.

    Examples
    --------
    >>> from cayleygsp.design import Indicator
    >>> Indicator(0, 1.2)([0.0, 1.2, 1.3])
    array([1., 1., 0.])
    """

    name: ClassVar[str] = "indicator"
    transition: ClassVar[float] = 0.0  # type: ignore[misc]
    low: float
    high: float

    def __post_init__(self) -> None:
        _check_band(self.low, self.high)

    def _steps(self) -> tuple[float | None, float | None]:
        return self.low or None, self.high


class _Scaled(Target):
    """One shape, stretched along the axis of frequencies."""

    scale: float

    def __post_init__(self) -> None:
        check_positive(self.scale, "scale")

    @abstractmethod
    def _shape(self, x: FloatArray) -> FloatArray:
        """Return the value at x = sλ."""

    @property
    def features(self) -> tuple[float, ...]:
        return (1 / self.scale,)

    def __call__(self, eigenvalues: ArrayLike) -> FloatArray:
        return self._shape(self.scale * check_eigenvalues(eigenvalues).astype(np.float64))


@dataclass(frozen=True)
class Heat(_Scaled):
    r"""The heat kernel :math:`e^{-s\lambda}`.

    Parameters
    ----------
    scale : float
        s > 0, the time of the diffusion.

    Examples
    --------
    >>> from cayleygsp.design import Heat
    >>> Heat(2.0)([0.0, 0.5]).round(3)
    array([1.   , 0.368])
    """

    name: ClassVar[str] = "heat"
    scale: float

    def _shape(self, x: FloatArray) -> FloatArray:
        return np.exp(-x)


@dataclass(frozen=True)
class MexicanHat(_Scaled):
    r"""The wavelet :math:`s\lambda\, e^{1 - s\lambda}`: 0 at λ = 0, and 1 at its peak λ = 1/s.

    Parameters
    ----------
    scale : float
        s > 0.

    Examples
    --------
    >>> from cayleygsp.design import MexicanHat
    >>> MexicanHat(2.0)([0.0, 0.5, 5.0]).round(3)
    array([0.   , 1.   , 0.001])
    """

    name: ClassVar[str] = "mexican-hat"
    scale: float

    def _shape(self, x: FloatArray) -> FloatArray:
        return x * np.exp(1 - x)


_TARGETS: dict[str, type[Target]] = {
    kind.name: kind for kind in (LowPass, HighPass, BandPass, Heat, MexicanHat, Indicator)
}
_SHORT_NAMES = {name.partition("-")[0]: name for name in _TARGETS}


def make_target(name: str, **parameters: float) -> Target:
    """Return a target by its name.

    Parameters
    ----------
    name : {"low-pass", "high-pass", "band-pass", "heat", "mexican-hat", "indicator"}
        The first word alone will do.
    **parameters
        Those of :class:`LowPass`, :class:`HighPass`, :class:`BandPass`, :class:`Heat`, :class:`MexicanHat`,
        :class:`Indicator`.

    Examples
    --------
    >>> from cayleygsp import design
    >>> design.make_target("band-pass", low=0.2, high=0.4)
    BandPass(low=0.2, high=0.4, transition=0.0)
    """
    if not isinstance(name, str) or _SHORT_NAMES.get(name, name) not in _TARGETS:
        raise ValueError(f"`name` must be one of {', '.join(map(repr, _TARGETS))}, got {name!r}")
    kind = _TARGETS[_SHORT_NAMES.get(name, name)]
    known = _parameters_of(kind)
    if not set(parameters) <= set(known):
        raise TypeError(f"`parameters` of {kind.name!r} must be among {', '.join(known)}, got {', '.join(parameters)}")
    missing = [p for p in known if p not in parameters and p != "transition"]
    if missing:
        raise TypeError(f"`parameters` of {kind.name!r} must include {', '.join(missing)}")
    return kind(**parameters)


def parse_target(text: str, lmax: float | None = None) -> Target:
    r"""Read a target from a short text, as a command line has it: a name and its parameters between colons.

    Parameters
    ----------
    text : str
        ``"low:CUTOFF"``, ``"high:CUTOFF"``, ``"band:LOW:HIGH"``, each with an optional ``":TRANSITION"``,
        ``"indicator:LOW:HIGH"``, ``"heat:SCALE"``, ``"mexican:SCALE"``. Frequencies are absolute; one with an "r"
        behind it is relative to ``lmax``: ``"low:0.1r"`` is a tenth of the spectrum, ``"heat:3r"`` is
        :math:`e^{-3\lambda/\lambda_{max}}`.
    lmax : float, optional
        What relative numbers refer to.

    Examples
    --------
    >>> from cayleygsp import design
    >>> design.parse_target("low:0.5")
    LowPass(cutoff=0.5, transition=0.0)
    >>> design.parse_target("band:0.25r:0.5r", lmax=8.0)
    BandPass(low=2.0, high=4.0, transition=0.0)
    """
    if not isinstance(text, str):
        raise TypeError(f"`text` must be a string such as 'low:0.5', got {type(text).__name__}")
    name, *words = text.strip().split(":")
    if _SHORT_NAMES.get(name, name) not in _TARGETS:
        raise ValueError(f"`text` must start with one of {', '.join(_SHORT_NAMES)}, got {text!r}")
    known = _parameters_of(_TARGETS[_SHORT_NAMES.get(name, name)])
    needed = [p for p in known if p != "transition"]
    if not len(needed) <= len(words) <= len(known):
        form = ":".join([name, *(p.upper() for p in needed)])
        raise ValueError(f"`text` must have the form {form!r}, got {text!r}")
    numbers = {p: _read_number(word, text, p, lmax) for p, word in zip(known, words, strict=False)}
    return make_target(name, **numbers)


def _parameters_of(kind: type[Target]) -> list[str]:
    return [field.name for field in fields(kind)]  # type: ignore[arg-type]


def _read_number(word: str, text: str, parameter: str, lmax: float | None) -> float:
    word = word.strip()
    relative = word.endswith("r")
    try:
        number = float(word.removesuffix("r"))
    except ValueError:
        raise ValueError(f"`text` must have a number for {parameter}, got {word!r} in {text!r}") from None
    if not relative:
        return number
    if lmax is None:
        raise ValueError(f"`lmax` must be given to read the relative {parameter} in {text!r}")
    unit = check_positive(lmax, "lmax")
    return number / unit if parameter == "scale" else number * unit


def _check_band(low: float, high: float) -> None:
    b = check_positive(high, "high")
    if not 0 <= check_real(low, "low") < b:
        raise ValueError(f"`low` must be at least 0 and below `high` = {b:g}, got {low:g}")


# --------------------------------------------------------------------------------------------------- fits


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


@dataclass(frozen=True, eq=False)
class _Problem:
    """A target at the frequencies that matter."""

    target: Callable[..., Any]
    lmax: float
    features: tuple[float, ...]
    nodes: FloatArray
    weights: FloatArray
    values: FloatArray


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
    mu = _check_ridge(ridge)
    check_choice(norm, "norm", NORMS)
    if not isinstance(real_coeffs, bool | np.bool_):
        raise TypeError(f"`real_coeffs` must be True or False, got {real_coeffs!r}")
    h = None if isinstance(zoom, str) and zoom == "auto" else check_positive(zoom, "zoom")
    problem = _make_problem(target, lmax, weight, lambda a, b: 12 + 2 * r)

    def solve(h: float, n_rounds: int) -> _Solution:
        A = _cayley_basis(h, r, problem.nodes, bool(real_coeffs))
        return _solve(A, problem, norm, mu, n_rounds)

    if h is None:
        h = _search_zoom(lambda h, n_rounds: solve(h, n_rounds).error, problem, r)
    solution = solve(h, _ROUNDS)
    x = solution.coeffs
    c = np.zeros(r + 1, dtype=np.complex128)
    c.real = x[: r + 1]
    c.imag[1:] = x[r + 1 :] if not real_coeffs else 0.0
    return _report(problem, CayleyPolynomial(c, h), norm, solution, h)


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
    solution, problem = _chebyshev_solution(target, order, lmax, weight, ridge, norm, None)
    polynomial = ChebyshevPolynomial(solution.coeffs, problem.lmax)
    return _report(problem, polynomial, norm, solution, None)


def least_order(
    target: Kernel | str,
    max_error: float,
    lmax: float,
    weight: Weight = None,
    *,
    family: Literal["cayley", "chebyshev"] = "cayley",
    max_order: int = 1000,
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
    max_order : int
        The largest order to try.
    ridge : float, optional
        As in :func:`fit_cayley`; by default 0 for Chebyshev polynomials and 1e-6 for Cayley ones.
    real_coeffs : bool
        For Cayley polynomials, whether to use cosines alone.

    Returns
    -------
    Fit
        Of the least order, with ``norm`` "minimax".

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
    last = check_integer(max_order, "max_order", at_least=1)
    check_choice(family, "family", ("cayley", "chebyshev"))
    if family == "cayley":
        mu = DEFAULT_RIDGE if ridge is None else ridge
        for r in range(1, last + 1):
            fit = fit_cayley(target, r, lmax, "auto", weight, real_coeffs=real_coeffs, ridge=mu, norm="minimax")
            if fit.residual_max <= error:
                return fit
        raise _out_of_orders(family, error, last)
    mu = 0.0 if ridge is None else ridge

    def enough(r: int) -> bool:
        return _chebyshev_solution(target, r, lmax, weight, mu, "minimax", error)[0].error <= error

    low, high = 0, 1  # low is not enough
    while not enough(high):
        if high == last:
            raise _out_of_orders(family, error, last)
        low, high = high, min(2 * high, last)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    solution, problem = _chebyshev_solution(target, high, lmax, weight, mu, "minimax", None)
    return _report(problem, ChebyshevPolynomial(solution.coeffs, problem.lmax), "minimax", solution, None)


def _out_of_orders(family: str, error: float, last: int) -> ValueError:
    return ValueError(f"`max_order` must be larger: no {family} polynomial up to order {last} is within {error:g}")


def graph_weight(L: Laplacian, weight: GraphWeight = "auto", rng: np.random.Generator | int | None = None) -> Weight:
    """Return what a fit for one graph should weigh by.

    Parameters
    ----------
    L : Laplacian
        The graph.
    weight : {"auto", "spectrum", "density", "uniform"} or what :func:`fit_cayley` takes
        "spectrum" for the eigenvalues, which must be computed; "density" for an estimate of their distribution;
        "uniform" for all frequencies alike; "auto" for the spectrum of a graph of up to 500 vertices or where it is
        known already, else the density.
    rng : numpy.random.Generator or int, optional
        For the probes of the density.
    """
    if not isinstance(weight, str):
        return weight
    check_choice(weight, "weight", ("auto", "spectrum", "density", "uniform"))
    if weight == "auto":
        weight = "spectrum" if L.has_eigenbasis or L.n_vertices <= EXACT_VERTICES else "density"
    if weight == "uniform":
        return None
    return L.eigenvalues if weight == "spectrum" else spectral_density(L, method="kpm", rng=rng)


# ------------------------------------------------------------------------------------- the problem to solve


def as_target(target: Kernel | str, lmax: float) -> Callable[..., Any]:
    """Return a target as a function whose values are checked; texts are read."""
    if isinstance(target, str):
        return parse_target(target, lmax if lmax > 0 else None)
    if not callable(target):
        raise TypeError(f"`target` must be callable on frequencies or a text, got {type(target).__name__}")
    return target


def _check_lmax(lmax: float) -> float:
    number = check_real(lmax, "lmax")
    if not (np.isfinite(number) and number >= 0):
        raise ValueError(f"`lmax` must be at least 0 and finite, got {lmax!r}")
    return number


def _check_ridge(ridge: float) -> float:
    mu = check_real(ridge, "ridge")
    if not (np.isfinite(mu) and mu >= 0):
        raise ValueError(f"`ridge` must be at least 0 and finite, got {ridge!r}")
    return mu


def _make_problem(
    target: Kernel | str, lmax: float, weight: Weight, n_points: Callable[[float, float], int]
) -> _Problem:
    """Check target and weight, and evaluate them where they matter."""
    lmax = _check_lmax(lmax)
    function = as_target(target, lmax)
    features = function.features if isinstance(function, Target) else ()
    nodes, weights = _nodes_and_weights(weight, lmax, features, n_points)
    if isinstance(function, Target):
        weights = weights * function.weight(nodes)
    kept = weights > _NEGLIGIBLE * weights.sum() / weights.size if isinstance(weight, SpectralDensity) else weights > 0
    if not kept.any():
        raise ValueError("`weight` must be positive somewhere outside the transition bands of the target, got none")
    nodes, weights = nodes[kept], weights[kept]
    values = KernelResponse(function)(nodes)
    return _Problem(function, lmax, features, nodes, weights / weights.sum(), values)


def _nodes_and_weights(
    weight: Weight, lmax: float, features: tuple[float, ...], n_points: Callable[[float, float], int]
) -> tuple[FloatArray, FloatArray]:
    if isinstance(weight, SpectralDensity):
        return _inside(weight.nodes, lmax, "the nodes of `weight`"), weight.weights
    if weight is None or callable(weight):
        nodes, weights = interval_quadrature(lmax, features, n_points)
        if weight is None:
            return nodes, weights
        factor = np.asarray(weight(nodes))
        if factor.shape != nodes.shape or factor.dtype.kind not in "biuf":
            raise ValueError(
                f"`weight` must return one real number for each frequency: for shape {nodes.shape} it returned "
                f"shape {factor.shape} with dtype {factor.dtype}"
            )
        if not (np.isfinite(factor) & (factor >= 0)).all():
            bad = float(factor[~(np.isfinite(factor) & (factor >= 0))][0])
            raise ValueError(f"`weight` must return finite numbers that are not negative, got {bad:g}")
        return nodes, weights * factor
    if isinstance(weight, str):
        raise TypeError(f"`weight` must be None, a SpectralDensity, a callable or frequencies, got {weight!r}")
    lam = check_eigenvalues(weight)
    if lam.ndim != 1 or lam.size == 0:
        raise ValueError(f"`weight`, if frequencies, must have shape (n,), got {lam.shape}")
    nodes = _inside(lam.astype(np.float64), lmax, "frequencies in `weight`")
    return nodes, np.full(nodes.size, 1 / nodes.size)


def _inside(lam: FloatArray, lmax: float, name: str) -> FloatArray:
    """Return frequencies within [0, lmax]; what is outside by rounding goes to the ends."""
    slack = 1e-8 * lmax + 1e-12
    outside = ~((lam >= -slack) & (lam <= lmax + slack))
    if outside.any():
        raise ValueError(f"{name} must be within 0 and `lmax` = {lmax:g}, got {lam[outside][0]:g}")
    return np.clip(lam, 0.0, lmax)


def interval_quadrature(
    lmax: float, features: tuple[float, ...], n_points: Callable[[float, float], int]
) -> tuple[FloatArray, FloatArray]:
    """Return Gauss–Legendre points and weights on panels of [0, lmax] that end at features and shrink towards zero.

    Parameters
    ----------
    lmax : float
        Right end.
    features : tuple of float
        Frequencies that no panel should have inside.
    n_points : callable
        The number of points for a panel from a to b.
    """
    if lmax == 0:
        return np.zeros(1), np.ones(1)
    edges = np.append(lmax * 0.5 ** np.arange(_HALVINGS + 1), [0.0, *(f for f in features if 0 < f < lmax)])
    edges = np.unique(edges)
    nodes, weights = [], []
    for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        x, w = _gauss_legendre(n_points(a / lmax, b / lmax))
        nodes.append(a + (b - a) * (x + 1) / 2)
        weights.append(w * (b - a) / 2)
    return np.concatenate(nodes), np.concatenate(weights) / lmax


@lru_cache(maxsize=64)
def _gauss_legendre(n_points: int) -> tuple[FloatArray, FloatArray]:
    return np.polynomial.legendre.leggauss(n_points)


def _cayley_basis(h: float, r: int, lam: FloatArray, real_coeffs: bool) -> FloatArray:
    """Return the response to each unknown as a column: c_0, the real parts, then the imaginary parts."""
    angles = np.outer(cayley_angle(h * lam), np.arange(1, r + 1))
    parts = [np.ones((lam.size, 1)), 2 * np.cos(angles)]
    return np.concatenate(parts if real_coeffs else [*parts, -2 * np.sin(angles)], axis=1)


def _chebyshev_solution(
    target: Kernel | str, order: int, lmax: float, weight: Weight, ridge: float, norm: Norm, decide: float | None
) -> tuple[_Solution, _Problem]:
    r = check_integer(order, "order", at_least=1)
    mu = _check_ridge(ridge)
    check_choice(norm, "norm", NORMS)

    def n_points(a: float, b: float) -> int:
        """Four points and more for every half wave of T_r in the panel."""
        share = (np.arcsin(np.sqrt(b)) - np.arcsin(np.sqrt(a))) * 2 / np.pi
        return 12 + int(np.ceil(4 * r * share))

    problem = _make_problem(target, lmax, weight, n_points)
    x = 2 * problem.nodes / problem.lmax - 1 if problem.lmax else np.full(problem.nodes.shape, -1.0)
    A = np.polynomial.chebyshev.chebvander(x, r)
    return _solve(A, problem, norm, mu, _ROUNDS, decide), problem


def _report(
    problem: _Problem,
    polynomial: CayleyPolynomial | ChebyshevPolynomial,
    norm: Norm,
    solution: _Solution,
    zoom: float | None,
) -> Fit:
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


# ------------------------------------------------------------------------------------------- linear algebra


@dataclass(frozen=True, eq=False)
class _Solution:
    """Coefficients of a basis, the error that was made small, and a bound of what is possible."""

    coeffs: Array
    error: float
    lower_bound: float


def _solve(
    A: FloatArray, problem: _Problem, norm: Norm, ridge: float, n_rounds: int, decide: float | None = None
) -> _Solution:
    t = problem.values
    if norm == "least-squares":
        w = np.sqrt(problem.weights)
        basis = _Basis(w[:, None] * A, ridge)
        x = basis.coefficients(basis.D * (basis.U.T @ (w * t)))
        return _Solution(x, float(np.linalg.norm(w * (A @ x - t))), 0.0)
    return _lawson(_Basis(A, ridge), t, n_rounds, decide)


class _Basis:
    """A = U S Vᵀ without what rounding decides, in unknowns z for which the ridge is the identity minus D².

    With z = (S² + μ²)^{1/2} Vᵀx, the ridge μ²|x|² is |z|² - |Dz|², and D = S (S² + μ²)^{-1/2} lies between 0 and 1: the
    normal equations are as well conditioned as the weights let them be.
    """

    def __init__(self, A: FloatArray, ridge: float) -> None:
        U, s, Vt = linalg.svd(A, full_matrices=False, check_finite=False)
        rank = int(np.count_nonzero(s > max(A.shape) * np.finfo(np.float64).eps * s[0]))
        self.U, s, self.V = U[:, :rank], s[:rank], Vt[:rank].T
        self.scale = np.hypot(s, ridge * s[0])
        self.D = s / self.scale
        # only then do lower bounds speak for all polynomials of the order
        self.is_whole = ridge == 0 and rank == min(A.shape)

    def coefficients(self, z: FloatArray) -> FloatArray:
        """Return the coefficients x for the unknowns z."""
        return self.V @ (z / self.scale)


def _lawson(basis: _Basis, t: FloatArray, n_rounds: int, decide: float | None) -> _Solution:
    """Return the coefficients with the least maximum distance, by least squares with weights that follow it.

    Whatever the weights, summing to 1, their least weighted mean square is not above the least maximum: without a ridge
    every round gives a lower bound. The rounds end when it is within 1e-3 of what was reached, or, with ``decide``,
    when it is settled whether that error can be reached.
    """
    m = t.size
    B = np.sqrt(m) * basis.U * basis.D
    ridge = 1 - basis.D**2
    w = np.full(m, 1 / m)
    best, best_z, lower = np.inf, np.zeros(B.shape[1]), 0.0
    for _ in range(n_rounds):
        Bw = B * w[:, None]
        G = Bw.T @ B
        G[np.diag_indices_from(G)] += ridge
        z = _solve_gram(G, Bw.T @ t)
        distance = np.abs(B @ z - t)
        largest = float(distance.max())
        if largest < best:
            best, best_z = largest, z
        lower = max(lower, float(np.sqrt(w @ distance**2)))
        if best <= lower * (1 + 1e-3) or best <= 1e-14 * np.abs(t).max(initial=0.0):
            break
        if decide is not None and (best <= decide or (lower > decide and basis.is_whole)):
            break
        w = w * (distance + 1e-9 * largest)
        w /= w.sum()
    # rounding may put a bound that is met above what meets it
    bound = min(lower, best) if basis.is_whole else 0.0
    return _Solution(basis.coefficients(np.sqrt(m) * best_z), best, bound)


def _solve_gram(G: FloatArray, b: FloatArray) -> FloatArray:
    try:
        return linalg.cho_solve(linalg.cho_factor(G, check_finite=False), b, check_finite=False)
    except linalg.LinAlgError:
        return np.linalg.lstsq(G, b, rcond=1e-13)[0]


# ------------------------------------------------------------------------------------------------- the zoom


def _search_zoom(error: Callable[[float, int], float], problem: _Problem, order: int) -> float:
    """Return the zoom of the least error: a grid over its logarithm, then a closer look around the best few.

    The error as a function of the zoom has several minima, more of them the higher the order; of equally good zooms
    the smallest is taken, which is the cheapest to apply.
    """
    from scipy import optimize  # slow to load, and needed for a search alone

    if problem.lmax == 0:
        return 1.0
    low, high = _zoom_range(problem)
    per_decade = min(8 + order, 20)
    grid = np.linspace(low, high, int(np.ceil((high - low) / np.log(10) * per_decade)) + 1)
    found = [(error(float(np.exp(x)), _GRID_ROUNDS), x) for x in grid]
    step = grid[1] - grid[0]
    for value, x in sorted(_local_minima(found))[:3]:
        if value > 1e-13:
            closer = optimize.minimize_scalar(
                lambda y: error(float(np.exp(y)), _SEARCH_ROUNDS),
                bounds=(x - step, x + step),
                method="bounded",
                options={"maxiter": 25},
            )
            found.append((float(closer.fun), float(closer.x)))
    least = min(value for value, _ in found)
    scale = float(np.abs(problem.values).max(initial=0.0))
    return float(np.exp(min(x for value, x in found if value <= least * (1 + 1e-6) + 1e-13 * scale)))


def _zoom_range(problem: _Problem) -> tuple[float, float]:
    """Return logarithms: from a zoom that sees all of [0, lmax] alike to one that sees the lowest features well."""
    lows = [f for f in problem.features if f > 0]
    if problem.nodes.size and not lows:
        lows = problem.nodes[problem.nodes > 1e-4 * problem.lmax].tolist()
    finest = min([*lows, problem.lmax])
    return float(np.log(0.1 / problem.lmax)), float(np.log(max(30 / finest, 1e4 / problem.lmax)))


def _local_minima(found: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    for k, (value, x) in enumerate(found):
        beside = [found[j][0] for j in (k - 1, k + 1) if 0 <= j < len(found)]
        if value <= min(beside):
            yield value, x
