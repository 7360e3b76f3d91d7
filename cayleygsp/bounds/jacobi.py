"""The error of the Jacobi scheme: as printed in the paper, safe and sharp."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._format import format_rate
from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import ArrayLike, GraphLike
from cayleygsp._validation import check_choice, check_integer, check_real
from cayleygsp.bounds.contraction import (
    JacobiDecay,
    has_constant_diagonal,
    is_regular,
    jacobi_condition,
    jacobi_decay,
    modulus,
)
from cayleygsp.bounds.result import BOUND_KINDS, Assumption, Bound, BoundKind
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.responses.base import Response
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley


def summation_floor(p: CayleyPolynomial, dtype: Any) -> float:
    """Bound the rounding of adding the powers up, of which residuals say nothing."""
    return unit_roundoff(dtype) * 4 * (p.order + 4) * float(np.abs(p.coeffs).sum())


def solve_floor(L: Laplacian, p: CayleyPolynomial) -> float:
    """Return an error bound that measured residuals of the solves with hΔ + iI will hardly exceed by rounding."""
    # the solutions' high frequencies are small: |hΔz| is at most |y|, so rounding is that of m |y|, not of m h |Δ| |z|
    longest_row = float(np.diff(L.matrix.indptr).max()) + 10
    return 2 * p.error_weight() * unit_roundoff(np.float64) * min(p.zoom * L.rounding_norm + 10, 20 * longest_row)


def sweep_rounding(L: Laplacian, zoom: float, n_iter: int, dtype: Any) -> float:
    r"""Bound what rounding adds to :math:`\|J^{K+1}\|` in the scheme's error, the δ of :func:`jacobi_rounding`."""
    q = jacobi_condition(L, zoom)
    product = L.rounding_norm * zoom / float(modulus(L, zoom)[L.diagonal > 0].min(initial=np.inf))
    # twice the product, which is in units of roundoff, and steps row by row
    return (n_iter + 1) * q * (1 + q) * unit_roundoff(dtype) * (2 * product + 12)


def adjoint_sweep_rounding(L: Laplacian, zoom: float, n_iter: int, dtype: Any) -> float:
    r"""Bound what rounding adds to :math:`\|J^{K+1}\|` in the error of the transposed scheme.

    A power is :math:`(h\Delta - iI) \sum_{k \le K} J^k E^{-1}`. The iterates :math:`E^{-1/2} w` of the sum have
    :math:`\|w\| \le 2 \max |E|^{1/2}` and are multiplied in the end by :math:`(h\Delta - iI) E^{-1/2}`, of norm at most
    :math:`2 \max |E|^{1/2}`. In the weighted norm a sweep passes errors on as they are and makes one of a few units of
    roundoff times the longest row, as :math:`|E|^{-1/2} h|\Delta| |E|^{-1/2}` has norm 2 at most. The product at the
    end counts for two sweeps.
    """
    longest_row = float(np.diff(L.matrix.indptr).max())
    return 4 * float(modulus(L, zoom).max()) * (n_iter + 2) * unit_roundoff(dtype) * (2 * longest_row + 18)


