"""Bounds of the Jacobi scheme's error: what Proposition 1 of the paper states, made safe and sharp."""

from __future__ import annotations

import numpy as np

from cayleygsp.cayley import CayleyPolynomial
from cayleygsp.laplacian import Laplacian

# Power steps behind the bound of the contraction factor; each is one product.
_POWER_STEPS = 20


def jacobi_factor(L: Laplacian, zoom: float) -> float:
    r"""Bound the factor :math:`\kappa_E` by which a Jacobi sweep contracts in the :math:`E^{1/2}`-weighted norm.

    With :math:`E = |\mathrm{Diag}(h\Delta + iI)|`, :math:`\kappa_E = \|h E^{-1/2} \mathrm{Off}(\Delta) E^{-1/2}\|_2`.
    The matrix has one sign, so its norm is at most :math:`\max_i (Mx)_i/x_i` for every positive x
    (Collatz and Wielandt); x = E^{1/2} gives the paper's κ = ‖J‖_∞, power steps make it smaller. For the
    normalized Laplacian without self-loops, :math:`h/\sqrt{h^2 + 1}` is used where it is smaller: then the
    diagonal is constant, and the norm of the normalized adjacency matrix is at most 1.
    """
    d = L.diagonal
    E = np.sqrt((zoom * d) ** 2 + 1)
    x = np.sqrt(E)
    best = np.inf
    for _ in range(_POWER_STEPS):
        z = x / np.sqrt(E)
        Mx = zoom * (d * z - L.matrix @ z) / np.sqrt(E)
        best = min(best, float((Mx / x).max()))
        x = Mx + 1e-3 * max(best, 1e-3) * x  # stays positive
        x /= x.max()
    longest_row = int(np.diff(L.matrix.indptr).max(initial=0))
    best = max(best, 0.0)
    best += (longest_row + 16) * np.finfo(np.float64).eps * (1 + best) if best else 0.0
    if L.kind == "normalized" and np.isin(d, (0.0, 1.0)).all():
        best = min(best, zoom * max(1.0, L.lmax - 1) / np.sqrt(zoom**2 + 1))
    return best


def jacobi_contraction(L: Laplacian, zoom: float, n_iter: int) -> float:
    r"""Bound :math:`\|J^{K+1}\|_2` by :math:`(\max E/\min E)^{1/2} \kappa_E^{K+1}`, on every graph.

    Parameters
    ----------
    L : Laplacian
        The graph.
    zoom : float
        h.
    n_iter : int
        K sweeps after the start vector.
    """
    E = np.sqrt((zoom * L.diagonal) ** 2 + 1)
    return float(np.sqrt(E.max() / E.min()) * jacobi_factor(L, zoom) ** (n_iter + 1))


def jacobi_error(p: CayleyPolynomial, contraction: float) -> float:
    r"""Bound the error of the scheme by :math:`2 \sum_j |c_j| ((1 + a)^j - 1)`, :math:`a \ge \|J^{K+1}\|_2`.

    This is the recurrence inside the proof of Proposition 1. The proposition as printed drops its higher powers
    of a, and is false for the plain algorithm.
    """
    j = np.arange(p.order + 1)
    with np.errstate(over="ignore"):
        return float(2 * np.abs(p.coeffs) @ np.expm1(j * np.log1p(contraction)))


def jacobi_sweeps(L: Laplacian, p: CayleyPolynomial, atol: float) -> int:
    """Return the number of sweeps K for which the sharp bound is at most ``atol``.

    Parameters
    ----------
    L : Laplacian
        The graph.
    p : CayleyPolynomial
        The response.
    atol : float
        Error allowed, relative to the norm of the signal.
    """
    kappa = jacobi_factor(L, p.zoom)
    if kappa == 0:
        return 0
    if kappa >= 1:  # to rounding: no number of sweeps is known to be enough
        return 10**18
    E = np.sqrt((p.zoom * L.diagonal) ** 2 + 1)
    condition = np.sqrt(E.max() / E.min())
    # the largest a that is small enough, by bisection on its logarithm
    low, high = -80.0, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if jacobi_error(p, np.exp(middle)) <= atol else (low, middle)
    return max(int(np.ceil((low - np.log(condition)) / np.log(kappa))) - 1, 0)
