"""The mass of a localized filter outside k hops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cayleygsp._typing import Array, FloatArray
from cayleygsp._validation import check_integer, check_real, check_vertex
from cayleygsp.filters import GraphFilter
from cayleygsp.localization.distances import hops

# A mass is a ratio of sums of squares: below this rounding may have made it.
ROUNDING = 1e-15


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
    check_filter(filter)
    p = check_p(p)
    chosen = check_vertices(vertices, filter.n_vertices)
    n_hops = None if n_hops is None else check_integer(n_hops, "n_hops", at_least=0)
    rows = []
    for vertex in chosen:
        masses = mass_beyond(filter.localize(vertex), hops(filter.laplacian, vertex), p)
        rows.append(masses / masses[0] if masses[0] else masses)
    table = stack([row[1:] for row in rows], n_hops)
    return table if np.ndim(vertices) else table[0]


def mass_beyond(y: Array, distance: Array, p: float) -> FloatArray:
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


def stack(rows: list[FloatArray], n_hops: int | None) -> FloatArray:
    """Return the curves as rows of one length; beyond its end a curve stays as it is."""
    longest = max(row.size for row in rows) if n_hops is None else n_hops + 1
    return np.array([np.append(row, np.full(max(longest - row.size, 0), row[-1]))[:longest] for row in rows])


def localize(filter: GraphFilter, vertex: int) -> tuple[Array, float]:
    """Return the filter seen from a vertex, and a bound of its error in the 2-norm."""
    delta = np.zeros(filter.n_vertices)
    delta[vertex] = 1.0
    y, info = filter.filter(delta, return_info=True)
    return y, float(np.max(info.error_bound))


def check_filter(filter: Any) -> None:
    """Reject anything but a graph filter."""
    if not isinstance(filter, GraphFilter):
        raise TypeError(f"`filter` must be a graph filter, got {type(filter).__name__}")


def check_p(p: Any) -> float:
    """Return ``p`` as a float if it is at least 1."""
    number = check_real(p, "p")
    if not number >= 1:
        raise ValueError(f"`p` must be at least 1, got {p!r}")
    return number


def check_vertices(vertices: Any, n_vertices: int) -> list[int]:
    """Return vertices as a list, each checked."""
    given = list(vertices) if np.ndim(vertices) else [vertices]
    if not given:
        raise ValueError("`vertices` must hold at least one vertex, got none")
    return [check_vertex(vertex, n_vertices) for vertex in given]
