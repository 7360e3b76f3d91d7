"""Which method to use: the user's word, or the cheapest that reaches the tolerance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayleygsp._typing import Method
from cayleygsp.bounds import jacobi_sweeps
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import FilterMethod, Response, filter_gain
from cayleygsp.methods.chebyshev import ChebyshevMethod
from cayleygsp.methods.exact import EIGENBASIS_VERTICES, exact_method, exact_seconds
from cayleygsp.methods.jacobi import JacobiMethod
from cayleygsp.methods.multigrid import MultigridMethod
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.series import MAX_SAMPLES

METHODS: tuple[Method, ...] = ("auto", "exact", "jacobi", "chebyshev", "multigrid")

# Sweeps beyond which a tolerance is not worth reaching by Jacobi.
MAX_SWEEPS = 100_000

# How many times dearer than the cheapest a method may be that is tried for its smaller rounding.
_TOO_DEAR = 20.0


def make_method(
    L: Laplacian,
    responses: Sequence[Response],
    method: Method,
    tol: float | None,
    n_iter: int | None,
    normalize: bool,
) -> tuple[FilterMethod, str]:
    """Prepare the method and say why it is this one."""
    if method == "auto":
        return _cheapest(L, responses, tol)
    return _make(L, responses, method, tol, n_iter, normalize), "asked for"


def _make(
    L: Laplacian,
    responses: Sequence[Response],
    method: Method,
    tol: float | None,
    n_iter: int | None = None,
    normalize: bool = False,
) -> FilterMethod:
    if method == "exact":
        return exact_method(L, responses)
    if method == "chebyshev":
        return ChebyshevMethod(L, responses, tol)
    polynomials = [p for p in responses if isinstance(p, CayleyPolynomial)]
    if len(polynomials) != 1 or len(responses) != 1:
        raise ValueError(
            f"`method` must be 'auto', 'exact' or 'chebyshev' here, got {method!r}, which applies one Cayley polynomial"
        )
    p = polynomials[0]
    if method == "multigrid":
        return MultigridMethod(L, p, tol or 0.0)
    if n_iter is None:
        n_iter = jacobi_sweeps(L, p, (tol or 0.0) * filter_gain(L, p))
        if n_iter > MAX_SWEEPS:
            raise ValueError(
                f"`tol` = {tol} would take Jacobi about {n_iter:.3g} sweeps a power; give `n_iter`, or use "
                "method='chebyshev'"
            )
    return JacobiMethod(L, p, n_iter, normalize)


def _cheapest(L: Laplacian, responses: Sequence[Response], tol: float | None) -> tuple[FilterMethod, str]:
    """Try the methods in the order of their predicted cost until one is expected to reach the tolerance."""
    costs: dict[Method, float] = {
        "chebyshev": _chebyshev_seconds(L, responses, tol),
        "multigrid": _multigrid_seconds(L, responses, tol),
    }
    costs["exact"] = _exact_seconds(L, responses, worth=min(costs.values()))
    order = sorted((name for name in costs if np.isfinite(costs[name])), key=lambda name: costs[name])
    if not order:
        raise ValueError(
            "no method is sure to apply this filter: the response is not smooth enough for a Chebyshev series, and "
            "the graph is too large for an eigenbasis; soften the response, or ask for method='chebyshev' to get "
            "the best series with its error"
        )
    said = ", ".join(f"{name} {costs[name]:.2g} s" for name in order)
    fallback = None
    for name in order:
        if costs[name] > _TOO_DEAR * costs[order[0]]:
            break
        prepared = _make(L, responses, name, tol)
        if prepared.reaches_tolerance(tol):
            return prepared, f"cheapest that reaches tol, predicted: {said}"
        fallback = fallback or prepared
    assert fallback is not None
    return fallback, f"no method is expected to reach tol; cheapest taken, predicted: {said}"


def _product_seconds(L: Laplacian) -> float:
    """Return a rough time for one product with one signal."""
    return 1.2e-5 + 1.2e-9 * L.matrix.nnz + 6e-9 * L.n_vertices


def _chebyshev_seconds(L: Laplacian, responses: Sequence[Response], tol: float | None) -> float:
    degrees = [response.degree_bound(L.lmax, (tol or 0.0) * filter_gain(L, response)) for response in responses]
    return max(degrees) * _product_seconds(L) if max(degrees) <= MAX_SAMPLES else np.inf


def _multigrid_seconds(L: Laplacian, responses: Sequence[Response], tol: float | None) -> float:
    if len(responses) != 1 or not isinstance(responses[0], CayleyPolynomial):
        return np.inf
    n_iterations = 4 - 2.5 * np.log10(min(max(tol or 0.0, 1e-14), 1.0))
    cycle = 16 * _product_seconds(L) + 4e-4
    return (100 + responses[0].order * n_iterations) * cycle


def _exact_seconds(L: Laplacian, responses: Sequence[Response], worth: float) -> float:
    factorised = len(responses) == 1 and isinstance(responses[0], CayleyPolynomial)
    if not factorised and not L.has_eigenbasis and L.n_vertices > EIGENBASIS_VERTICES:
        return np.inf
    return exact_seconds(L, with_factorisation=factorised, worth=_TOO_DEAR * worth)
