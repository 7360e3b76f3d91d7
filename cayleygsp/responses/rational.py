r"""Rational responses: poles off the spectrum, with their residues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from cayleygsp._typing import Array, ArrayLike, ComplexArray, FloatArray, IntArray, Kernel
from cayleygsp._validation import check_coefficients, check_eigenvalues, check_positive, check_real
from cayleygsp.responses.aaa import PartialFractions, approximate
from cayleygsp.responses.analytic import UNIT, AnalyticResponse, half_axes, largest_delta, pole_excess
from cayleygsp.responses.base import Response, check_fields
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.function import as_response
from cayleygsp.responses.series import ChebyshevSeries

# Poles and residues this near to each other's conjugates, relatively, are pairs.
_PAIR = 1e-12

# Factor by which a distance that was sampled is enlarged, for what lies between the samples.
_CAUTION = 1.5

# Powers of a Tikhonov response up to which repeated solves are a way to apply it.
_MOST_SOLVES = 4


class Rational(AnalyticResponse):
    r"""A rational response in partial fractions, :math:`d + \sum_q r_q/(\lambda - p_q)^{m_q}`.

    Parameters
    ----------
    poles : array_like
        Real or complex, none on the half axis λ ≥ 0. Complex ones come with their conjugates, so that the response is
        real. A pole that is listed m times has the powers 1 ... m in the order of the list, as in
        :func:`scipy.signal.residue`.
    residues : array_like
        One per pole.
    constant : float
        d, the value at infinity.

    Attributes
    ----------
    poles, residues : numpy.ndarray
        Complex and read-only.
    powers : numpy.ndarray
        The power of each term.
    constant : float

    Examples
    --------
    >>> import cayleygsp as cg
    >>> g = cg.responses.Rational(poles=[-2.0], residues=[2.0])  # 2 / (2 + λ)
    >>> g([0.0, 2.0])
    array([1. , 0.5])
    """

    def __init__(self, poles: ArrayLike, residues: ArrayLike, constant: float = 0.0) -> None:
        p, r = (
            check_coefficients(v, name).astype(np.complex128) for v, name in ((poles, "poles"), (residues, "residues"))
        )
        if p.size != r.size or p.size == 0:
            raise ValueError(f"`residues` must be as many as `poles`, at least one, got {r.size} and {p.size} poles")
        on = (p.imag == 0) & (p.real >= 0) & (p.real <= self.highest_frequency)
        if on.any():
            raise ValueError(f"`poles` must not lie on the half axis of frequencies λ ≥ 0, got {p[on][0].real:g}")
        self._poles, self.residues = p, r
        self.powers: IntArray = np.array([np.count_nonzero(p[: q + 1] == p[q]) for q in range(p.size)])
        self.constant = check_real(constant, "constant")
        if not np.isfinite(self.constant):
            raise ValueError(f"`constant` must be finite, got {constant!r}")
        _check_pairs(p, r, self.powers)
        for array in (self._poles, self.residues, self.powers):
            array.flags.writeable = False

    @property
    def poles(self) -> ComplexArray:
        """Where the response is not analytic."""
        return self._poles

    @property
    def rational_form(self) -> Rational:
        """The response itself."""
        return self

    @classmethod
    def from_cayley(cls, polynomial: CayleyPolynomial) -> Rational:
        r"""Return a Cayley polynomial in partial fractions: poles of order 1 ... r at :math:`\pm i/h`.

        Parameters
        ----------
        polynomial : CayleyPolynomial
            Of low order: the residues grow like :math:`2^r`.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> p = cg.CayleyPolynomial([0.5, -0.25], zoom=2.0)
        >>> bool(abs(cg.responses.Rational.from_cayley(p)(0.7) - p(0.7)) < 1e-15)
        True
        """
        h, c, r = polynomial.zoom, polynomial.coeffs, polynomial.order
        # C^j = (1 - 2i/(hλ + i))^j = Σ_k binomial(j, k) (-2i/h)^k / (λ + i/h)^k
        residues = np.array([sum(c[j] * comb(j, k) for j in range(k, r + 1)) * (-2j / h) ** k for k in range(1, r + 1)])
        poles = np.full(r, -1j / h)
        constant = float(c[0].real + 2 * c[1:].real.sum())
        return cls(np.append(poles, poles.conj()), np.append(residues, residues.conj()), constant)

    @classmethod
    def approximate(
        cls, function: Kernel | Response, interval: Sequence[float], *, tol: float = 1e-6
    ) -> RationalApproximation:
        r"""Return a rational response that comes near to a function on an interval, by the AAA algorithm.

        Parameters
        ----------
        function : callable or Response
            Takes an array of frequencies, returns as many real numbers.
        interval : (float, float)
            Where it is wanted: ``(0, L.lmax_bound)`` for a graph with the Laplacian ``L``. Filters refuse a response
            that is not known at 0, which is an eigenvalue of every graph.
        tol : float
            Distance allowed, relative to the largest value of the function.

        Returns
        -------
        RationalApproximation
            Stands for the function: its ``distance`` is counted in the error of filters, and its certificate is
            "sampled".

        Raises
        ------
        ValueError
            If no approximation with poles off the interval was seen to be that near.

        Notes
        -----
        Poles with a real part ≤ 0 can be solved for by ``method="multigrid"``; others make indefinite systems, which
        are left to ``"exact"`` and ``"chebyshev"``.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> L = cg.laplacian(cg.gallery.ring(30))
        >>> matern = cg.responses.Tikhonov(100.0, power=0.5)
        >>> g = cg.responses.Rational.approximate(matern, (0, L.lmax_bound), tol=1e-6)
        >>> g.distance <= 1e-6, bool((g.poles.real < 0).all()), g.certificate
        (True, True, 'sampled')
        """
        ends = check_coefficients(interval, "interval")
        if ends.size != 2 or ends.dtype.kind == "c" or not 0 <= ends[0] < ends[1]:
            raise ValueError(f"`interval` must be two frequencies 0 ≤ low < high, got {interval!r}")
        low, high = float(ends[0]), float(ends[1])
        check_positive(tol, "tol")
        target = as_response(function)
        gain = target.gain(low, high)
        fit = approximate(target, low, high, tol * gain / _CAUTION, target.places(low, high))
        if not _CAUTION * fit.distance <= max(tol * gain, 64 * UNIT * gain):
            raise ValueError(
                f"`function` has no rational approximation on [{low:g}, {high:g}] with at most {fit.poles.size} poles "
                f"off it that was seen to be within tol={tol:g} of its largest value {gain:.3g}: the nearest is off by "
                f"{_CAUTION * fit.distance / gain if gain else fit.distance:.2g} of it; soften the function, or ask "
                "for less"
            )
        return RationalApproximation(target, low, high, fit)

    def distance_on(self, lmin: float, lmax: float) -> float:
        """Return how far the partial fractions may be from the function that they approximate; 0 if there is none."""
        return 0.0

    def __repr__(self) -> str:
        return f"Rational(n_poles={self.poles.size}, constant={self.constant:g})"

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        total = np.full(lam.shape, self.constant)
        for p, r, m in zip(self.poles, self.residues, self.powers, strict=True):
            total += (r / (lam - p) ** m).real
        return total

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return where the poles are nearest to the spectrum."""
        return np.unique(np.clip(self.poles.real, lmin, lmax))

    def delta_limit(self, lmin: float, lmax: float) -> float:
        """Return ρ - 1 of the ellipse through the nearest pole."""
        return min(largest_delta(pole_excess(complex(p), lmin, lmax), lmax - lmin) for p in self.poles)

    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        """Return the logarithm of the bound on E_ρ: confocal ellipses are nearest to each other on the long axis."""
        terms = [np.full(delta.shape, np.log(max(abs(self.constant), 1e-300)))]
        excess = half_axes(delta, lmax - lmin)[0]
        for p, r, m in zip(self.poles, self.residues, self.powers, strict=True):
            beyond = pole_excess(complex(p), lmin, lmax) - excess
            distance = np.where(delta == 0, _distance(complex(p), lmin, lmax), beyond)
            term = np.log(max(abs(r), 1e-300)) - m * np.log(np.maximum(distance, 1e-300))
            terms.append(np.where(distance > 0, term, np.inf))
        return np.logaddexp.reduce(terms, axis=0)

    def value_error(self, lmin: float, lmax: float) -> float:
        """Return a bound of the rounding of values, frequencies rounded as well."""
        error = 2 * abs(self.constant)
        for p, r, m in zip(self.poles, self.residues, self.powers, strict=True):
            near = _distance(complex(p), lmin, lmax)
            # a frequency next to the pole is off by some units of itself, which is at most |p| more than its distance
            error += 8 * (m + 2) * abs(r) / near**m * (2 + abs(p) / near)
        return UNIT * (error + self.poles.size * self.gain_bound(lmin, lmax))

    def lipschitz_bound(self, lmin: float, lmax: float) -> float | None:
        """Return the sum of the largest slopes of the terms."""
        with np.errstate(divide="ignore", over="ignore"):
            distances = np.array([_distance(complex(p), lmin, lmax) for p in self.poles])
            return float(np.sum(self.powers * np.abs(self.residues) / distances ** (self.powers + 1)))


