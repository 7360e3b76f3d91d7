r"""Error bounds of the ways to approximate a Cayley filter, and what they allow.

Proposition 1 of the paper bounds the error of K Jacobi sweeps. As printed it is false for the plain algorithm, so it
is given as ``"paper"`` with a word on whether the number can be trusted, beside ``"safe"``, the proof's own recurrence
without the step that drops terms, and ``"sharp"``, which holds on every graph and needs no √n. The bound of a cut
Chebyshev series is the sum of the coefficients that are cut.

All of them bound :math:`\|Gf - \tilde Gf\|_2 / \|f\|_2` in exact arithmetic; :func:`jacobi_rounding` bounds what
rounding adds. The inverse questions are answered by :func:`jacobi_sweeps`, :func:`series_degree` and
:func:`affordable_zoom`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from cayleygsp._typing import ArrayLike, FloatArray, GraphLike
from cayleygsp._validation import check_choice, check_integer, check_positive, check_real
from cayleygsp.cayley import CayleyPolynomial
from cayleygsp.chebyshev import ChebyshevPolynomial
from cayleygsp.laplacian import Laplacian, laplacian
from cayleygsp.methods.base import Response, summation_floor, unit_roundoff
from cayleygsp.series import MAX_SAMPLES, ChebyshevSeries, chebyshev_nodes, series_from_samples

BoundKind: TypeAlias = Literal["sharp", "safe", "paper"]
BOUND_KINDS: tuple[BoundKind, ...] = ("sharp", "safe", "paper")

#: What :func:`jacobi_sweeps` returns if no number of sweeps is known to be enough.
UNREACHABLE = 10**18

# Power steps behind the bound of the contraction factor; each is one product.
_POWER_STEPS = 20

# Degrees that differ by no more than this, relatively, differ by the rounding of sums of weights.
_SAME_DEGREE = 1e-12

# Zooms between which `affordable_zoom` looks, in units of one over the largest diagonal entry of the Laplacian, and
# the relative precision of what it finds.
_ZOOM_RANGE = (1e-12, 1e12)
_ZOOM_PRECISION = 1e-6


@dataclass(frozen=True)
class Assumption:
    """Something that a bound supposes, or a case that it distinguishes.

    Attributes
    ----------
    name : str
        In a few words.
    holds : bool
        Whether it is so on this graph, for this response.
    text : str
        What follows.
    """

    name: str
    holds: bool
    text: str


@dataclass(frozen=True)
class Bound:
    r"""A number beside :math:`\|Gf - \tilde Gf\|_2 / \|f\|_2`, and what it rests on.

    Attributes
    ----------
    value : float
        The number; infinite where nothing can be said.
    kind : {"sharp", "safe", "paper", "series"}
        Which bound it is.
    valid : bool
        Whether the number is proved to be no smaller than the error, here. For "paper" that is so if its proof is
        complete (r = 1) or if a proved bound is no larger.
    assumptions : tuple of Assumption
        What was looked at.
    """

    value: float
    kind: str
    valid: bool
    assumptions: tuple[Assumption, ...]

    def __float__(self) -> float:
        return self.value


# ------------------------------------------------------------------------------------------------ contraction


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
    return float((h * off / _modulus(L, h)).max())


def jacobi_factor(L: Laplacian, zoom: float) -> float:
    r"""Bound the factor :math:`\kappa_E` by which a Jacobi sweep contracts in the :math:`E^{1/2}`-weighted norm.

    With :math:`E = |\mathrm{Diag}(h\Delta + iI)|`, :math:`\kappa_E = \|h E^{-1/2} \mathrm{Off}(\Delta) E^{-1/2}\|_2`.
    The matrix has one sign, so its norm is at most :math:`\max_i (Mx)_i/x_i` for every positive x
    (Collatz and Wielandt); x = E^{1/2} gives the paper's κ = ‖J‖_∞, power steps make it smaller. It is also at most
    :math:`\max_i h\Delta_{ii}/E_{ii} < 1`, as both signs of the off-diagonal part leave a Laplacian positive
    semi-definite. For the combinatorial Laplacian that is κ again; for the normalized one it is smaller.
    """
    d = L.diagonal
    E = _modulus(L, zoom)
    x = np.sqrt(E)
    best = np.inf
    for _ in range(_POWER_STEPS):
        z = x / np.sqrt(E)
        Mx = zoom * (d * z - L.matrix @ z) / np.sqrt(E)
        best = min(best, float((Mx / x).max()))
        x = Mx + 1e-3 * max(best, 1e-3) * x  # stays positive
        x /= x.max()
    best = max(best, 0.0)
    best += _row_rounding(L) * (1 + best) if best else 0.0
    if L.kind == "normalized":
        # where only the matrix is known, off-diagonal parts of norm above 1 by rounding were let through
        best = min(best, float((zoom * d / E).max()) * max(1.0, L.lmax - 1) * (1 + _row_rounding(L)))
    return best


def jacobi_contraction(L: Laplacian, zoom: float, n_iter: int) -> float:
    r"""Bound :math:`\|J^{K+1}\|_2` by :math:`(\max E/\min E)^{1/2} \kappa_E^{K+1}`, on every graph.

    Vertices without edges are left out of the extrema of E: J is zero there.

    Parameters
    ----------
    L : Laplacian
        The graph.
    zoom : float
        h.
    n_iter : int
        K sweeps after the start vector.
    """
    return jacobi_condition(L, zoom) * _power(jacobi_factor(L, zoom), n_iter + 1)


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
    row_sums = L.matrix @ np.ones(L.n_vertices)
    d = L.diagonal
    return bool(np.ptp(d) <= _SAME_DEGREE * d.max() and np.ptp(row_sums) <= _SAME_DEGREE * d.max())


def _modulus(L: Laplacian, h: float) -> FloatArray:
    """Return E = |Diag(hΔ + iI)|."""
    if not np.isfinite(h * float(L.diagonal.max(initial=0.0))):
        raise ValueError(f"`zoom` times the largest degree must be finite, got {h:g} times {L.diagonal.max():g}")
    return np.hypot(h * L.diagonal, 1.0)


def jacobi_condition(L: Laplacian, h: float) -> float:
    """Return (max E / min E)^{1/2} over the vertices with edges."""
    E = _modulus(L, h)[L.diagonal > 0]
    return float(np.sqrt(E.max() / E.min())) if E.size else 1.0


def _has_constant_diagonal(L: Laplacian) -> bool:
    d = L.diagonal[L.diagonal > 0]
    return bool(d.size == 0 or np.ptp(d) <= _SAME_DEGREE * d.max())


def _row_rounding(L: Laplacian) -> float:
    """Bound the relative rounding of a row of non-negative terms."""
    return (int(np.diff(L.matrix.indptr).max(initial=0)) + 16) * float(np.finfo(np.float64).eps)


def _power(base: float, exponent: int) -> float:
    """Return a power; one that is too large for a float is infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float64(base) ** exponent)


