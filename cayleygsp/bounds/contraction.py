"""How fast the Jacobi iteration contracts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayleygsp._typing import FloatArray, GraphLike
from cayleygsp._validation import check_positive
from cayleygsp.bounds.result import BoundKind
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.responses.cayley import CayleyPolynomial

# Power steps behind the bound of the contraction factor; each is one product.
_POWER_STEPS = 20

# Degrees that differ by no more than this, relatively, differ by the rounding of sums of weights.
_SAME_DEGREE = 1e-12


def kappa(graph: GraphLike, zoom: float) -> float:
    r"""Return the paper's :math:`\kappa = \|J\|_\infty`, J being the iteration matrix of the Jacobi scheme.

    .. math:: \kappa = \max_i \frac{h \sum_{j \ne i} |\Delta_{ij}|}{|h\Delta_{ii} + i|}

    For the combinatorial Laplacian this is :math:`hd/\sqrt{h^2d^2 + 1} < 1` with d the largest degree. For the
    normalized one it can be above 1; then hΔ + iI is not diagonally dominant, as the paper assumes it to be.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    zoom : float
        The spectral zoom h > 0.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> round(cg.bounds.kappa(cg.gallery.ring(16), zoom=0.5), 6)  # h d = 1
    0.707107
    >>> star = cg.laplacian(cg.gallery.star(17), "normalized")
    >>> round(cg.bounds.kappa(star, zoom=1.0), 6)  # sixteen entries of 1/4, divided by |1 + i|
    2.828427
    """
    L, h = laplacian(graph), check_positive(zoom, "zoom")
    off = np.maximum(L.diagonal - L.matrix @ np.ones(L.n_vertices), 0.0)
    return float((h * off / modulus(L, h)).max())


def jacobi_factor(L: Laplacian, zoom: float) -> float:
    r"""Bound the factor :math:`\kappa_E` by which a Jacobi sweep contracts in the :math:`E^{1/2}`-weighted norm.

    With :math:`E = |\mathrm{Diag}(h\Delta + iI)|`, :math:`\kappa_E = \|h E^{-1/2} \mathrm{Off}(\Delta) E^{-1/2}\|_2`.
    The matrix has one sign, so its norm is at most :math:`\max_i (Mx)_i/x_i` for every positive x
    (Collatz and Wielandt); :math:`x = E^{1/2}` gives the paper's κ, power steps make it smaller. It is also at most
    :math:`\max_i h\Delta_{ii}/E_{ii} < 1`, as both signs of the off-diagonal part leave a Laplacian positive
    semi-definite. For the combinatorial Laplacian that is κ again; for the normalized one it is smaller.
    """
    d, E = L.diagonal, modulus(L, zoom)
    x, best = np.sqrt(E), np.inf
    for _ in range(_POWER_STEPS):
        z = x / np.sqrt(E)
        Mx = zoom * (d * z - L.matrix @ z) / np.sqrt(E)
        best = min(best, float((Mx / x).max()))
        x = Mx + 1e-3 * max(best, 1e-3) * x  # stays positive
        x /= x.max()
    best = max(best, 0.0)
    best += row_rounding(L) * (1 + best) if best else 0.0
    if L.kind == "normalized":
        # where only the matrix is known, off-diagonal parts of norm above 1 by rounding were let through
        largest = max(1.0, L.lmax_bound - 1, 1 - L.lmin)
        best = min(best, float((zoom * d / E).max()) * largest * (1 + row_rounding(L)))
    return best


def jacobi_error(p: CayleyPolynomial, contraction: float) -> float:
    r"""Bound the error of the scheme by :math:`2 \sum_j |c_j| ((1 + a)^j - 1)`, :math:`a \ge \|J^{K+1}\|_2`.

    This is the recurrence inside the proof of Proposition 1. The proposition as printed drops its higher powers
    of a, and is false for the plain algorithm.
    """
    j = 1 + np.flatnonzero(p.coeffs[1:])
    with np.errstate(over="ignore"):
        return float(2 * np.abs(p.coeffs[j]) @ np.expm1(j * np.log1p(contraction)))


def is_regular(L: Laplacian) -> bool:
    """Say whether diagonal and row sums of Δ are constant, so that J is a number times a matrix of one row sum."""
    d, row_sums = L.diagonal, L.matrix @ np.ones(L.n_vertices)
    return bool(np.ptp(d) <= _SAME_DEGREE * d.max() and np.ptp(row_sums) <= _SAME_DEGREE * d.max())


def modulus(L: Laplacian, h: float) -> FloatArray:
    """Return E = |Diag(hΔ + iI)|."""
    if not np.isfinite(h * float(L.diagonal.max(initial=0.0))):
        raise ValueError(f"`zoom` times the largest degree must be finite, got {h:g} times {L.diagonal.max():g}")
    return np.hypot(h * L.diagonal, 1.0)


def jacobi_condition(L: Laplacian, h: float) -> float:
    r"""Return :math:`(\max E/\min E)^{1/2}` over the vertices with edges; without any, J is zero."""
    E = modulus(L, h)[L.diagonal > 0]
    return float(np.sqrt(E.max() / E.min())) if E.size else 1.0


def has_constant_diagonal(L: Laplacian) -> bool:
    """Return whether all diagonal entries of vertices with edges are equal, but for rounding."""
    d = L.diagonal[L.diagonal > 0]
    return bool(d.size == 0 or np.ptp(d) <= _SAME_DEGREE * d.max())


def row_rounding(L: Laplacian) -> float:
    """Bound the relative rounding of a row of non-negative terms."""
    return (int(np.diff(L.matrix.indptr).max(initial=0)) + 16) * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class JacobiDecay:
    """How a bound depends on the number of sweeps: through factor · rate^(K + 1), for "paper" rate^K."""

    kind: BoundKind
    factor: float
    rate: float

    def contraction(self, n_iter: int) -> float:
        r"""Return factor · rate^(K + 1), which bounds :math:`\|J^{K+1}\|_2` unless the kind is "paper"."""
        with np.errstate(over="ignore", under="ignore"):
            return self.factor * float(np.float64(self.rate) ** (n_iter + 1))

    def error(self, p: CayleyPolynomial, n_iter: int) -> float:
        """Bound the error of the scheme after K sweeps."""
        if self.kind != "paper":
            return jacobi_error(p, self.contraction(n_iter))
        weight = p.error_weight()
        return weight * self.contraction(n_iter - 1) if weight else 0.0


def jacobi_decay(L: Laplacian, h: float, kind: BoundKind) -> JacobiDecay:
    """Return how the error of a sweep falls, by the given kind of bound."""
    if kind == "sharp":
        return JacobiDecay(kind, jacobi_condition(L, h), jacobi_factor(L, h))
    root_n = float(np.sqrt(L.n_vertices))
    if kind == "paper":
        return JacobiDecay(kind, 1.0 if is_regular(L) else root_n, kappa(L, h))
    # With a constant diagonal J is a complex number times a symmetric matrix, so that ‖J‖₂ ≤ ‖J‖_∞; `jacobi_condition`
    # is then 1 but for rounding.
    factor = min(jacobi_condition(L, h), root_n) if has_constant_diagonal(L) else root_n
    return JacobiDecay(kind, factor, kappa(L, h) * (1 + row_rounding(L)))
