"""The error of the Jacobi scheme: as printed in the paper, safe and sharp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cayleygsp._format import format_rate
from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import ArrayLike, GraphLike
from cayleygsp._validation import check_choice, check_integer
from cayleygsp.bounds.contraction import (
    has_constant_diagonal,
    is_regular,
    jacobi_condition,
    jacobi_error,
    jacobi_factor,
    kappa,
    modulus,
    power,
    row_rounding,
)
from cayleygsp.bounds.result import BOUND_KINDS, Assumption, Bound, BoundKind, check_atol
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
    r"""Bound what rounding adds to :math:`\|J^{K+1}\|` in the recurrence of the Jacobi scheme's error.

    No iterate is larger than :math:`1 + q` times the solution, :math:`q = (\max E/\min E)^{1/2}` over the vertices with
    edges; a sweep is wrong by a few units of roundoff times that, weighted by the rows' lengths, and later sweeps do
    not enlarge it by more than q. K + 1 sweeps make one power. At a vertex without edges nothing is iterated.
    """
    q = jacobi_condition(L, zoom)
    smallest = float(modulus(L, zoom)[L.diagonal > 0].min(initial=np.inf))
    return (n_iter + 1) * q * (1 + q) * _one_sweep(L.rounding_norm * zoom / smallest, dtype)


def adjoint_sweep_rounding(L: Laplacian, zoom: float, n_iter: int, dtype: Any) -> float:
    r"""Bound what rounding adds to :math:`\|J^{K+1}\|` in the error of the transposed scheme.

    A power is :math:`(h\Delta - iI) \sum_{k \le K} J^k E^{-1}`. The iterates :math:`E^{-1/2} w` of the sum have
    :math:`\|w\| \le 2 \max |E|^{1/2}` and are multiplied in the end by :math:`(h\Delta - iI) E^{-1/2}`, of norm at most
    :math:`2 \max |E|^{1/2}`. In the weighted norm a sweep passes errors on as they are and makes one of a few units of
    roundoff times the longest row, as :math:`|E|^{-1/2} h|\Delta| |E|^{-1/2}` has norm 2 at most. The product at the
    end counts for two sweeps.
    """
    longest_row = float(np.diff(L.matrix.indptr).max())
    return 4 * float(modulus(L, zoom).max()) * (n_iter + 2) * _one_sweep(longest_row + 3, dtype)


def _one_sweep(product: float, dtype: Any) -> float:
    """Return what one sweep is wrong by: twice the product, which is in units of roundoff, and steps row by row."""
    return unit_roundoff(dtype) * (2 * product + 12)


@dataclass(frozen=True)
class JacobiDecay:
    """How a bound depends on the number of sweeps: through factor · rate^(K + 1), for "paper" rate^K."""

    kind: BoundKind
    factor: float
    rate: float

    def error(self, p: CayleyPolynomial, n_iter: int) -> float:
        """Return the bound after K sweeps."""
        if self.kind != "paper":
            return jacobi_error(p, self.factor * power(self.rate, n_iter + 1))
        weight = p.error_weight()
        return weight * self.factor * power(self.rate, n_iter) if weight else 0.0


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


def jacobi_bound(graph: GraphLike, polynomial: CayleyPolynomial, n_iter: int, kind: BoundKind = "sharp") -> Bound:
    r"""Bound the error of the paper's scheme with K sweeps per power, without rescaling of the powers.

    ========= ==================================================================================================
    kind      :math:`\|Gf - \tilde Gf\|_2 / \|f\|_2 \le`
    ========= ==================================================================================================
    "paper"   :math:`2 M \kappa^K`, :math:`M = \sum_j j|c_j|` on regular graphs and √n times that on others, as
              Proposition 1 prints it. Not always true.
    "safe"    :math:`2 \sum_j |c_j| ((1 + a)^j - 1)`, :math:`a = \sqrt n\,\kappa^{K+1}`, without √n where the
              diagonal of the Laplacian is constant. What the proof proves.
    "sharp"   The same with :math:`a = (\max E/\min E)^{1/2} \kappa_E^{K+1}`, see :func:`jacobi_contraction`.
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
    return Bound(value, kind, True, (_diagonal_assumption(L, kind), _contraction_assumption(decay)))


