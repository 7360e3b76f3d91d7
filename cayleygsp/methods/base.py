"""What the methods have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array, ArrayLike, ComplexArray, FloatArray
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.series import ChebyshevSeries, chebyshev_nodes

# Points on which the gain is looked for; they are dense near both ends of the spectrum.
_GAIN_POINTS = 2048


class Response(Protocol):
    """A real function of frequency that can be expanded in Chebyshev polynomials."""

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies."""

    def series(self, lmax: float, atol: float) -> ChebyshevSeries:
        """Return a series on [0, lmax] with its error."""

    def degree_bound(self, lmax: float, atol: float) -> float:
        """Return a degree that the series does not exceed, infinite where there is none."""


@dataclass(frozen=True)
class Applied:
    """Filtered signals and what is known of them.

    Attributes
    ----------
    signals : numpy.ndarray
        Shape (n, m), with the filters of a bank in front.
    error_bound : float or numpy.ndarray
        Bound of the error relative to the norm of the signal: a number, one a signal, or one a filter.
    n_matvecs : int
        Passes over the graph: products of the Laplacian with the block of signals, real or complex.
    residuals : tuple of numpy.ndarray
        For iterative methods, the residual norms of each power's solve, relative to the signal.
    """

    signals: Array
    error_bound: float | FloatArray
    n_matvecs: int
    residuals: tuple[FloatArray, ...] = ()


class FilterMethod(ABC):
    """One way to apply g(Δ), prepared for one Laplacian and one response."""

    name: str
    certificate: str = "proved"
    is_bank: bool = False  # whether signals have an axis of filters in front
    promotes: bool = False  # whether signals may come in their own precision, to be promoted a few at a time

    @abstractmethod
    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter a real block of shape (n, m); without ``certify`` costly bounds may be left out."""

    def reaches_tolerance(self, tol: float | None) -> bool:
        """Say whether the error is expected to be within ``tol``; what is certain is told by each result's bound."""
        return False

    def apply_adjoint(self, f: Array) -> Array:
        """Apply the transposed operator; g(Δ) is symmetric, so by default it is the filter itself."""
        return self.apply(f, certify=False).signals

    def working_dtype(self, dtype: Any) -> Any:
        """Return the precision to compute in for signals of the given precision."""
        return np.float64


def unit_roundoff(dtype: Any) -> float:
    """Return u, half the distance from 1 to the next number."""
    return float(np.finfo(dtype).eps) / 2


def filter_gain(L: Laplacian, response: Response) -> float:
    """Return sup |g| over [0, λ_max], never overestimated, so that a tolerance relative to it is kept.

    λ_max is replaced by a lower bound of it: the quick one if the response is not much larger beyond.
    """
    beyond = _largest(response, L.lmax)
    gain = _largest(response, L.lmax_lower)
    return gain if gain >= beyond / 2 else max(gain, _largest(response, L.lanczos_lower))


def _largest(response: Response, lmax: float) -> float:
    nodes = np.append(chebyshev_nodes(_GAIN_POINTS, lmax), [0.0, lmax])
    return float(np.abs(response(nodes)).max())


def column_norms(f: Array) -> FloatArray:
    """Return the 2-norm of each column, accumulated in double precision."""
    parts = (f.real, f.imag) if f.dtype.kind == "c" else (f,)
    return np.sqrt(sum(np.einsum("ij,ij->j", part, part, dtype=np.float64) for part in parts))


def over(norms: FloatArray, reference: FloatArray) -> FloatArray:
    """Divide norms by those of the signals; a zero signal counts as 0."""
    return np.divide(norms, reference, out=np.zeros_like(norms), where=reference > 0)


def complex_product(L: sparse.csr_array, y: ComplexArray) -> ComplexArray:
    """Return L y for a real sparse L and a complex block, as one real product with twice the columns."""
    y = np.ascontiguousarray(y)
    real = y.view(y.real.dtype)
    return np.ascontiguousarray(L @ real).view(y.dtype)


def sum_powers(p: CayleyPolynomial, f: Array, next_power: Callable[[ComplexArray, int], ComplexArray]) -> Array:
    r"""Return :math:`c_0 f + 2\,\mathrm{Re} \sum_j c_j y_j` with :math:`y_0 = f` and :math:`y_j` from its predecessor.

    Parameters
    ----------
    p : CayleyPolynomial
        Gives the coefficients.
    f : ndarray, shape (n, m)
        Real signals.
    next_power : callable
        Takes y_{j-1} and j, returns y_j ≈ C(hΔ) y_{j-1}.
    """
    total = p.coeffs[0].real.astype(f.dtype) * f
    y = f.astype(np.result_type(f.dtype, np.complex64))
    for j in range(1, p.order + 1):
        y = next_power(y, j)
        total += 2 * (y.dtype.type(p.coeffs[j]) * y).real
    return total


def product_rounding(L: Laplacian, z: Array) -> FloatArray:
    r"""Bound the rounding of Δz for each column: u times the norm of :math:`m \circ |\Delta||z|`, m rows' lengths."""
    m = np.diff(L.matrix.indptr)[:, None] + 3.0
    return unit_roundoff(np.float64) * column_norms(m * L.absolute_product(np.abs(z)))


def residual_norms(L: Laplacian, h: float, z: ComplexArray, y: ComplexArray) -> FloatArray:
    r"""Bound :math:`\|y - (h\Delta + iI) z\|` for each column, the rounding of computing it included.

    As :math:`\|(h\Delta + iI)^{-1}\| \le 1`, this bounds the error of z.
    """
    residual = column_norms(y - h * complex_product(L.matrix, z) - 1j * z)
    small = unit_roundoff(np.float64) * (8 * column_norms(z) + 2 * column_norms(y) + 4 * residual)
    return residual + h * product_rounding(L, z) + small


def summation_floor(p: CayleyPolynomial, dtype: Any) -> float:
    """Bound the rounding of adding the powers up, of which residuals say nothing."""
    return unit_roundoff(dtype) * 4 * (p.order + 4) * float(np.abs(p.coeffs).sum())


def solve_floor(L: Laplacian, p: CayleyPolynomial) -> float:
    """Return an error bound that measured residuals of the solves with hΔ + iI will hardly exceed by rounding."""
    # the solutions' high frequencies are small: |hΔz| is at most |y|, so rounding is that of m |y|, not of m h |Δ| |z|
    longest_row = float(np.diff(L.matrix.indptr).max()) + 10
    return 2 * p.error_weight() * unit_roundoff(np.float64) * min(p.zoom * L.rounding_norm + 10, 20 * longest_row)


def accumulated_error(p: CayleyPolynomial, steps: list[FloatArray]) -> FloatArray:
    r"""Return :math:`2 \sum_j |c_j| e_j` where :math:`e_j = e_{j-1} + s_j`.

    ``steps`` holds :math:`s_j`, a bound of the error made in the step from :math:`y_{j-1}` to :math:`y_j`: as
    C(hΔ) is unitary, earlier errors are passed on as they are.
    """
    e = np.cumsum(np.asarray(steps), axis=0)
    return 2 * np.abs(p.coeffs[1:]) @ e