# ----------------------------------------------------------------------------------------------------- Jacobi


@dataclass(frozen=True)
class _Decay:
    """How a bound depends on the number of sweeps: through factor · rate^(K + 1), for "paper" rate^K."""

    kind: BoundKind
    factor: float
    rate: float

    def error(self, p: CayleyPolynomial, n_iter: int) -> float:
        if self.kind != "paper":
            return jacobi_error(p, self.factor * _power(self.rate, n_iter + 1))
        weight = p.error_weight()
        return weight * self.factor * _power(self.rate, n_iter) if weight else 0.0


def _decay(L: Laplacian, h: float, kind: BoundKind) -> _Decay:
    if kind == "sharp":
        return _Decay(kind, jacobi_condition(L, h), jacobi_factor(L, h))
    root_n = float(np.sqrt(L.n_vertices))
    if kind == "paper":
        return _Decay(kind, 1.0 if is_regular(L) else root_n, kappa(L, h))
    # With a constant diagonal J is a complex number times a symmetric matrix, so that ‖J‖₂ ≤ ‖J‖_∞; `jacobi_condition`
    # is then 1 but for rounding.
    factor = min(jacobi_condition(L, h), root_n) if _has_constant_diagonal(L) else root_n
    return _Decay(kind, factor, kappa(L, h) * (1 + _row_rounding(L)))