def jacobi_bound(graph: GraphLike, polynomial: CayleyPolynomial, n_iter: int, kind: BoundKind = "sharp") -> Bound:
    r"""Bound the error of the paper's scheme with K sweeps per power, without rescaling of the powers.

    ========= ==================================================================================================
    kind      :math:`\|Gf - \tilde Gf\|_2 / \|f\|_2 \le`
    ========= ==================================================================================================
    "paper"   :math:`2 M \kappa^K`, :math:`M = \sum_j j|c_j|` on regular graphs and √n times that on others, as
              Proposition 1 prints it. Not always true.
    "safe"    :math:`2 \sum_j |c_j| ((1 + a)^j - 1)`, :math:`a = \sqrt n\,\kappa^{K+1}`, without √n where the
              diagonal of the Laplacian is constant. What the proof proves.
    "sharp"   The same with :math:`a = (\max E/\min E)^{1/2} \kappa_E^{K+1}`, :math:`E = |\mathrm{Diag}(h\Delta + iI)|`
              and :math:`\kappa_E = \|h E^{-1/2} \mathrm{Off}(\Delta) E^{-1/2}\|_2`.
    ========= ==================================================================================================

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    polynomial : CayleyPolynomial
        The response.
    n_iter : int
        K ≥ 0 sweeps after the start vector.
    kind : {"sharp", "safe", "paper"}
        Which bound.

    Returns
    -------
    Bound
        In exact arithmetic; add :func:`jacobi_rounding` for floating point.

    Examples
    --------
    The printed bound is broken on this ring by a filter whose error is 5.87, see ``docs/theory/jacobi.md``:

    >>> import cayleygsp as cg
    >>> ring, p = cg.gallery.ring(16), cg.CayleyPolynomial([0, 0, 0, 0, 0, 1], zoom=0.5)
    >>> for kind in ("paper", "safe", "sharp"):
    ...     bound = cg.bounds.jacobi_bound(ring, p, n_iter=2, kind=kind)
    ...     print(f"{kind}: {bound.value:.2f}, {'proved' if bound.valid else 'not proved'}")
    paper: 5.00, not proved
    safe: 7.09, proved
    sharp: 7.09, proved
    """
    L, p = laplacian(graph), as_cayley(polynomial)
    K = check_integer(n_iter, "n_iter", at_least=0)
    check_choice(kind, "kind", BOUND_KINDS)
    decay = jacobi_decay(L, p.zoom, kind)
    value = decay.error(p, K)
    if kind == "paper":
        proved = min(jacobi_decay(L, p.zoom, other).error(p, K) for other in BOUND_KINDS if other != "paper")
        return _paper_bound(L, p, decay, value, proved)
    constant = has_constant_diagonal(L)
    otherwise = "the bound carries √n" if kind == "safe" else "the bound carries (max E/min E)^(1/2)"
    symmetric = "J is a number times a symmetric matrix: ‖J^(K+1)‖₂ ≤ ‖J‖₂^(K+1)"
    way = "falls" if decay.rate < 1 else "does not fall"
    assumptions = (
        Assumption("constant diagonal", constant, symmetric if constant else otherwise),
        Assumption(
            "κ < 1 (diagonal dominance)" if kind == "safe" else "κ_E < 1",
            decay.rate < 1,
            f"the rate is {format_rate(decay.rate, 6)}: the bound {way} with the number of sweeps",
        ),
    )
    return Bound(value, kind, True, assumptions)


def _paper_bound(L: Laplacian, p: CayleyPolynomial, decay: JacobiDecay, value: float, proved: float) -> Bound:
    """Say of the printed number what it supposes, and whether a proved one stands behind it."""
    regular = is_regular(L)
    dominant = L.kind == "combinatorial" or decay.rate < 1
    first_order = not p.coeffs[2:].any()
    covered = value >= proved
    # a κ that is below 1 may round to 1
    dropped = "the printed proposition drops the higher powers of κ^(K+1)"
    rate = f"= {format_rate(decay.rate, 6)}" if decay.rate < 1 or not dominant else "is below 1 by less than rounding"
    weight = "the sum" if regular else "√n times the sum"
    assumptions = (
        Assumption("regular graph", regular, f"M is {weight} of j|c_j|"),
        Assumption(
            "κ < 1 (diagonal dominance)",
            dominant,
            f"κ {rate}: the bound {'falls' if dominant else 'does not fall'} with the number of sweeps",
        ),
        Assumption(
            "no higher powers of κ^K",
            first_order,
            "r = 1: nothing is dropped" if first_order else f"{dropped}: no guarantee for r ≥ 2",
        ),
        Assumption("a proved bound is no larger", covered, f"the smaller one of safe and sharp is {proved:.6g}"),
    )
    return Bound(value, "paper", (first_order and dominant) or covered, assumptions)


def jacobi_rounding(graph: GraphLike, polynomial: CayleyPolynomial, n_iter: int, dtype: Any = np.float64) -> float:
    r"""Bound what rounding can add to the error of the scheme: to the safe, the sharp and a valid printed bound.

    No iterate is larger than :math:`1 + q` times the solution, :math:`q = (\max E/\min E)^{1/2}` over the vertices with
    edges; a sweep is wrong by a few units of roundoff times that, weighted by the rows' lengths, and later sweeps do
    not enlarge it by more than q. At a vertex without edges nothing is iterated. With δ the sum over K + 1 sweeps, a
    becomes a + δ in the bounds of :func:`jacobi_bound`.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    polynomial : CayleyPolynomial
        The response.
    n_iter : int
        K ≥ 0 sweeps.
    dtype : dtype
        Precision of the signals, float64 or float32.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> ring, p = cg.gallery.ring(16), cg.CayleyPolynomial([0.5, -0.25], zoom=0.5)
    >>> cg.bounds.jacobi_rounding(ring, p, n_iter=100) < 1e-12
    True
    """
    L, p = laplacian(graph), as_cayley(polynomial)
    K = check_integer(n_iter, "n_iter", at_least=0)
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"`dtype` must be float32 or float64, got {dtype!r}")
    delta = sweep_rounding(L, p.zoom, K, dtype)
    a = min(jacobi_decay(L, p.zoom, kind).contraction(K) for kind in BOUND_KINDS if kind != "paper")
    j = 1 + np.flatnonzero(p.coeffs[1:])
    with np.errstate(over="ignore"):
        # (1 + a + δ)^j - (1 + a)^j without cancellation
        grown = np.exp(j * np.log1p(a)) * np.expm1(j * np.log1p(delta / (1 + a)))
    return float(2 * np.abs(p.coeffs[j]) @ grown) + summation_floor(p, dtype)


