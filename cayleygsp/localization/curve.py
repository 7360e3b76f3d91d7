"""The decay of a filter about a vertex: measured, fitted and proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cayleygsp._typing import FloatArray
from cayleygsp._validation import check_integer, check_real
from cayleygsp.filters import ChebyshevFilter, GraphFilter
from cayleygsp.localization.bounds import mass_bounds
from cayleygsp.localization.distances import hops
from cayleygsp.localization.mass import ROUNDING, check_filter, check_p, check_vertices, localize, mass_beyond, stack
from cayleygsp.localization.result import Decay, DecayFit, relative
from cayleygsp.responses.series import chebyshev_coefficients, chebyshev_nodes


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
    N being the number of vertices outside. All curves are divided by the measured :math:`\|G\delta_m\|_p`.

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
    check_filter(filter)
    p = check_p(p)
    chosen = check_vertices(vertices, filter.n_vertices)
    n_hops = None if n_hops is None else check_integer(n_hops, "n_hops", at_least=0)
    given = None if floor is None else _check_floor(floor)
    L = filter.laplacian
    masses, norms, floors, crowds = [], [], [], []
    for vertex in chosen:
        y, error = localize(filter, vertex)
        distance = hops(L, vertex)
        absolute = mass_beyond(y, distance, p)
        masses.append(absolute[1:] / absolute[0] if absolute[0] else absolute[1:])
        norms.append(float(absolute[0]))
        floors.append(relative(2 * error * L.n_vertices ** max(1 / p - 0.5, 0.0), absolute[0]) + ROUNDING)
        outside = np.cumsum(np.bincount(distance[distance >= 0])[::-1])[::-1]
        crowds.append(np.append(outside[1:], 0.0))
    mass = stack(masses, n_hops).mean(axis=0)
    factors = _norm_factors(stack(crowds, n_hops), np.array(norms), p)
    level = float(np.mean(floors)) if given is None else given
    k = np.arange(mass.size)
    return Decay(
        hops=k,
        mass=mass,
        p=p,
        norm=float(np.mean(norms)),
        floor=level,
        fit=fit_decay(mass, level),
        bounds=tuple(mass_bounds(filter, k, factors, np.array(norms), p)),
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
    check_filter(filter)
    if order is None:
        order = getattr(filter.response, "order", None)
        if order is None:
            raise ValueError(f"`order` must be given for the response {filter.response!r}, which has none")
    order = check_integer(order, "order", at_least=1)
    L = filter.laplacian
    values = filter.evaluate(chebyshev_nodes(order + 1, L.lmax))
    return ChebyshevFilter(L, chebyshev_coefficients(values))


def _norm_factors(crowds: FloatArray, norms: FloatArray, p: float) -> FloatArray:
    """Return the factors, averaged over vertices, that turn bounds of the 2-norm into bounds of relative masses."""
    wider = np.where(crowds > 0, np.maximum(crowds, 1) ** max(1 / p - 0.5, 0.0), 0.0)
    return np.array([relative(row, norm) for row, norm in zip(wider, norms, strict=True)]).mean(axis=0)


def _check_floor(floor: Any) -> float:
    number = check_real(floor, "floor")
    if not number >= 0:
        raise ValueError(f"`floor` must not be negative, got {floor!r}")
    return number
