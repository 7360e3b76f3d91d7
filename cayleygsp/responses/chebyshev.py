"""Chebyshev polynomials on the spectrum, Eq. (2) of the paper."""

from __future__ import annotations

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp._validation import check_coefficients, check_eigenvalues
from cayleygsp.responses.series import ChebyshevSeries


class ChebyshevPolynomial:
    r"""The response :math:`g(\lambda) = \sum_{k=0}^r \alpha_k T_k(2\lambda/\lambda_{max} - 1)`.

    Parameters
    ----------
    coeffs : array_like, shape (r + 1,)
        Real :math:`\alpha_0 \dots \alpha_r`; the first is not halved.
    lmax : float
        λ_max ≥ 0. For 0, the graph without edges, the response is its value at λ = 0.

    Examples
    --------
    >>> from cayleygsp import ChebyshevPolynomial
    >>> ChebyshevPolynomial([0.5, -0.5], lmax=4.0)([0.0, 1.0, 4.0])
    array([1.  , 0.75, 0.  ])
    """

    def __init__(self, coeffs: ArrayLike, lmax: float) -> None:
        a = check_coefficients(coeffs)
        if a.dtype.kind == "c":
            raise TypeError(f"`coeffs` of a Chebyshev filter must be real, got dtype {a.dtype}")
        if a.size < 2:
            raise ValueError(f"`coeffs` must hold at least two numbers (order r ≥ 1), got {a.size}")
        self.coeffs: FloatArray = np.array(a, dtype=np.float64)
        self.coeffs.flags.writeable = False
        self.lmax = lmax
        self._series = ChebyshevSeries(self.coeffs, lmax, 0.0)
        if lmax == 0:
            self._series = ChebyshevSeries.constant(float(self.coeffs[::2].sum() - self.coeffs[1::2].sum()))

    @property
    def order(self) -> int:
        """The order r."""
        return self.coeffs.size - 1

    def __repr__(self) -> str:
        return f"ChebyshevPolynomial(order={self.order}, lmax={self.lmax:g})"

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        return self._series(check_eigenvalues(eigenvalues))

    def series(self, lmax: float, atol: float) -> ChebyshevSeries:
        """Return the polynomial as it is, on its own interval."""
        return self._series

    def degree_bound(self, lmax: float, atol: float) -> float:
        """Return the order."""
        return float(self._series.degree)