def jacobi_bound(graph: GraphLike, polynomial: CayleyPolynomial, n_iter: int, kind: BoundKind = "sharp") -> Bound:
    r"""Bound the error of the paper's scheme with K sweeps a power, without rescaling of the powers.

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
    The printed bound is broken on this ring by a filter whose error is 5.87, see ``docs/bounds.md``:

    >>> import cayleygsp as cg
    >>> ring, p = cg.gallery.ring(16), cg.CayleyPolynomial([0, 0, 0, 0, 0, 1], zoom=0.5)
    >>> for kind in ("paper", "safe", "sharp"):
    ...     bound = cg.bounds.jacobi_bound(ring, p, n_iter=2, kind=kind)
    ...     print(f"{kind}: {bound.value:.2f}, {'proved' if bound.valid else 'not proved'}")
    paper: 5.00, not proved
    safe: 7.09, proved
    sharp: 7.09, proved
    """
    L, p = laplacian(graph), _check_polynomial(polynomial)
    K = check_integer(n_iter, "n_iter", at_least=0)
    check_choice(kind, "kind", BOUND_KINDS)
    found = _decay(L, p.zoom, kind)
    value = found.error(p, K)
    if kind == "paper":
        proved = min(_decay(L, p.zoom, other).error(p, K) for other in BOUND_KINDS if other != "paper")
        return _paper_bound(L, p, found, value, proved)
    return Bound(value, kind, True, (_diagonal_assumption(L, kind), _contraction_assumption(found)))


