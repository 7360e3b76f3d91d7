"""How the methods are made by their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from numpy.linalg import LinAlgError

from cayleygsp._typing import FloatArray, Method
from cayleygsp.bounds import jacobi_sweeps
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import FilterMethod, filter_gains
from cayleygsp.methods.eigenbasis import EigenbasisMethod
from cayleygsp.methods.factorisation import FactorisationMethod
from cayleygsp.methods.groups import GroupedMethod
from cayleygsp.methods.jacobi import JacobiMethod
from cayleygsp.methods.multigrid import MultigridMethod
from cayleygsp.methods.poles import PoleFactorisation, PoleMultigrid, solvable_by_multigrid
from cayleygsp.methods.series import ChebyshevMethod
from cayleygsp.responses.base import Response
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.rational import Rational

# Sweeps beyond which a tolerance is not worth reaching by Jacobi.
MAX_SWEEPS = 100_000


class SingularSystemError(ValueError):
    """A method cannot be prepared, as its linear systems are singular in the rounding of double precision."""


@contextmanager
def _regular_systems(response: Response) -> Iterator[None]:
    """Say of singular systems which response they belong to."""
    try:
        yield
    except LinAlgError:
        raise SingularSystemError(
            "`response` must have a smaller strength or zoom, or poles farther from the spectrum: its linear systems "
            f"are singular in the rounding of double precision, got {response!r}; method='auto' may know another way"
        ) from None


def prepare(
    L: Laplacian,
    responses: Sequence[Response],
    *,
    method: Method,
    tol: float | None,
    n_iter: int | None = None,
    normalize: bool = False,
) -> FilterMethod:
    """Prepare the method that a user asked for, for one filter or for all filters of a bank."""
    if method == "exact":
        return exact_method(L, responses)
    gains = filter_gains(L, responses)
    if method == "chebyshev":
        return ChebyshevMethod(L, responses, tol, gains)
    methods = []
    for response, gain in zip(responses, gains.tolist(), strict=True):
        if method == "multigrid":
            methods.append(multigrid_method(L, response, tol, gain))
        else:
            methods.append(_jacobi_method(L, response, tol, gain, n_iter, normalize))
    return _together(methods)


def _together(methods: list[FilterMethod]) -> FilterMethod:
    return methods[0] if len(methods) == 1 else GroupedMethod([([i], one) for i, one in enumerate(methods)])


def exact_method(L: Laplacian, responses: Sequence[Response]) -> FilterMethod:
    """Choose the eigenbasis for small graphs and for responses without a factorised form."""
    factorised = all(g.cayley_form is not None or g.rational_form is not None for g in responses)
    if L.has_eigenbasis or L.n_vertices <= EIGENBASIS_VERTICES or not factorised:
        return EigenbasisMethod(L, responses)
    return _together([factorisation_method(L, g) for g in responses])


def factorisation_method(L: Laplacian, response: Response, gain: float | None = None) -> FilterMethod:
    """Prepare the factorisation of a Cayley polynomial or of a rational response."""
    with _regular_systems(response):
        if response.cayley_form is not None:
            return FactorisationMethod(L, response.cayley_form, gain)
        return PoleFactorisation(L, response.rational_form, 0.0, gain)


def multigrid_method(L: Laplacian, response: Response, tol: float | None, gain: float | None = None) -> FilterMethod:
    """Prepare solves by multigrid, for a Cayley polynomial or a rational response."""
    rational: Rational | None = response.rational_form
    if rational is not None:
        if not solvable_by_multigrid(rational):
            raise ValueError(
                "`method` = 'multigrid' needs poles with a real part ≤ 0: others make indefinite systems, which "
                "multigrid does not solve; use method='exact' or 'chebyshev'"
            )
        with _regular_systems(response):
            return PoleMultigrid(L, rational, tol or 0.0, gain)
    polynomial = _cayley_form(response, "multigrid", " or a rational response")
    with _regular_systems(response):
        return MultigridMethod(L, polynomial, tol or 0.0, gain)


def _jacobi_method(
    L: Laplacian, response: Response, tol: float | None, gain: float, n_iter: int | None, normalize: bool
) -> FilterMethod:
    p = _cayley_form(response, "jacobi")
    return JacobiMethod(L, p, _sweeps(L, p, tol, gain) if n_iter is None else n_iter, normalize, gain)


def _cayley_form(response: Response, method: str, more: str = "") -> CayleyPolynomial:
    form: CayleyPolynomial | None = response.cayley_form
    if form is None:
        raise ValueError(
            f"`method` must be 'auto', 'exact' or 'chebyshev' here, got {method!r}, which applies a Cayley polynomial"
            + more
        )
    return form


def _sweeps(L: Laplacian, p: CayleyPolynomial, tol: float | None, gain: float) -> int:
    """Return the sweeps that a tolerance asks of Jacobi, if they are worth it."""
    n_iter = jacobi_sweeps(L, p, (tol or 0.0) * gain)
    if n_iter is None or n_iter > MAX_SWEEPS:
        needs = "more sweeps per power than can be told" if n_iter is None else f"about {n_iter:.3g} sweeps per power"
        raise ValueError(f"`tol` = {tol} would take Jacobi {needs}; give `n_iter`, or use method='chebyshev'")
    return n_iter


def prepare_kind(
    L: Laplacian, kind: str, responses: Sequence[Response], gains: FloatArray, *, tol: float | None
) -> FilterMethod:
    """Prepare one of the ways between which there is a choice: by series, eigenbasis, factorisation or multigrid."""
    if kind == "chebyshev":
        return ChebyshevMethod(L, responses, tol, gains)
    if kind == "eigenbasis":
        return EigenbasisMethod(L, responses, gains)
    (response,), gain = responses, float(gains[0])
    if kind == "factorisation":
        return factorisation_method(L, response, gain)
    return multigrid_method(L, response, tol, gain)
