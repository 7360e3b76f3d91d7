"""Cayley polynomials: real functions of frequency with a spectral zoom."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from cayleygsp._typing import Array, ArrayLike, ComplexArray, FloatArray
from cayleygsp._validation import check_coefficients, check_eigenvalues, check_positive
from cayleygsp.responses.analytic import AnalyticResponse, half_axes, largest_delta, pole_excess
from cayleygsp.responses.base import Response
from cayleygsp.responses.series import MAX_SAMPLES


def cayley_transform(x: ArrayLike) -> ComplexArray:
    r"""Map real numbers to the unit circle: :math:`C(x) = (x - i)/(x + i)`.

    Zero goes to -1, infinity to 1, and x > 0 to the lower half of the circle. Written as
    :math:`1 - 2i/(x + i)`, which needs one division and stays right for infinite x.

    Examples
    --------
    >>> from cayleygsp import cayley_transform
    >>> cayley_transform([0.0, 1.0])
    array([-1.+0.j,  0.-1.j])
    """
    x = check_eigenvalues(x)
    return 1 - 2j / (x + 1j)


def cayley_angle(x: ArrayLike) -> FloatArray:
    r"""Return the angle of :math:`C(x)`, from −π at x = 0 to 0 at infinity.

    Written so that an eigenvalue 0 that rounding made slightly negative does not jump to the other side.

    Examples
    --------
    >>> from cayleygsp import cayley_angle
    >>> cayley_angle([0.0, 1.0]) / 3.141592653589793
    array([-1. , -0.5])
    """
    return -2 * np.arctan2(1.0, check_eigenvalues(x))


class CayleyPolynomial(AnalyticResponse):
    r"""A Cayley polynomial of order r (equation 3 of the paper).

    .. math:: g_{c,h}(\lambda) = c_0 + 2\,\mathrm{Re} \sum_{j=1}^r c_j\, C(h\lambda)^j,
              \qquad C(x) = \frac{x - i}{x + i}

    Parameters
    ----------
    coeffs : array_like, shape (r + 1,)
        :math:`c_0` real, then r ≥ 1 complex (or real) coefficients.
    zoom : float
        The spectral zoom h > 0: a larger h spreads the low frequencies over more of the circle.

    Attributes
    ----------
    coeffs : numpy.ndarray
        Complex and read-only.
    zoom : float
    order : int
        r.

    Examples
    --------
    >>> from cayleygsp import CayleyPolynomial
    >>> p = CayleyPolynomial([0.5, -0.25], zoom=2.0)
    >>> p([0.0, 0.5, 1e9])
    array([1. , 0.5, 0. ])
    """

    advice = "use method='multigrid'"

    def __init__(self, coeffs: ArrayLike, zoom: float) -> None:
        c = check_coefficients(coeffs)
        if c.size < 2:
            raise ValueError(
                f"`coeffs` must hold the real c_0 and at least one more (order r ≥ 1), got {c.size} of them"
            )
        if np.imag(c[0]) != 0:
            raise ValueError(f"`coeffs[0]` must be real, got imaginary part {np.imag(c[0]):g}")
        self.coeffs: ComplexArray = np.array(c, dtype=np.complex128)
        self.coeffs.flags.writeable = False
        self.order = self.coeffs.size - 1
        self.zoom = check_positive(zoom, "zoom")

    def __repr__(self) -> str:
        return f"CayleyPolynomial(order={self.order}, zoom={self.zoom:g})"

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the real response at the given frequencies, in their shape."""
        lam = check_eigenvalues(eigenvalues)
        C = cayley_transform(self.zoom * lam.astype(np.float64))
        total = np.full(C.shape, self.coeffs[-1])
        for c in self.coeffs[-2:0:-1]:  # Horner's rule in C
            total *= C
            total += c
        return self.coeffs[0].real + 2 * (total * C).real

    def error_weight(self) -> float:
        r"""Return :math:`2\sum_j j|c_j|`, what an error of one in C(hΔ) can cost (M of Proposition 1, twice)."""
        return float(2 * np.arange(self.order + 1) @ np.abs(self.coeffs))

    @property
    def cayley_form(self) -> CayleyPolynomial:
        """The polynomial itself."""
        return self

    @property
    def poles(self) -> ComplexArray:
        """The two poles ±i/h, each of order r at most."""
        return np.array([1j, -1j], dtype=np.complex128) / self.zoom

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        r"""Return :math:`4h \sum_j j|c_j|`, as :math:`|C'| \le 2`."""
        return 2 * self.zoom * self.error_weight()

    def value_error(self, lmin: float, lmax: float) -> float:
        """Bound the rounding of values through the coefficients."""
        error = 2**-52 * float(4 * (np.arange(self.order + 1) + 2) @ np.abs(self.coeffs))
        # frequencies beside a left end below zero are rounded in absolute size, not relative to themselves
        return error + 2**-52 * max(-lmin, 0.0) * self.lipschitz_bound(lmin, lmax)

    def delta_limit(self, lmin: float, lmax: float) -> float:
        """Return ρ - 1 of the ellipse through the poles."""
        return largest_delta(pole_excess(1j / self.zoom, lmin, lmax), lmax - lmin)

    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        r"""Return the logarithm of the bound on E_ρ: :math:`|C| \le 1 + 2/d` at a distance of d/h from the poles."""
        # confocal ellipses are nearest to each other on the long axis
        gap = (pole_excess(1j / self.zoom, lmin, lmax) - half_axes(delta, lmax - lmin)[0]) * self.zoom
        log_C = np.where(delta == 0, 0.0, np.log1p(2 / gap))
        # |g| ≤ |c_0| + Σ |c_j| (|C|^j + 1), and 2 |C|^j is more than enough
        with np.errstate(divide="ignore"):
            log_c = np.log(2 * np.abs(self.coeffs))
        return np.logaddexp.reduce(log_c + np.outer(log_C, np.arange(self.order + 1)), axis=1)

    def tails(self, lmax: float, n_degrees: int, *, lmin: float = 0.0) -> FloatArray:
        """Bound the tails by the coefficients, or by the poles alone, which has no floor, where that is smaller."""
        if lmax == lmin:
            return np.zeros(n_degrees)
        # a series too long to be computed: what the poles tell must do
        short = self.degree_bound(lmax, 0.0, lmin=lmin) <= MAX_SAMPLES
        tails = super().tails(lmax, n_degrees, lmin=lmin) if short else np.full(n_degrees, np.inf)
        with np.errstate(over="ignore", under="ignore"):
            for log_tail, log_rho in zip(*self._ellipse_tails(lmax, lmin), strict=True):
                np.minimum(tails, np.exp(log_tail - np.arange(n_degrees) * log_rho), out=tails)
        return tails

    def tail_degree(self, lmax: float, atol: float, *, lmin: float = 0.0) -> int:
        """Return a degree at which, by the poles alone, the tail is at most ``atol``, or the series has ended."""
        degree = super().tail_degree(lmax, atol, lmin=lmin)
        if lmax == lmin:
            return degree
        log_tail, log_rho = self._ellipse_tails(lmax, lmin)
        return max(degree, int(max(np.min((log_tail - np.log(atol)) / log_rho), -1.0)) + 1)

    def _ellipse_tails(self, lmax: float, lmin: float) -> tuple[FloatArray, FloatArray]:
        """Return log A and log ρ for ellipses short of the poles: the tail beyond K is at most A ρ^{-K} for each."""
        delta, log_M = self.bounded_ellipses(lmin, lmax)
        # |a_k| ≤ 2 M ρ^{-k}, summed over k > K
        return np.log(2 / delta) + log_M, np.log1p(delta)