def _paper_bound(L: Laplacian, p: CayleyPolynomial, decay: JacobiDecay, value: float, proved: float) -> Bound:
    """Say of the printed number what it supposes, and whether a proved one stands behind it."""
    regular = is_regular(L)
    dominant = L.kind == "combinatorial" or decay.rate < 1
    first_order = not p.coeffs[2:].any()
    covered = value >= proved
    # a κ that is below 1 may round to 1
    rate = f"= {format_rate(decay.rate, 6)}" if decay.rate < 1 or not dominant else "is below 1 by less than rounding"
    assumptions = (
        Assumption(
            "regular graph",
            regular,
            "M is the sum of j|c_j|" if regular else "M is √n times the sum of j|c_j|",
        ),
        Assumption(
            "κ < 1 (diagonal dominance)",
            dominant,
            f"κ {rate}: the bound {'falls' if dominant else 'does not fall'} with the number of sweeps",
        ),
        Assumption(
            "no higher powers of κ^K",
            first_order,
            "r = 1: nothing is dropped"
            if first_order
            else "the printed proposition drops the higher powers of κ^(K+1): no guarantee for r ≥ 2",
        ),
        Assumption(
            "a proved bound is no larger",
            covered,
            f"the smaller one of safe and sharp is {proved:.6g}",
        ),
    )
    return Bound(value, "paper", (first_order and dominant) or covered, assumptions)


def _diagonal_assumption(L: Laplacian, kind: BoundKind) -> Assumption:
    constant = has_constant_diagonal(L)
    otherwise = "the bound carries √n" if kind == "safe" else "the bound carries (max E/min E)^(1/2)"
    text = "J is a number times a symmetric matrix: ‖J^(K+1)‖₂ ≤ ‖J‖₂^(K+1)" if constant else otherwise
    return Assumption("constant diagonal", constant, text)


def _contraction_assumption(decay: JacobiDecay) -> Assumption:
    name = "κ < 1 (diagonal dominance)" if decay.kind == "safe" else "κ_E < 1"
    falls = decay.rate < 1
    way = "falls" if falls else "does not fall"
    text = f"the rate is {format_rate(decay.rate, 6)}: the bound {way} with the number of sweeps"
    return Assumption(name, falls, text)


def jacobi_rounding(graph: GraphLike, polynomial: CayleyPolynomial, n_iter: int, dtype: Any = np.float64) -> float:
    r"""Bound what rounding can add to the error of the scheme: to the safe, the sharp and a valid printed bound.

    No iterate is larger than :math:`1 + q` times the solution, :math:`q = (\max E/\min E)^{1/2}` over the vertices with
    edges; a sweep is wrong by a few units of roundoff times that, weighted by the rows' lengths, and later sweeps do
    not enlarge it by more than q. With δ the sum over K + 1 sweeps, a becomes a + δ in the recurrence of
    :func:`jacobi_error`.

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
    decays = (jacobi_decay(L, p.zoom, kind) for kind in BOUND_KINDS if kind != "paper")
    a = min(decay.factor * power(decay.rate, K + 1) for decay in decays)
    j = 1 + np.flatnonzero(p.coeffs[1:])
    with np.errstate(over="ignore"):
        # (1 + a + δ)^j - (1 + a)^j without cancellation
        grown = np.exp(j * np.log1p(a)) * np.expm1(j * np.log1p(delta / (1 + a)))
    return float(2 * np.abs(p.coeffs[j]) @ grown) + summation_floor(p, dtype)


# Zooms between which `affordable_zoom` looks, in units of one over the largest diagonal entry of the Laplacian, and
# the relative precision of what it finds.
_ZOOM_RANGE = (1e-12, 1e12)
_ZOOM_PRECISION = 1e-6


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
    L, p, atol = laplacian(graph), as_cayley(polynomial), check_atol(atol)
    check_choice(kind, "kind", BOUND_KINDS)
    decay = jacobi_decay(L, p.zoom, kind)
    if decay.error(p, 0) <= atol:
        return 0
    if decay.rate == 0:
        return 1  # the printed bound without edges: κ^0 is 1
    if decay.rate >= 1 or atol == 0:
        return None
    if kind == "paper":
        K = np.log(atol / (p.error_weight() * decay.factor)) / np.log(decay.rate)
    else:
        K = (_log_contraction(p, atol) - np.log(decay.factor)) / np.log(decay.rate) - 1
    K = max(int(np.ceil(K)), 1)
    # logarithms are rounded: look next door
    K = K - 1 if decay.error(p, K - 1) <= atol else K
    return K if decay.error(p, K) <= atol else K + 1


def _log_contraction(p: CayleyPolynomial, atol: float) -> float:
    """Return log a for the largest a with ``jacobi_error(p, a) <= atol``, by bisection."""
    # a is at most what its first power alone would allow, and not far below: (1 + a)^j - 1 ≤ 2ja if ja ≤ 1
    high = float(np.log(atol / p.error_weight()))
    low = min(high, -float(np.log(p.order))) - 1
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if jacobi_error(p, float(np.exp(middle))) <= atol else (low, middle)
    return low


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
    K, atol = check_integer(n_iter, "n_iter", at_least=0), check_atol(atol)
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
    return float(np.exp(_last(affordable, low, high))) if affordable(low) else None


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition that holds at ``low`` and not at ``high`` holds last."""
    while high - low > _ZOOM_PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
