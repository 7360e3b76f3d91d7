"""Which method to use: the user's word, or the cheapest that reaches the tolerance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayleygsp._memory import available_memory
from cayleygsp._typing import FloatArray, Method
from cayleygsp.bounds import jacobi_sweeps
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES, eigenbasis_bytes, eigenbasis_seconds
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import FilterMethod, filter_gains
from cayleygsp.methods.chebyshev import ChebyshevMethod
from cayleygsp.methods.eigenbasis import EigenbasisMethod
from cayleygsp.methods.factorisation import FactorisationMethod
from cayleygsp.methods.fill import factorisation_cost
from cayleygsp.methods.jacobi import JacobiMethod
from cayleygsp.methods.multigrid import MultigridMethod
from cayleygsp.methods.poles import PoleFactorisation, PoleMultigrid, pole_groups, solvable_by_multigrid
from cayleygsp.responses.base import Response
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.rational import Rational
from cayleygsp.responses.series import MAX_SAMPLES

METHODS: tuple[Method, ...] = ("auto", "exact", "jacobi", "chebyshev", "multigrid")

# Sweeps beyond which a tolerance is not worth reaching by Jacobi.
MAX_SWEEPS = 100_000

# How many times dearer than the cheapest a method may be that is tried for its smaller rounding.
_TOO_DEAR = 20.0

# Seconds that the eigenvalues are worth where nothing but samples is known of a response.
WORTH_KNOWING = 0.25


def make_method(
    L: Laplacian,
    responses: Sequence[Response],
    method: Method,
    tol: float | None,
    n_iter: int | None = None,
    normalize: bool = False,
) -> tuple[FilterMethod, str]:
    """Prepare the method and say why it is this one, and what its bounds rest on where they are not proved."""
    if method == "auto":
        prepared, reason = _by_eigenvalues(L, responses, tol) or _cheapest(L, responses, tol)
    elif method == "exact":
        prepared, reason = exact_method(L, responses), "asked for"
    else:
        gains = filter_gains(L, responses)
        prepared, reason = _make(L, responses, gains, method, tol, n_iter, normalize), "asked for"
    return prepared, f"{reason}; {prepared.evidence}" if prepared.evidence else reason


def _make(
    L: Laplacian,
    responses: Sequence[Response],
    gains: FloatArray,
    method: Method,
    tol: float | None,
    n_iter: int | None = None,
    normalize: bool = False,
) -> FilterMethod:
    if method == "exact":
        return exact_method(L, responses, gains)
    if method == "chebyshev":
        return ChebyshevMethod(L, responses, tol, gains)
    gain = float(gains[0])
    rational = _single_rational(responses)
    if method == "multigrid" and rational is not None:
        return _pole_multigrid(L, rational, tol, gain)
    p = _single_form(responses)
    if p is None:
        raise ValueError(
            f"`method` must be 'auto', 'exact' or 'chebyshev' here, got {method!r}, which applies one Cayley polynomial"
            + (" or one rational response" if method == "multigrid" else "")
        )
    if method == "multigrid":
        return MultigridMethod(L, p, tol or 0.0, gain)
    if n_iter is None:
        n_iter = _sweeps(L, p, tol, gain)
    return JacobiMethod(L, p, n_iter, normalize, gain)


def _single_form(responses: Sequence[Response]) -> CayleyPolynomial | None:
    """Return the Cayley polynomial if there is one response, and it is one."""
    return responses[0].cayley_form if len(responses) == 1 else None


def _single_rational(responses: Sequence[Response]) -> Rational | None:
    """Return the rational response if there is one response, and it is one."""
    return responses[0].rational_form if len(responses) == 1 else None


def _pole_multigrid(L: Laplacian, response: Rational, tol: float | None, gain: float) -> FilterMethod:
    if not solvable_by_multigrid(response):
        raise ValueError(
            "`method` = 'multigrid' needs poles with a real part ≤ 0: others make indefinite systems, which multigrid "
            "does not solve; use method='exact' or 'chebyshev'"
        )
    return PoleMultigrid(L, response, tol or 0.0, gain)


def _sweeps(L: Laplacian, p: CayleyPolynomial, tol: float | None, gain: float) -> int:
    """Return the sweeps that a tolerance asks of Jacobi, if they are worth it."""
    n_iter = jacobi_sweeps(L, p, (tol or 0.0) * gain)
    if n_iter is None or n_iter > MAX_SWEEPS:
        needs = "more sweeps per power than can be told" if n_iter is None else f"about {n_iter:.3g} sweeps per power"
        raise ValueError(f"`tol` = {tol} would take Jacobi {needs}; give `n_iter`, or use method='chebyshev'")
    return n_iter


def _by_eigenvalues(L: Laplacian, responses: Sequence[Response], tol: float | None) -> tuple[FilterMethod, str] | None:
    """Return the eigenbasis for responses of which nothing but samples is known, where it is cheap and good enough.

    At the eigenvalues a feature is not overlooked that is narrower than samples lie apart.
    """
    unknown = any(response.certificate == "sampled" for response in responses)
    if not unknown or exact_seconds(L, with_factorisation=False) > WORTH_KNOWING:
        return None
    prepared = EigenbasisMethod(L, responses)
    reason = "exact: the eigenvalues tell more of this response than a series through samples of it, and they are cheap"
    return (prepared, reason) if prepared.reaches_tolerance(tol) else None


def _cheapest(L: Laplacian, responses: Sequence[Response], tol: float | None) -> tuple[FilterMethod, str]:
    """Try the methods in the order of their predicted cost until one is expected to reach the tolerance."""
    gains = filter_gains(L, responses)
    costs: dict[Method, float] = {
        "chebyshev": _chebyshev_seconds(L, responses, gains, tol),
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
    predicted = ", ".join(f"{name} {costs[name]:.2g} s" for name in order)
    fallback = None
    for name in order:
        if costs[name] > _TOO_DEAR * costs[order[0]]:
            break
        prepared = _make(L, responses, gains, name, tol)
        if prepared.reaches_tolerance(tol):
            return prepared, f"cheapest that reaches tol, predicted: {predicted}"
        fallback = fallback or prepared
    assert fallback is not None
    return fallback, f"no method is expected to reach tol; cheapest taken, predicted: {predicted}"


def _product_seconds(L: Laplacian) -> float:
    """Return a rough time for one product with one signal."""
    return 1.2e-5 + 1.2e-9 * L.matrix.nnz + 6e-9 * L.n_vertices


def _chebyshev_seconds(L: Laplacian, responses: Sequence[Response], gains: FloatArray, tol: float | None) -> float:
    allowed = (tol or 0.0) * gains
    degrees = [g.degree_bound(L.lmax, float(a), lmin=L.lmin) for g, a in zip(responses, allowed, strict=True)]
    return max(degrees) * _product_seconds(L) if max(degrees) <= MAX_SAMPLES else np.inf


def _multigrid_seconds(L: Laplacian, responses: Sequence[Response], tol: float | None) -> float:
    p, rational = _single_form(responses), _single_rational(responses)
    n_iterations = 4 - 2.5 * np.log10(min(max(tol or 0.0, 1e-14), 1.0))
    if rational is not None and solvable_by_multigrid(rational):
        solves = sum(len(residues) * (1 if pole.imag == 0 else 2) for pole, residues in pole_groups(rational))
        return (60 + solves * n_iterations) * (16 * _product_seconds(L) + 4e-4)
    if p is None:
        return np.inf
    cycle = 16 * _product_seconds(L) + 4e-4
    return (100 + p.order * n_iterations) * cycle


def _exact_seconds(L: Laplacian, responses: Sequence[Response], worth: float) -> float:
    factorised = _single_form(responses) is not None or _single_rational(responses) is not None
    if not factorised and not L.has_eigenbasis and L.n_vertices > EIGENBASIS_VERTICES:
        return np.inf
    return exact_seconds(L, with_factorisation=factorised, worth=_TOO_DEAR * worth)


def exact_method(L: Laplacian, responses: Sequence[Response], gains: FloatArray | None = None) -> FilterMethod:
    """Choose the eigenbasis for small graphs and for responses without a factorised form."""
    factorised = all(g.cayley_form is not None or g.rational_form is not None for g in responses)
    if L.has_eigenbasis or L.n_vertices <= EIGENBASIS_VERTICES or not factorised:
        return EigenbasisMethod(L, responses, gains)
    p, rational = _single_form(responses), _single_rational(responses)
    if p is not None:
        return FactorisationMethod(L, p, None if gains is None else float(gains[0]))
    if rational is not None:
        return PoleFactorisation(L, rational, 0.0, None if gains is None else float(gains[0]))
    raise ValueError(
        f"method='exact' for a bank needs the eigenbasis, which is not computed beyond {EIGENBASIS_VERTICES} "
        "vertices unless asked for; use method='chebyshev', or touch `laplacian.eigenvalues` first"
    )


def exact_seconds(L: Laplacian, *, with_factorisation: bool, worth: float = np.inf) -> float:
    """Predict the time of preparing and applying the exact filter once; infinite if it would not fit.

    A factorisation is not looked into if even the sparsest would take more than the time that it is ``worth``.
    """
    n = L.n_vertices
    if L.has_eigenbasis:
        return 1e-5 + 1e-9 * n**2
    if n <= EIGENBASIS_VERTICES or not with_factorisation:
        fits = eigenbasis_bytes(n) < available_memory()
        return eigenbasis_seconds(n) + 1e-9 * n**2 if fits else np.inf
    if 8e-7 * n * np.log2(n) > worth:
        return np.inf
    cost = factorisation_cost(L)
    return cost.seconds if cost.n_bytes < available_memory() else np.inf