def as_cayley(polynomial: Any, name: str = "polynomial") -> CayleyPolynomial:
    """Return a response's form as a Cayley polynomial; errors call it by its ``name``."""
    form = polynomial.cayley_form if isinstance(polynomial, Response) else None
    if form is None:
        raise TypeError(f"`{name}` must be a CayleyPolynomial, got {type(polynomial).__name__}")
    return form


def chebyshev_as_cayley(coeffs: ArrayLike, lmax: float, degree: float, zoom: float = 1.0) -> CayleyPolynomial:
    r"""Write a Chebyshev filter as a Cayley filter with zero Jacobi sweeps, on a regular graph.

    On a graph whose vertices all have degree d, Jacobi without sweeps replaces :math:`C(h\Delta)` by
    :math:`(h\Delta - i)/(hd + i)`, so that the Cayley filters of order r become all real polynomials of degree r:
    "Chebyshev as a special case of Cayley" in the paper.

    Parameters
    ----------
    coeffs : array_like, shape (r + 1,)
        Real Chebyshev coefficients, the first not halved.
    lmax : float
        λ_max of the Chebyshev filter.
    degree : float
        d > 0, the diagonal of the Laplacian (1 for the normalized one).
    zoom : float
        h > 0, free to choose.

    Returns
    -------
    CayleyPolynomial
        For ``CayleyFilter(graph, ..., method="jacobi", n_iter=0)``.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> ring = cg.gallery.ring(12)
    >>> alpha = [0.5, -0.3, 0.2]
    >>> g = cg.CayleyFilter(ring, cg.chebyshev_as_cayley(alpha, lmax=4, degree=2), method="jacobi", n_iter=0)
    >>> bool(np.allclose(g.toarray(), cg.ChebyshevFilter(ring, alpha, lmax=4).toarray()))
    True
    """
    h, d = check_positive(zoom, "zoom"), check_positive(degree, "degree")
    a = check_coefficients(coeffs)
    if a.dtype.kind == "c":
        raise TypeError(f"`coeffs` of a Chebyshev filter must be real, got dtype {a.dtype}")
    powers = Chebyshev(a, domain=[0, check_positive(lmax, "lmax") * h]).convert(kind=Polynomial).coef  # of w = hλ
    left = np.zeros(a.size)
    left[: powers.size] = np.real(powers)
    c = np.zeros(a.size, dtype=np.complex128)
    for j in range(a.size - 1, 0, -1):
        # the leading coefficient of 2 Re c_j (w - i)^j / (hd + i)^j is made what is left of the target's
        c[j] = left[j] * (h * d + 1j) ** j / 2
        left[: j + 1] -= left[j] * (Polynomial([-1j, 1]) ** j).coef.real
    c[0] = left[0]
    return CayleyPolynomial(c, h)
