"""Cayley polynomials: real functions of frequency with a spectral zoom."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from cayleygsp._typing import Array, ArrayLike, ComplexArray, FloatArray
from cayleygsp._validation import check_coefficients, check_eigenvalues, check_positive
from cayleygsp.responses.base import Response
from cayleygsp.responses.series import MAX_SAMPLES, ChebyshevSeries, chebyshev_nodes, series_from_samples


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


class CayleyPolynomial(Response):
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
        self.zoom = check_positive(zoom, "zoom")

    @property
    def order(self) -> int:
        """The order r."""
        return self.coeffs.size - 1

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

    def rounding_at(self, eigenvalues: FloatArray) -> float:
        """Bound the rounding of values through the coefficients."""
        return self._value_error()

    def _value_error(self) -> float:
        return 2**-52 * float(4 * (np.arange(self.order + 1) + 2) @ np.abs(self.coeffs))

    def series(self, lmax: float, atol: float, *, lmin: float = 0.0) -> ChebyshevSeries:
        r"""Expand in Chebyshev polynomials on [lmin, lmax] with a proved error.

        The response is analytic but for poles of order r at :math:`\lambda = \pm i/h`. On any ellipse
        :math:`E_\rho` around the interval that leaves them outside, :math:`|g| \le M(\rho)`, and the
        coefficients obey :math:`|a_k| \le 2 M(\rho) \rho^{-k}`. That gives a number N of samples beyond which
        nothing that matters is left; the coefficients below N are computed, and cut where their sum is small.

        Parameters
        ----------
        lmax : float
            Right end of the interval.
        atol : float
            Largest error allowed; the series carries the error that it has.
        lmin : float
            Left end of the interval, ≤ 0.

        Raises
        ------
        ValueError
            If zoom times lmax is so large that the series would have millions of terms.
        """
        rounding = self._value_error()
        if lmax == lmin:
            return ChebyshevSeries.constant(float(self(0.0)), rounding)
        n_samples = max(self.degree_bound(lmax, atol, lmin=lmin), 16)
        if n_samples > MAX_SAMPLES:
            raise ValueError(
                f"`zoom` times the spectral bound is {self.zoom * lmax:.3g}: a Chebyshev series would need "
                f"about {n_samples:.1g} terms; use method='multigrid'"
            )
        n_samples = int(n_samples)
        delta, log_M = self.ellipse_bounds(lmax, lmin)
        beyond = float(np.exp(np.min(np.log(2 / delta) + log_M + (1 - n_samples) * np.log1p(delta))))
        values = self(chebyshev_nodes(n_samples, lmax, lmin))
        # points beside a left end below zero are rounded in absolute size, not relative to themselves
        rounding += 2**-52 * abs(lmin) * self.lipschitz_bound(lmin, lmax)
        return series_from_samples(values, lmax, atol, beyond=beyond, sample_error=rounding, lmin=lmin)

    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return a number N of samples beyond which the series contributes less than a hundredth of ``atol``."""
        if lmax == lmin:
            return 0.0
        scale = float(np.abs(self.coeffs).sum())
        if scale == 0:
            return 0.0
        delta, log_M = self.ellipse_bounds(lmax, lmin)
        target = max(atol / 100, 1e-17 * scale)
        # 2 M ρ^{1-N} / (ρ - 1), the sum of |a_k| for k ≥ N, falls below the target
        return float(np.ceil(np.min((np.log(2 * (1 + delta) / delta) + log_M - np.log(target)) / np.log1p(delta))))

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
        needed = float(np.min((log_tail - np.log(atol)) / log_rho))  # -inf for the response 0
        return max(degree, int(needed) + 1 if np.isfinite(needed) else 0)

    def _ellipse_tails(self, lmax: float, lmin: float) -> tuple[FloatArray, FloatArray]:
        """Return log A and log ρ for ellipses short of the poles: the tail beyond K is at most A ρ^{-K} for each."""
        delta, log_M = self.ellipse_bounds(lmax, lmin)
        # |a_k| ≤ 2 M ρ^{-k}, summed over k > K
        return np.log(2 / delta) + log_M, np.log1p(delta)

    def ellipse_bounds(self, lmax: float, lmin: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Return ρ - 1 for ellipses E_ρ short of the poles, and logarithms of upper bounds M(ρ) of abs(g) on them."""
        # Where hλ = -i on the scale on which [lmin, lmax] is [-1, 1]: -1 + t - iε. The ellipse through it has the
        # half axis a = 1 + alpha, and ρ = a + sqrt(a² - 1); all of it is written without cancellation.
        eps, t = 2 / (self.zoom * (lmax - lmin)), -2 * lmin / (lmax - lmin)
        near, far = np.hypot(t, eps) + t, np.hypot(2 - t, eps) + 2 - t
        alpha = eps / 2 * (eps / near + eps / far)
        delta = (alpha + np.sqrt(alpha) * np.sqrt(alpha + 2)) * np.linspace(0.02, 0.99, 98)
        # confocal ellipses are nearest to each other on the long axis
        gap = (alpha - delta * (delta / (2 * (1 + delta)))) / eps
        log_C = np.log1p(2 / gap)
        # |g| ≤ |c_0| + Σ |c_j| (|C|^j + 1), and 2 |C|^j is more than enough
        with np.errstate(divide="ignore"):
            log_c = np.log(2 * np.abs(self.coeffs))
        return delta, np.logaddexp.reduce(log_c + np.outer(log_C, np.arange(self.order + 1)), axis=1)


def as_cayley(polynomial: Any, name: str = "polynomial") -> CayleyPolynomial:
    """Return a response's form as a Cayley polynomial.

    Raises
    ------
    TypeError
        If it has none.
    """
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
