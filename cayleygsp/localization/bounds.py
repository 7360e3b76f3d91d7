"""Proved bounds of the mass outside k hops."""

from __future__ import annotations

import numpy as np

from cayleygsp import bounds
from cayleygsp._typing import Array, FloatArray
from cayleygsp.filters import GraphFilter
from cayleygsp.laplacians import Laplacian
from cayleygsp.localization.result import DecayBound, relative
from cayleygsp.responses.cayley import CayleyPolynomial


def mass_bounds(filter: GraphFilter, k: Array, factors: FloatArray, norms: FloatArray, p: float) -> list[DecayBound]:
    """Return the proved bounds of the mass outside k hops."""
    L, response = filter.laplacian, filter.response
    tails, proved = bounds.series_tails(L, response, k.size)
    series = DecayBound("series", factors * tails, np.full(k.size, proved))
    form = response.cayley_form
    if form is None:
        return [series]
    jacobi = DecayBound("jacobi", factors * jacobi_tails(L, form, k), np.full(k.size, True))
    if p != 2:
        return [jacobi, series]
    decay = theorem_4(L, form)
    c = float(np.mean([relative(decay[0], norm) for norm in norms]))
    printed = c * decay[1] ** k
    least = np.minimum(np.minimum(jacobi.mass, np.where(series.valid, series.mass, np.inf)), 1.0)
    valid = (k % form.order == 0) | (printed >= least)
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
    M = p.error_weight() / 2 * (1.0 if bounds.is_regular(L) else float(np.sqrt(L.n_vertices)))
    return 4 * M, float(bounds.kappa(L, p.zoom) ** (1 / p.order))


def jacobi_tails(L: Laplacian, p: CayleyPolynomial, k: Array) -> FloatArray:
    r"""Bound the 2-norm outside k hops by :math:`2\sum_j |c_j| \min(1, (1 + a_j)^j - 1)`.

    :math:`a_j \ge \|J^{\lfloor k/j \rfloor}\|_2`: the j-th power approximated by :math:`\lfloor k/j \rfloor - 1` sweeps
    does not leave the k hops. Where k < j there is nothing but that C(hΔ) is unitary.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> L, p = cg.laplacian(cg.gallery.ring(16)), cg.CayleyPolynomial([0.5, -0.25], zoom=0.5)
    >>> cg.localization.jacobi_tails(L, p, np.array([0, 2, 4])).round(4)  # 2 |c_1| min(1, κ^k)
    array([0.5  , 0.25 , 0.125])
    """
    total = np.zeros(k.size)
    condition, rate = bounds.jacobi_condition(L, p.zoom), bounds.jacobi_factor(L, p.zoom)
    for j in range(1, p.order + 1):
        steps = k // j
        a = np.where(steps > 0, condition * rate ** steps.astype(np.float64), np.inf)
        with np.errstate(over="ignore"):
            total += 2 * np.abs(p.coeffs[j]) * np.minimum(np.expm1(j * np.log1p(a)), 1.0)
    return total
