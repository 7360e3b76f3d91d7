r"""Rational responses: poles off the spectrum, with their residues."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from cayleygsp._typing import Array, ArrayLike, ComplexArray, FloatArray, IntArray
from cayleygsp._validation import check_coefficients, check_eigenvalues, check_positive, check_real
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.ellipse import UNIT, AnalyticResponse, half_axes, largest_delta, pole_excess

# Poles and residues this near to each other's conjugates, relatively, are pairs.
_PAIR = 1e-12

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
        on = (p.imag == 0) & (p.real >= 0)
        if on.any():
            raise ValueError(f"`poles` must not lie on the half axis of frequencies λ ≥ 0, got {p[on][0].real:g}")
        self._poles, self.residues, self.powers = p, r, _powers(p)
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
        terms = [np.full(delta.shape, _log(abs(self.constant)))]
        excess = half_axes(delta, lmax - lmin)[0]
        for p, r, m in zip(self.poles, self.residues, self.powers, strict=True):
            distance = np.where(
                delta == 0, _distance(complex(p), lmin, lmax), pole_excess(complex(p), lmin, lmax) - excess
            )
            terms.append(np.where(distance > 0, _log(abs(r)) - m * np.log(np.maximum(distance, 1e-300)), np.inf))
        return np.logaddexp.reduce(terms, axis=0)

    def value_error(self, lmin: float, lmax: float) -> float:
        """Return a bound of the rounding of values, frequencies rounded as well."""
        error = 2 * abs(self.constant)
        for p, r, m in zip(self.poles, self.residues, self.powers, strict=True):
            near = _distance(complex(p), lmin, lmax)
            # a frequency next to the pole is off by some units of itself, which is at most |p| more than its distance
            error += 8 * (m + 2) * abs(r) / near**m * (2 + abs(p) / near)
        return UNIT * (error + self.poles.size * self._gain_bound(lmin, lmax))

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Return the sum of the largest slopes of the terms."""
        terms = zip(self.poles, self.residues, self.powers, strict=True)
        return float(sum(m * abs(r) / _distance(complex(p), lmin, lmax) ** (m + 1) for p, r, m in terms))


def _powers(poles: ComplexArray) -> IntArray:
    seen: dict[complex, int] = {}
    powers = np.empty(poles.size, dtype=np.int64)
    for q, p in enumerate(poles.tolist()):
        seen[p] = powers[q] = seen.get(p, 0) + 1
    return powers


def _check_pairs(poles: ComplexArray, residues: ComplexArray, powers: IntArray) -> None:
    """Reject a response that is not real: every term needs its conjugate among the terms."""
    left = list(range(poles.size))
    while left:
        q = left[0]
        match = next(
            (
                s
                for s in left
                if powers[s] == powers[q]
                and abs(poles[s] - poles[q].conjugate()) <= _PAIR * abs(poles[q])
                and abs(residues[s] - residues[q].conjugate()) <= _PAIR * abs(residues[q])
            ),
            None,
        )
        if match is None:
            raise ValueError(
                f"`poles` and `residues` must be real or come in conjugate pairs, got pole {poles[q]:.6g} with residue "
                f"{residues[q]:.6g} and no partner"
            )
        left = [s for s in left if s not in (q, match)]


def _distance(pole: complex, lmin: float, lmax: float) -> float:
    """Return the distance of a pole from the interval."""
    return abs(pole - min(max(pole.real, lmin), lmax))


def _log(x: float) -> float:
    return float(np.log(x)) if x > 0 else -np.inf


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
        check_positive(self.strength, "strength")
        check_positive(self.power, "power")

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        return (1 + self.strength * lam) ** -self.power

    @property
    def rational_form(self) -> Rational | None:
        """The one partial fraction that it is, if ν is a small whole number."""
        if self.power not in range(1, _MOST_SOLVES + 1):
            return None
        nu, pole = int(self.power), -1 / self.strength
        return Rational([pole] * nu, [0.0] * (nu - 1) + [(-pole) ** nu])

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
        """Return a bound of the rounding of values: ν x (1 + x)^{-ν-1} is at most 1."""
        return UNIT * (8 + 8 * self.power) * (1 + self.strength * lmin) ** (-self.power - 1)

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Return the slope at the left end."""
        return self.power * self.strength * (1 + self.strength * lmin) ** (-self.power - 1)


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
