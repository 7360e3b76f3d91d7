"""Sweeps and zooms that a tolerance asks of the Jacobi scheme."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayleygsp._typing import ArrayLike, GraphLike
from cayleygsp._validation import check_choice, check_integer
from cayleygsp.bounds.contraction import jacobi_error
from cayleygsp.bounds.jacobi import jacobi_decay
from cayleygsp.bounds.result import BOUND_KINDS, BoundKind, check_atol
from cayleygsp.laplacians import laplacian
from cayleygsp.responses.base import Response
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley

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