def _check_atol(atol: Any) -> float:
    """Return ``atol`` as a float if it is not negative."""
    number = check_real(atol, "atol")
    if not number >= 0:
        raise ValueError(f"`atol` must not be negative, got {atol!r}")
    return number


def jacobi_sweeps(graph: GraphLike, polynomial: CayleyPolynomial, atol: float, kind: BoundKind = "sharp") -> int | None:
    """Return the least number of sweeps K for which the bound is at most ``atol``.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    polynomial : CayleyPolynomial
        The response.
    atol : float
        Error allowed, relative to the norm of the signal.
    kind : {"sharp", "safe", "paper"}
        Which bound, see :func:`jacobi_bound`.

    Returns
    -------
    int or None
        None if the bound does not fall below ``atol`` however many sweeps are made.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> graph, p = cg.gallery.communities(rng=0), cg.CayleyPolynomial([0.5, -0.25], zoom=0.1)
    >>> [cg.bounds.jacobi_sweeps(graph, p, 1e-6, kind) for kind in ("sharp", "paper")]
    [104, 287]
    """
    L, p, atol = laplacian(graph), as_cayley(polynomial), _check_atol(atol)
    check_choice(kind, "kind", BOUND_KINDS)
    decay = jacobi_decay(L, p.zoom, kind)
    if decay.error(p, 0) <= atol:
        return 0
    if decay.rate >= 1 or (atol == 0 and decay.rate > 0):
        return None
    low, high = 0, 1  # the first is not enough
    while decay.error(p, high) > atol:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decay.error(p, middle) <= atol else (middle, high)
    return high


# Zooms between which `affordable_zoom` looks, in units of one over the largest diagonal entry of the Laplacian, and
# the relative precision of what it finds.
_ZOOM_RANGE = (1e-12, 1e12)
_ZOOM_PRECISION = 1e-6


def affordable_zoom(
    graph: GraphLike,
    polynomial: CayleyPolynomial | ArrayLike,
    n_iter: int,
    atol: float,
    kind: BoundKind = "sharp",
) -> float | None:
    r"""Return the largest zoom h at which K sweeps keep the bound within ``atol``.

    All three bounds grow with h: so do the entries of :math:`h E^{-1/2}\mathrm{Off}(\Delta)E^{-1/2}` and of J, and the
    spread of E. The zoom is found by bisection on its logarithm, to a relative 1e-6, between 1e-12 and 1e12 over the
    largest diagonal entry of the Laplacian; the bound was computed at what is returned and is within ``atol`` there.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    polynomial : CayleyPolynomial or array_like, shape (r + 1,)
        The response, whose own zoom plays no part, or only its coefficients.
    n_iter : int
        K ≥ 0 sweeps.
    atol : float
        Error allowed, relative to the norm of the signal.
    kind : {"sharp", "safe", "paper"}
        Which bound, see :func:`jacobi_bound`.

    Returns
    -------
    float or None
        None if no zoom is small enough, infinity if none is too large.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> ring = cg.gallery.ring(100)
    >>> [round(cg.bounds.affordable_zoom(ring, [0.5, -0.25], n_iter, atol=1e-3), 3) for n_iter in (5, 20, 100)]
    [0.19, 0.556, 1.382]
    """
    L = laplacian(graph)
    p = as_cayley(polynomial) if isinstance(polynomial, Response) else CayleyPolynomial(polynomial, 1.0)
    K, atol = check_integer(n_iter, "n_iter", at_least=0), _check_atol(atol)
    check_choice(kind, "kind", BOUND_KINDS)
    d = float(L.diagonal.max())
    if d == 0 or not p.coeffs[1:].any():
        return np.inf

    def affordable(log_h: float) -> bool:
        return jacobi_decay(L, float(np.exp(log_h)), kind).error(p, K) <= atol

    # as logarithms: the quotient itself may be too large or too small for a float
    low, high = (float(np.clip(np.log(limit) - np.log(d), -700, 700)) for limit in _ZOOM_RANGE)
    if affordable(high):
        return np.inf
    if not affordable(low):
        return None
    while high - low > _ZOOM_PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if affordable(middle) else (low, middle)
    return float(np.exp(low))
