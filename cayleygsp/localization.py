r"""How far a filter reaches: mass outside the neighbourhood of a vertex, measured, fitted and proved.

The :math:`L_p` mass of :math:`G\delta_m` outside k hops of the vertex m, relative to :math:`\|G\delta_m\|_p`, is what
Definition 2 of the paper asks to fall like :math:`c\gamma^k`. :func:`decay_curve` measures it and puts beside it

- the constants c and γ that fit best;
- Theorem 4, with a word on where it is proved: its proof rests on Proposition 1, see :mod:`cayleygsp.bounds`;
- the theorem's argument with a proved bound in the place of Proposition 1;
- the tail of the Chebyshev series: a polynomial of degree k in the Laplacian reaches k hops and no further, so that
  the mass outside is at most that of the rest of the series.

A polynomial filter of order r, as Chebyshev's, reaches exactly r hops; the Jacobi scheme r(K + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csgraph

from cayleygsp._format import ShortRepr
from cayleygsp._typing import Array, FloatArray, GraphLike
from cayleygsp._validation import check_integer, check_real, check_vertex
from cayleygsp.bounds.contraction import is_regular, jacobi_condition, jacobi_factor, kappa
from cayleygsp.bounds.series import series_tails
from cayleygsp.filters import ChebyshevFilter, GraphFilter
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.series import chebyshev_coefficients, chebyshev_nodes

__all__ = [
    "Decay",
    "chebyshev_of_same_order",
    "decay_curve",
    "fit_decay",
    "hops",
    "mass_outside",
    "theorem_4",
]

# A mass is a ratio of sums of squares: below this rounding may have made it.
_ROUNDING = 1e-15


@dataclass(frozen=True, eq=False)
class DecayFit:
    r"""The line through the logarithms of the measured masses.

    Attributes
    ----------
    c, gamma : float
        Least squares of :math:`\log c + k \log\gamma`; NaN if fewer than two masses are above the floor.
    r_squared : float
        Share of the variance of the logarithms that the line explains; NaN if there is none.
    n_points : int
        Masses above the floor.
    """

    c: float
    gamma: float
    r_squared: float
    n_points: int


@dataclass(frozen=True, eq=False, repr=False)
class DecayBound(ShortRepr):
    """A curve that masses are proved to be below, or that the paper states.

    Attributes
    ----------
    name : {"theorem 4", "jacobi", "series"}
        Where it comes from.
    mass : numpy.ndarray, shape (n_hops + 1,)
        Upper bounds of the masses, relative to the norm as these are; above 1 it says nothing.
    valid : numpy.ndarray of bool, shape (n_hops + 1,)
        Where it is proved: everywhere or nowhere, but for "theorem 4", which is proved where k is a multiple of the
        order (see :func:`decay_curve`), and where a proved curve, or 1, lies below it.
    c, gamma : float or None
        Theorem 4's constants; of several vertices, c is the mean.
    """

    name: str
    mass: FloatArray
    valid: Array
    c: float | None = None
    gamma: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Decay(ShortRepr):
    r"""Masses of a filter outside k hops, k = 0 … n_hops, and what is known of them.

    Attributes
    ----------
    hops : numpy.ndarray, shape (n_hops + 1,)
        k.
    mass : numpy.ndarray, shape (n_hops + 1,)
        As computed, relative to :math:`\|G\delta_m\|_p`; the mean over the vertices if there are several. Only what is
        ``resolved`` is a measurement.
    p : float
        Of the norm.
    norm : float
        :math:`\|G\delta_m\|_p`, the mean over the vertices.
    floor : float
        How far the masses may be off by the error of the method that applied the filter, rounding included; what is
        not above it is not fitted.
    fit : DecayFit
        The exponential through the masses above the floor: ``c``, ``gamma``, ``r_squared`` and ``n_points``.
    bounds : tuple of DecayBound
        Those that there are for this filter and p, each with ``name``, ``mass`` and ``valid``, where it is proved.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> g = cg.CayleyFilter(cg.gallery.ring(40), cg.CayleyPolynomial([0.5, -0.25], zoom=1.0), tol=1e-10)
    >>> curve = cg.localization.decay_curve(g, vertices=0)
    >>> bool((curve.mass <= curve.bound("series").mass + curve.floor).all())
    True
    """

    hops: Array
    mass: FloatArray
    p: float
    norm: float
    floor: float
    fit: DecayFit
    bounds: tuple[DecayBound, ...]

    @property
    def resolved(self) -> Array:
        """Where the mass is above the floor, or proved to be zero; elsewhere the method may have made it."""
        zero = np.zeros(self.mass.shape, dtype=bool)
        for bound in self.bounds:
            zero |= bound.valid & (bound.mass == 0)
        return (self.mass > self.floor) | (zero & (self.mass == 0))

    def bound(self, name: str) -> DecayBound | None:
        """Return the curve of that name, or None if there is none for this filter and p."""
        return next((bound for bound in self.bounds if bound.name == name), None)


def hops(graph: GraphLike, vertex: int) -> Array:
    """Return the number of edges on a shortest way from a vertex to every other one.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`. Weights do not count, as long as they are not zero.
    vertex : int
        Where to start.

    Returns
    -------
    numpy.ndarray of int, shape (n_vertices,)
        −1 for vertices that cannot be reached.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp import localization
    >>> localization.hops(cg.gallery.ring(7), 0)
    array([0, 1, 2, 3, 3, 2, 1])
    """
    L = laplacian(graph)
    start = check_vertex(vertex, L.n_vertices)
    order, before = csgraph.breadth_first_order(L.matrix, start, directed=True, return_predecessors=True)
    # Everyone's distance is that of the predecessor and one: ways are doubled until all have reached the start.
    jump = before.astype(np.int64)
    jump[start] = start
    distance = np.full(L.n_vertices, -1, dtype=np.int64)
    distance[order] = 1
    distance[start] = 0
    far = order[jump[order] != start]
    while far.size:
        halfway = jump[far]
        distance[far] += distance[halfway]
        jump[far] = jump[halfway]
        far = far[jump[far] != start]
    return distance


def mass_outside(
    filter: GraphFilter, vertices: int | Sequence[int], p: float = 2, *, n_hops: int | None = None
) -> FloatArray:
    r"""Return the :math:`L_p` mass of a localized filter outside k hops, k = 0, 1, …: Definition 2 of the paper.

    .. math:: \|(G\delta_m)|_{N_{k,m}^c}\|_p \,/\, \|G\delta_m\|_p

    Parameters
    ----------
    filter : GraphFilter
        Any filter, taken as its method applies it.
    vertices : int or sequence of int
        One vertex m, or several; take the mean over the first axis for their average.
    p : float
        1 ≤ p ≤ ∞.
    n_hops : int, optional
        The largest k; by default as many hops as reach every vertex that can be reached.

    Returns
    -------
    numpy.ndarray, shape (n_hops + 1,) or (n_vertices, n_hops + 1)
        Masses from at most 1 down, as the method computes them: very small ones may be its error or rounding, which
        :func:`decay_curve` tells apart. Vertices that cannot be reached are outside. A filter that is zero has no mass.

    Notes
    -----
    One application of the filter and one breadth-first search per vertex; memory is that of a few signals.

    Examples
    --------
    A Chebyshev filter of order 2 ends after two hops:

    >>> import cayleygsp as cg
    >>> from cayleygsp import localization
    >>> g = cg.ChebyshevFilter(cg.gallery.ring(9), [0.5, -0.5, 0.25], lmax=4.0)
    >>> localization.mass_outside(g, 0).round(3)
    array([0.62 , 0.277, 0.   , 0.   , 0.   ])
    """
    p, chosen, n_hops = _checked(filter, vertices, p, n_hops)
    rows = []
    for vertex in chosen:
        masses = _mass_beyond(filter.localize(vertex), hops(filter.laplacian, vertex), p)
        rows.append(_relative(masses[1:], masses[0]))
    table = _stack(rows, n_hops)
    return table if np.ndim(vertices) else table[0]


def _checked(filter: Any, vertices: Any, p: Any, n_hops: int | None) -> tuple[float, list[int], int | None]:
    """Return p as a float, the vertices as a list, and the hops, where the filter is one."""
    if not isinstance(filter, GraphFilter):
        raise TypeError(f"`filter` must be a graph filter, got {type(filter).__name__}")
    number = check_real(p, "p")
    if not number >= 1:
        raise ValueError(f"`p` must be at least 1, got {p!r}")
    given = list(vertices) if np.ndim(vertices) else [vertices]
    if not given:
        raise ValueError("`vertices` must hold at least one vertex, got none")
    chosen = [check_vertex(vertex, filter.n_vertices) for vertex in given]
    return number, chosen, None if n_hops is None else check_integer(n_hops, "n_hops", at_least=0)


def _relative(value: Any, norm: float) -> Any:
    """Divide by the norm of a localized filter; one that is zero has no mass anywhere."""
    return value / norm if norm else value * 0.0


def _at_most(value: Any, least_norm: float) -> Any:
    """Divide a bound by the least that the norm may be; where that is zero, all but nothing is infinite."""
    return _product(value, 1 / least_norm if least_norm else np.inf)


def _product(x: Any, y: Any) -> Any:
    """Multiply bounds, of which one may be infinite; nothing stays nothing."""
    with np.errstate(invalid="ignore"):
        return np.where((x == 0) | (y == 0), 0.0, x * y)


def _mass_beyond(y: Array, distance: Array, p: float) -> FloatArray:
    """Return the norm of all of ``y``, and of what is outside 0, 1, … hops, up to the farthest vertex."""
    level = np.where(distance < 0, distance.max() + 1, distance)  # what cannot be reached is beyond everything
    size = np.abs(y.astype(np.float64))
    peaks = np.zeros(int(level.max()) + 2)
    np.maximum.at(peaks, level, size)
    if np.isinf(p):
        norms = np.maximum.accumulate(peaks[::-1])[::-1]
    else:
        # each level is summed on its own scale, and levels are added as logarithms: no power under- or overflows
        scale = np.where(peaks > 0, peaks, 1.0)
        sums = np.bincount(level, weights=(size / scale[level]) ** p, minlength=peaks.size)
        with np.errstate(divide="ignore"):
            logs = np.log(sums) / p + np.log(scale)
        norms = np.exp(np.logaddexp.accumulate(p * logs[::-1])[::-1] / p)
    return norms[: int(distance.max()) + 2]


def _stack(rows: list[FloatArray], n_hops: int | None) -> FloatArray:
    """Return the curves as rows of one length; beyond its end a curve stays as it is."""
    longest = max(row.size for row in rows) if n_hops is None else n_hops + 1
    return np.array([np.append(row, np.full(max(longest - row.size, 0), row[-1]))[:longest] for row in rows])


def _mass_bounds(
    filter: GraphFilter, k: Array, factors: FloatArray, least_norms: list[float], p: float
) -> list[DecayBound]:
    """Return the proved bounds of the mass outside k hops."""
    L, response = filter.laplacian, filter.response
    tails, known = series_tails(L, response, k.size)
    series = DecayBound("series", _product(factors, tails), np.full(k.size, known))
    form = response.cayley_form
    if form is None:
        return [series]
    jacobi = DecayBound("jacobi", _product(factors, _jacobi_tails(L, form, k)), np.full(k.size, True))
    if p != 2:
        return [jacobi, series]
    decay = theorem_4(L, form)
    c = float(np.mean([_at_most(np.float64(decay[0]), norm) for norm in least_norms]))
    printed = c * decay[1] ** k
    proved = np.minimum(np.minimum(jacobi.mass, np.where(series.valid, series.mass, np.inf)), 1.0)
    valid = (k % form.order == 0) | (printed >= proved)
    return [DecayBound("theorem 4", printed, valid, c, decay[1]), jacobi, series]


def theorem_4(L: Laplacian, p: CayleyPolynomial) -> tuple[float, float]:
    r"""Return :math:`4M` and :math:`\gamma = \kappa^{1/r}` of Theorem 4; :math:`c = 4M/\|G\delta_m\|_2`.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> L, p = cg.laplacian(cg.gallery.ring(16)), cg.CayleyPolynomial([0.5, -0.25], zoom=0.5)
    >>> c, gamma = cg.localization.theorem_4(L, p)
    >>> c, round(gamma, 6)
    (1.0, 0.707107)
    """
    M = p.error_weight() / 2 * (1.0 if is_regular(L) else float(np.sqrt(L.n_vertices)))
    return 4 * M, float(kappa(L, p.zoom) ** (1 / p.order))


def _jacobi_tails(L: Laplacian, p: CayleyPolynomial, k: Array) -> FloatArray:
    r"""Bound the 2-norm outside k hops by :math:`2\sum_j |c_j| \min(1, (1 + a_j)^j - 1)`.

    :math:`a_j \ge \|J^{\lfloor k/j \rfloor}\|_2`: the j-th power approximated by :math:`\lfloor k/j \rfloor - 1` sweeps
    does not leave the k hops. Where k < j there is nothing but that C(hΔ) is unitary.
    """
    total = np.zeros(k.size)
    condition, rate = jacobi_condition(L, p.zoom), jacobi_factor(L, p.zoom)
    for j in range(1, p.order + 1):
        steps = k // j
        a = np.where(steps > 0, condition * rate ** steps.astype(np.float64), np.inf)
        with np.errstate(over="ignore"):
            total += 2 * np.abs(p.coeffs[j]) * np.minimum(np.expm1(j * np.log1p(a)), 1.0)
    return total


def decay_curve(
    filter: GraphFilter,
    vertices: int | Sequence[int],
    p: float = 2,
    *,
    n_hops: int | None = None,
    floor: float | None = None,
) -> Decay:
    r"""Measure how a filter decays about a vertex, fit :math:`c\gamma^k`, and compute what is proved.

    Proved are bounds of the 2-norm outside k hops, whichever filter it is: the tail of the Chebyshev series beyond
    degree k, and for Cayley filters :math:`2\sum_j |c_j| \min(1, (1 + a_j)^j - 1)`, where :math:`a_j` bounds
    :math:`\|J^{\lfloor k/j \rfloor}\|_2`: with that many steps the Jacobi scheme of the j-th power does not leave the k
    hops. For p > 2 the p-norm is no larger than the 2-norm, for p < 2 it is at most :math:`N^{1/p - 1/2}` times that,
    N being the number of vertices outside. Masses are divided by the measured :math:`\|G\delta_m\|_p`, proved
    curves by the least that it may be. Where the error of the method may be all of it, there is nothing to measure:
    ``floor`` and curves are infinite then.

    Theorem 4 of the paper, :math:`c = 4M/\|G\delta_m\|_2` and :math:`\gamma = \kappa^{1/r}`, is there for p = 2. Its
    proof uses Proposition 1 as printed, which is not true, and only shows something where k is a multiple of r. There
    its factor 4, twice what is needed, makes up for the flaw: with :math:`a = \|J^{k/r}\|_2`,
    :math:`\min(1, (1 + a)^j - 1) \le 2ja`, so that the safe bound is at most :math:`4\sum_j j|c_j|\,a`, which is at
    most :math:`4M\kappa^{k/r}`.

    Parameters
    ----------
    filter : GraphFilter
        Any filter. The proved curves are those of the exact g(Δ); a method's error is in ``floor``.
    vertices : int or sequence of int
        One vertex m, or several; masses and curves are averaged alike, so that the ones stay below the others.
    p : float
        1 ≤ p ≤ ∞.
    n_hops : int, optional
        The largest k; by default as many hops as reach every vertex that can be reached.
    floor : float, optional
        Masses that are not above it are not fitted, and do not count as measured. By default what the certificate of
        the filtered impulse allows them to be off by.

    Returns
    -------
    Decay
        Masses, fit and curves.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp import localization
    >>> p = cg.CayleyPolynomial([0.5, -0.25], zoom=1.0)
    >>> g = cg.CayleyFilter(cg.gallery.ring(64), p, method="exact")
    >>> curve = localization.decay_curve(g, vertices=0)
    >>> round(curve.fit.gamma, 2), round(curve.bound("theorem 4").gamma, 2)
    (0.48, 0.89)
    >>> bool((curve.mass <= curve.bound("series").mass + curve.floor).all())
    True
    """
    p, chosen, n_hops = _checked(filter, vertices, p, n_hops)
    if floor is not None and not check_real(floor, "floor") >= 0:
        raise ValueError(f"`floor` must not be negative, got {floor!r}")
    L = filter.laplacian
    wider = max(1 / p - 0.5, 0.0)  # what is outside of N vertices has a p-norm of at most N to this times its 2-norm
    masses, norms, least, floors, crowds = [], [], [], [], []
    for vertex in chosen:
        y, info = filter.filter(np.eye(1, L.n_vertices, vertex)[0], return_info=True)
        distance = hops(L, vertex)
        absolute = _mass_beyond(y, distance, p)
        masses.append(_relative(absolute[1:], absolute[0]))
        error = float(np.max(info.error_bound)) * L.n_vertices**wider
        norms.append(float(absolute[0]))
        least.append(max(norms[-1] - error, 0.0))
        floors.append(_at_most(np.float64(2 * error), least[-1]) + _ROUNDING)
        outside = np.cumsum(np.bincount(distance[distance >= 0])[::-1])[::-1]
        crowds.append(np.append(outside[1:], 0.0))
    mass = _stack(masses, n_hops).mean(axis=0)
    level = float(np.mean(floors)) if floor is None else float(floor)
    N = _stack(crowds, n_hops)
    factors = np.where(N > 0, np.maximum(N, 1) ** wider, 0.0)
    factors = np.array([_at_most(row, norm) for row, norm in zip(factors, least, strict=True)]).mean(axis=0)
    k = np.arange(mass.size)
    return Decay(
        hops=k,
        mass=mass,
        p=p,
        norm=float(np.mean(norms)),
        floor=level,
        fit=fit_decay(mass, level),
        bounds=tuple(_mass_bounds(filter, k, factors, least, p)),
    )


def fit_decay(mass: FloatArray, floor: float = 0.0) -> DecayFit:
    r"""Fit :math:`c\gamma^k` to masses at k = 0, 1, … by least squares of their logarithms.

    Parameters
    ----------
    mass : numpy.ndarray, shape (n,)
        Masses outside k hops.
    floor : float
        Masses that are not above are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from cayleygsp.localization import fit_decay
    >>> fit = fit_decay(0.3 * 0.5 ** np.arange(10))
    >>> round(fit.c, 6), round(fit.gamma, 6), fit.n_points
    (0.3, 0.5, 10)
    """
    k = np.flatnonzero(np.asarray(mass) > floor)
    if k.size < 2:
        return DecayFit(np.nan, np.nan, np.nan, int(k.size))
    logs = np.log(np.asarray(mass)[k])
    slope, intercept = np.polyfit(k, logs, 1)
    spread = float(((logs - logs.mean()) ** 2).sum())
    left = float(((logs - slope * k - intercept) ** 2).sum())
    return DecayFit(float(np.exp(intercept)), float(np.exp(slope)), 1 - left / spread if spread else np.nan, k.size)


def chebyshev_of_same_order(filter: GraphFilter, order: int | None = None) -> ChebyshevFilter:
    r"""Return the Chebyshev filter of the same order that interpolates the same response, for comparison.

    It interpolates the response at the r + 1 Chebyshev points of [0, lmax], which is nearly the best that a
    polynomial of degree r can do there, and it reaches exactly r hops.

    Parameters
    ----------
    filter : GraphFilter
        For example a Cayley filter.
    order : int, optional
        r ≥ 1; that of the response if it has one.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp import localization
    >>> p = cg.CayleyPolynomial([0.5, -0.2, 0.1, 0.05j], zoom=2.0)
    >>> g = cg.CayleyFilter(cg.gallery.ring(64), p, method="exact")
    >>> other = localization.chebyshev_of_same_order(g)
    >>> [int((localization.mass_outside(f, 0) > 1e-3).sum()) for f in (other, g)]
    [3, 19]
    """
    if not isinstance(filter, GraphFilter):
        raise TypeError(f"`filter` must be a graph filter, got {type(filter).__name__}")
    if order is None:
        order = getattr(filter.response, "order", None)
        if order is None:
            raise ValueError(f"`order` must be given for the response {filter.response!r}, which has none")
    order = check_integer(order, "order", at_least=1)
    L = filter.laplacian
    values = filter.evaluate(chebyshev_nodes(order + 1, L.lmax))
    return ChebyshevFilter(L, chebyshev_coefficients(values))