def _paper_bound(L: Laplacian, p: CayleyPolynomial, found: _Decay, value: float, proved: float) -> Bound:
    """Say of the printed number what it supposes, and whether a proved one stands behind it."""
    regular = is_regular(L)
    dominant = L.kind == "combinatorial" or found.rate < 1
    first_order = not p.coeffs[2:].any()
    covered = value >= proved
    assumptions = (
        Assumption(
            "regular graph",
            regular,
            "M is the sum of j|c_j|" if regular else "M is √n times the sum of j|c_j|",
        ),
        Assumption(
            "κ < 1 (diagonal dominance)",
            dominant,
            f"κ = {found.rate:.6g}: the bound {'falls' if dominant else 'does not fall'} with the number of sweeps",
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
    constant = _has_constant_diagonal(L)
    otherwise = "the bound carries √n" if kind == "safe" else "the bound carries (max E/min E)^(1/2)"
    text = "J is a number times a symmetric matrix: ‖J^(K+1)‖₂ ≤ ‖J‖₂^(K+1)" if constant else otherwise
    return Assumption("constant diagonal", constant, text)


def _contraction_assumption(found: _Decay) -> Assumption:
    name = "κ < 1 (diagonal dominance)" if found.kind == "safe" else "κ_E < 1"
    falls = found.rate < 1
    text = f"the rate is {found.rate:.6g}: the bound {'falls' if falls else 'does not fall'} with the number of sweeps"
    return Assumption(name, falls, text)


def jacobi_rounding(graph: GraphLike, polynomial: CayleyPolynomial, n_iter: int, dtype: Any = np.float64) -> float:
    r"""Bound what rounding can add to the error of the scheme: to the safe, the sharp and a valid printed bound.

    No iterate is larger than :math:`1 + q` times the solution, :math:`q = (\max E/\min E)^{1/2}`; a sweep is wrong by
    a few units of roundoff times that, weighted by the rows' lengths, and later sweeps do not enlarge it by more than
    q. With δ the sum over K + 1 sweeps, a becomes a + δ in the recurrence of :func:`jacobi_error`.

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
    L, p = laplacian(graph), _check_polynomial(polynomial)
    K = check_integer(n_iter, "n_iter", at_least=0)
    if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"`dtype` must be float32 or float64, got {dtype!r}")
    q = jacobi_condition(L, p.zoom)
    step = unit_roundoff(dtype) * (2 * L.rounding_norm * p.zoom / float(_modulus(L, p.zoom).min()) + 12)
    delta = (K + 1) * q * (1 + q) * step
    found = (_decay(L, p.zoom, kind) for kind in BOUND_KINDS if kind != "paper")
    a = min(decay.factor * _power(decay.rate, K + 1) for decay in found)
    j = 1 + np.flatnonzero(p.coeffs[1:])
    with np.errstate(over="ignore"):
        # (1 + a + δ)^j - (1 + a)^j without cancellation
        grown = np.exp(j * np.log1p(a)) * np.expm1(j * np.log1p(delta / (1 + a)))
    return float(2 * np.abs(p.coeffs[j]) @ grown) + summation_floor(p, dtype)


def jacobi_sweeps(graph: GraphLike, polynomial: CayleyPolynomial, atol: float, kind: BoundKind = "sharp") -> int:
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
    int
        ``UNREACHABLE`` (10**18) if the bound does not fall below ``atol`` however many sweeps are made.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> graph, p = cg.gallery.communities(rng=0), cg.CayleyPolynomial([0.5, -0.25], zoom=0.1)
    >>> [cg.bounds.jacobi_sweeps(graph, p, 1e-6, kind) for kind in ("sharp", "paper")]
    [104, 287]
    """
    L, p, atol = laplacian(graph), _check_polynomial(polynomial), _check_atol(atol)
    check_choice(kind, "kind", BOUND_KINDS)
    found = _decay(L, p.zoom, kind)
    if found.error(p, 0) <= atol:
        return 0
    if found.rate == 0:
        return 1  # the printed bound without edges: κ^0 is 1
    if found.rate >= 1 or atol == 0:
        return UNREACHABLE
    if kind == "paper":
        K = np.log(atol / (p.error_weight() * found.factor)) / np.log(found.rate)
    else:
        K = (_log_contraction(p, atol) - np.log(found.factor)) / np.log(found.rate) - 1
    K = max(int(np.ceil(K)), 1)
    # logarithms are rounded: look next door
    K = K - 1 if found.error(p, K - 1) <= atol else K
    return K if found.error(p, K) <= atol else K + 1


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
) -> float:
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
    float
        0.0 if no zoom is small enough, infinity if none is too large.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> ring = cg.gallery.ring(100)
    >>> [round(cg.bounds.affordable_zoom(ring, [0.5, -0.25], n_iter, atol=1e-3), 3) for n_iter in (5, 20, 100)]
    [0.19, 0.556, 1.382]
    """
    L = laplacian(graph)
    p = polynomial if isinstance(polynomial, CayleyPolynomial) else CayleyPolynomial(polynomial, 1.0)
    K, atol = check_integer(n_iter, "n_iter", at_least=0), _check_atol(atol)
    check_choice(kind, "kind", BOUND_KINDS)
    d = float(L.diagonal.max())
    if d == 0 or not p.coeffs[1:].any():
        return np.inf

    def affordable(log_h: float) -> bool:
        return _decay(L, float(np.exp(log_h)), kind).error(p, K) <= atol

    # as logarithms: the quotient itself may be too large or too small for a float
    low, high = (float(np.clip(np.log(limit) - np.log(d), -700, 700)) for limit in _ZOOM_RANGE)
    if affordable(high):
        return np.inf
    return float(np.exp(_last(affordable, low, high))) if affordable(low) else 0.0


def _last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition that holds at ``low`` and not at ``high`` holds last."""
    while high - low > _ZOOM_PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


# ----------------------------------------------------------------------------------------------------- series


def series_bound(graph: GraphLike, response: Response, degree: int) -> Bound:
    r"""Bound the error of the Chebyshev series on [0, lmax] cut after the given degree: its tail.

    With :math:`g = \sum_k a_k T_k` the error is at most :math:`\sum_{k > K} |a_k|`. The coefficients are computed as
    far as they matter, and what is beyond is added, with their rounding; or, if that is smaller, the tail is bounded
    through the poles of the response alone, which has no floor (see :meth:`CayleyPolynomial.series`).

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        Only its guaranteed bound of the spectrum is used.
    response : CayleyPolynomial, ChebyshevPolynomial or other response
        ``filter.response`` of any filter. Of a user's function only samples are known: its bound is not valid.
    degree : int
        K ≥ 0.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> ring, p = cg.gallery.ring(16), cg.CayleyPolynomial([0.5, -0.25], zoom=0.5)
    >>> [float(f"{cg.bounds.series_bound(ring, p, K).value:.2g}") for K in (0, 5, 10, 20)]
    [0.54, 0.0014, 1.5e-05, 3.6e-10]
    """
    L, degree = laplacian(graph), check_integer(degree, "degree", at_least=0)
    tails, proved = series_tails(L, response, degree + 1)
    text = "the tail follows from the form of the response" if proved else "nothing but samples of it are known"
    return Bound(float(tails[degree]), "series", proved, (Assumption("known response", proved, text),))


def series_degree(graph: GraphLike, response: Response, atol: float) -> int:
    """Return the least degree at which :func:`series_bound` is at most ``atol``.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        Only its guaranteed bound of the spectrum is used.
    response : CayleyPolynomial, ChebyshevPolynomial or other response
        ``filter.response`` of any filter.
    atol : float
        Error allowed, relative to the norm of the signal; above 0.

    Raises
    ------
    ValueError
        If samples of a user's function do not show such a degree.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> graph = cg.gallery.communities(rng=0)
    >>> [cg.bounds.series_degree(graph, cg.CayleyPolynomial([0.5, -0.25], zoom), 1e-6) for zoom in (0.1, 1.0, 10.0)]
    [19, 62, 197]
    """
    L, atol = laplacian(graph), check_positive(atol, "atol")
    n_degrees = _long_series(L, response).degree + 2
    if isinstance(response, ChebyshevPolynomial):
        n_degrees = response.order + 1
    elif isinstance(response, CayleyPolynomial) and L.lmax > 0:
        log_tail, log_rho = _ellipse_tails(response, L.lmax)
        needed = float(np.min((log_tail - np.log(atol)) / log_rho))  # -inf for the response 0
        n_degrees = max(n_degrees, int(needed) + 2 if np.isfinite(needed) else 0)
    tails, _ = series_tails(L, response, n_degrees)
    if tails[-1] > atol:
        raise ValueError(f"`atol` must be at least {tails[-1]:.3g}, what samples of this response show, got {atol:.3g}")
    return int(np.argmax(tails <= atol))


def series_tails(L: Laplacian, response: Response, n_degrees: int) -> tuple[FloatArray, bool]:
    """Bound the tails of a response's series on [0, lmax] beyond the degrees 0 … n - 1, and say if that is proved."""
    degrees = np.arange(n_degrees)
    if isinstance(response, CayleyPolynomial) and response.degree_bound(L.lmax, 0.0) > MAX_SAMPLES:
        # too long to be computed: what the poles tell must do
        tails, proved = np.full(n_degrees, np.inf), True
    else:
        series = _long_series(L, response)
        proved = series.certificate == "proved"
        if L.lmax == 0:  # one frequency: every response is constant
            return np.zeros(n_degrees), proved
        beyond = np.append(np.cumsum(np.abs(series.coeffs[:0:-1]))[::-1], 0.0) + series.error
        tails = beyond[np.minimum(degrees, series.degree)]
    if isinstance(response, ChebyshevPolynomial):
        tails[response.order :] = 0.0
    if isinstance(response, CayleyPolynomial):
        with np.errstate(over="ignore", under="ignore"):
            for log_tail, log_rho in zip(*_ellipse_tails(response, L.lmax), strict=True):
                np.minimum(tails, np.exp(log_tail - degrees * log_rho), out=tails)
    return tails, proved


def _ellipse_tails(p: CayleyPolynomial, lmax: float) -> tuple[FloatArray, FloatArray]:
    """Return log A and log ρ for ellipses short of the poles: the tail beyond degree K is at most A ρ^{-K} for each."""
    delta, log_M = p.ellipse_bounds(lmax)
    # |a_k| ≤ 2 M ρ^{-k}, summed over k > K
    return np.log(2 / delta) + log_M, np.log1p(delta)


def _long_series(L: Laplacian, response: Response) -> ChebyshevSeries:
    """Return a series on an interval that holds the spectrum, as long as rounding lets it matter."""
    if not isinstance(response, ChebyshevPolynomial) or response.lmax >= L.lmax:
        return response.series(L.lmax, 0.0)
    # a Chebyshev filter scaled to less than the guaranteed spectrum: the same polynomial on the longer interval
    r = response.order
    growth = np.cosh(np.arange(r + 1) * np.arccosh(2 * L.lmax / response.lmax - 1))
    rounding = 2**-50 * (r + 1) ** 2 * float(growth @ np.abs(response.coeffs))
    values = response(chebyshev_nodes(r + 1, L.lmax))
    return series_from_samples(values, L.lmax, 0.0, beyond=0.0, sample_error=rounding)


# ----------------------------------------------------------------------------------------------------- checks


def _check_polynomial(polynomial: Any) -> CayleyPolynomial:
    if not isinstance(polynomial, CayleyPolynomial):
        raise TypeError(f"`polynomial` must be a CayleyPolynomial, got {type(polynomial).__name__}")
    return polynomial


def _check_atol(atol: Any) -> float:
    number = check_real(atol, "atol")
    if not number >= 0:
        raise ValueError(f"`atol` must not be negative, got {atol!r}")
    return number