class RationalApproximation(Rational):
    """A function, applied through the partial fractions of :meth:`Rational.approximate` fitted on an interval.

    Attributes
    ----------
    distance : float
        How far the partial fractions are from the function: the largest distance that was seen, and half as much again.
    """

    certificate = "sampled"

    def __init__(self, function: Response, low: float, high: float, fit: PartialFractions) -> None:
        self.highest_frequency = high
        # a constant has no pole: one far off, with nothing to say
        poles, residues = (fit.poles, fit.residues) if fit.poles.size else ([low - (high - low)], [0.0])
        super().__init__(poles, residues, fit.constant)
        self.function, self.lowest_frequency, self.distance = function, low, _CAUTION * fit.distance
        self._fractions = _Fractions(poles, residues, fit.constant, high)

    def __repr__(self) -> str:
        return f"RationalApproximation({self.function!r}, n_poles={self.poles.size}, distance={self.distance:.2g})"

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the function itself at the given frequencies, in their shape."""
        return self.function(eigenvalues)

    def rounding_at(self, eigenvalues: FloatArray) -> float:
        """Return that of the function."""
        return self.function.rounding_at(eigenvalues)

    def distance_on(self, lmin: float, lmax: float) -> float:
        """Return the distance; left of the interval, where rounding may put frequencies, the function is constant."""
        left = max(self.lowest_frequency - lmin, 0.0)
        slope = self._fractions.lipschitz_bound(lmin, lmax) if left else None
        return self.distance + left * (slope or 0.0)

    def lipschitz_bound(self, lmin: float, lmax: float) -> float | None:
        """Return what the function says of its slopes."""
        return self.function.lipschitz_bound(lmin, lmax)

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return what the function names."""
        return self.function.places(lmin, lmax)

    def series(self, lmax: float, atol: float, *, lmin: float = 0.0) -> ChebyshevSeries:
        """Expand the partial fractions, and add the distance to the error."""
        distance = self.distance_on(lmin, lmax)
        one = self._fractions.series(lmax, max(atol - distance, 0.1 * atol), lmin=lmin)
        return ChebyshevSeries(one.coeffs, lmax, one.error + distance, self.certificate, lmin)

    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return that of the partial fractions."""
        return self._fractions.degree_bound(lmax, max(atol - self.distance_on(lmin, lmax), 0.1 * atol), lmin=lmin)


class _Fractions(Rational):
    """Partial fractions that stand for themselves, up to a highest frequency."""

    def __init__(self, poles: ArrayLike, residues: ArrayLike, constant: float, high: float) -> None:
        self.highest_frequency = high
        super().__init__(poles, residues, constant)


def _check_pairs(poles: ComplexArray, residues: ComplexArray, powers: IntArray) -> None:
    """Reject a response that is not real: every term needs its conjugate among the terms."""
    left = list(range(poles.size))
    while left:
        q = left[0]
        is_conjugate = powers == powers[q]
        for v in (poles, residues):
            is_conjugate &= np.abs(v - v[q].conjugate()) <= _PAIR * abs(v[q])
        match = next((s for s in left if is_conjugate[s]), None)
        if match is None:
            raise ValueError(
                f"`poles` and `residues` must be real or come in conjugate pairs, got pole {poles[q]:.6g} with residue "
                f"{residues[q]:.6g} and no partner"
            )
        left = [s for s in left if s not in (q, match)]


def _distance(pole: complex, lmin: float, lmax: float) -> float:
    """Return the distance of a pole from the interval."""
    return abs(pole - min(max(pole.real, lmin), lmax))


@dataclass(frozen=True)
class Tikhonov(AnalyticResponse):
    r"""Tikhonov regularisation, :math:`(1 + t\lambda)^{-\nu}`; powers ν other than 1 are Matérn kernels.

    ``Tikhonov(t)`` answers :math:`\min_x \|x - f\|^2 + t\, x^\top \Delta x`.

    Parameters
    ----------
    strength : float
        t > 0.
    power : float
        ν > 0, not necessarily whole.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.Tikhonov(3.0)([0.0, 1.0])
    array([1.  , 0.25])
    """

    strength: float
    power: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self, strength=check_positive, power=check_positive)

    @property
    def features(self) -> tuple[float, ...]:
        """Where the response has fallen to a half, if it is the first power."""
        return (1 / self.strength,)

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        return (1 + self.strength * lam) ** -self.power

    @property
    def rational_form(self) -> Rational | None:
        r"""The one partial fraction that it is, if ν is a small whole number and :math:`t^{-\nu}` in range."""
        if self.power not in range(1, _MOST_SOLVES + 1):
            return None
        nu, pole = int(self.power), -1 / self.strength
        with np.errstate(over="ignore", under="ignore"):
            residue = float(np.float64(-pole) ** nu)
        if not np.finfo(np.float64).tiny <= residue < np.inf:  # it leaves the range of numbers
            return None
        return Rational([pole] * nu, [0.0] * (nu - 1) + [residue])

    def delta_limit(self, lmin: float, lmax: float) -> float:
        """Return ρ - 1 of the ellipse through the pole or branch point at -1/t."""
        return largest_delta(max(1 / self.strength + lmin, 0.0), lmax - lmin)

    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        """Return the logarithm of the bound on E_ρ, whose left end is nearest to -1/t."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(
                -self.power * np.log1p(self.strength * (lmin - half_axes(delta, lmax - lmin)[0])), nan=np.inf
            )

    def value_error(self, lmin: float, lmax: float) -> float:
        r"""Return a bound of the rounding of values: :math:`\nu x (1 + x)^{-\nu - 1}` is at most 1."""
        steepest = self.slopes(*np.array([[lmin], [lmin], [lmax]]))[1][0]
        return UNIT * (8 + 8 * self.power) * float(steepest) / (self.power * self.strength)

    def slopes(self, lam: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, ...]:
        """Return the slope, and bounds of the first two derivatives, infinite where the pole is."""
        x, x0 = (np.maximum(1 + self.strength * y, 0.0) for y in (lam, low))
        with np.errstate(divide="ignore", over="ignore"):
            slope, first = (self.power * self.strength * y ** (-self.power - 1) for y in (x, x0))
            return -slope, first, (self.power + 1) * self.strength * first / x0


def page_rank(damping: float) -> Tikhonov:
    r"""Return personalised PageRank on the normalized Laplacian, :math:`(1 - \alpha)(1 - \alpha + \alpha\lambda)^{-1}`.

    Parameters
    ----------
    damping : float
        α, above 0 and below 1.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.page_rank(0.75)
    Tikhonov(strength=3.0, power=1.0)
    """
    alpha = check_positive(damping, "damping")
    if alpha >= 1:
        raise ValueError(f"`damping` must be below 1, got {alpha:g}")
    return Tikhonov(alpha / (1 - alpha))
