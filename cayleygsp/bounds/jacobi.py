"""The error of the Jacobi scheme: as printed in the paper, safe and sharp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cayleygsp._format import format_rate
from cayleygsp._typing import GraphLike
from cayleygsp._validation import check_choice, check_integer
from cayleygsp.bounds.contraction import (
    has_constant_diagonal,
    is_regular,
    jacobi_condition,
    jacobi_error,
    jacobi_factor,
    kappa,
    power,
    row_rounding,
)
from cayleygsp.bounds.result import BOUND_KINDS, Assumption, Bound, BoundKind
from cayleygsp.bounds.rounding import summation_floor, sweep_rounding
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley


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
