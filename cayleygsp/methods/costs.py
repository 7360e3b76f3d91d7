"""What each method is predicted to take, in seconds, for a number of signals.

The constants were measured on one core; what matters is how they compare. Where that is close, :mod:`choice
<cayleygsp.methods.choice>` measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayleygsp._memory import available_memory, fits
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES, eigenbasis_bytes, eigenbasis_seconds
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.fill import FactorisationCost, cost_of_entries, factorisation_cost
from cayleygsp.methods.poles import pole_systems
from cayleygsp.methods.powers import power_systems
from cayleygsp.methods.solvers import System, expected_iterations
from cayleygsp.responses.base import Response
from cayleygsp.responses.series import MAX_SAMPLES

# Share of the degree bound that a series has in the end.
_DEGREE_SHARE = 0.6

# An eigenbasis that is not known yet must be cheaper by this factor: LAPACK's threads wait for each other where the
# machine is busy.
_BUSY = 3.0

# Bytes that are always there; asking the system takes longer than filtering a small graph.
_LITTLE_MEMORY = 2**24

# Seconds of expanding a series, per degree.
_EXPANSION = 3e-5


@dataclass(frozen=True)
class Cost:
    """Seconds to prepare, paid once, and to filter a block of signals: of each call, and of each signal of it."""

    setup: float
    per_call: float
    per_signal: float

    def seconds(self, n_signals: int, *, prepared: bool = False) -> float:
        """Return the time of one call, with the preparation unless that has been done."""
        return (0.0 if prepared else self.setup) + self.per_call + n_signals * self.per_signal


IMPOSSIBLE = Cost(np.inf, np.inf, np.inf)


def expected_degree(L: Laplacian, response: Response, gain: float, tol: float | None) -> float:
    """Return the degree that a series is expected to have; infinite if it is too long, or there is none."""
    bound = response.degree_bound(L.lmax, (tol or 0.0) * gain, lmin=L.lmin)
    if bound > MAX_SAMPLES:
        return np.inf
    return bound if response.from_samples else _DEGREE_SHARE * bound


def chebyshev_cost(L: Laplacian, degrees: Sequence[float]) -> Cost:
    """Predict one recurrence for series of the given degrees."""
    degree, n, nnz = max(degrees), L.n_vertices, L.matrix.nnz
    if not np.isfinite(degree):
        return IMPOSSIBLE
    return Cost(
        setup=1.2e-3 + _EXPANSION * sum(degrees),
        per_call=3e-5 + degree * (3e-6 + 3e-10 * nnz),
        per_signal=degree * (1e-9 * n + 1.5e-10 * nnz + 3e-10 * n * len(degrees)),
    )


def multigrid_cost(L: Laplacian, response: Response, tol: float | None) -> Cost:
    """Predict solves behind multigrid cycles; the hierarchy of a graph with hubs is dense."""
    systems = systems_of(response)
    if not systems or not tol or any(one.z.real < 0 for one in systems):
        return IMPOSSIBLE
    n, nnz = L.n_vertices, L.matrix.nnz
    largest = max((one.h * L.lmax / abs(one.z) for one in systems if one.z), default=1e300)
    iterations = sum(one.n_solves * one.weight for one in systems) * expected_iterations(largest, tol)
    # coarser levels are made of walks of two steps
    walks = float(np.sum(np.diff(L.matrix.indptr).astype(np.float64) ** 2))
    return Cost(
        setup=len(systems) * (4e-3 + 1e-6 * n + 4e-7 * nnz + 1e-7 * walks),
        per_call=1e-3 + iterations * (3e-4 + 1e-8 * nnz),
        per_signal=iterations * (1.6e-7 * n + 1e-8 * nnz),
    )


def systems_of(response: Response) -> list[System]:
    """Return what a response is solved with; nothing if it is no Cayley polynomial and not rational."""
    if response.cayley_form is not None:
        return power_systems(response.cayley_form)
    return [] if response.rational_form is None else pole_systems(response.rational_form)


def factors_cost(L: Laplacian, response: Response, n_signals: int = 1, worth: float = np.inf) -> Cost:
    """Predict factorisations and solves; entries are not counted if the sparsest factors would not be ``worth`` it."""
    systems = systems_of(response)
    if not systems:
        return IMPOSSIBLE
    n_factors, solves = sum(one.weight for one in systems), sum(one.weight * one.n_solves for one in systems)
    check = 2.5e-8 * L.n_vertices + 4e-9 * L.matrix.nnz  # of the residual

    def cost_with(factors: FactorisationCost) -> Cost:
        return Cost(n_factors * factors.seconds, 1e-4 + solves * 1.5e-4, solves * (factors.solve_seconds + check))

    # counting the entries takes time, too: it must be able to save half of what the others take
    sparsest = cost_of_entries(L.n_vertices, L.n_vertices, 0.0)
    if 2 * cost_with(sparsest).seconds(n_signals) > worth:
        return IMPOSSIBLE
    factors = factorisation_cost(L, worth)
    return cost_with(factors) if fits(factors.n_bytes, available_memory()) else IMPOSSIBLE


def eigenbasis_cost(L: Laplacian, n_filters: int = 1) -> Cost:
    """Predict the eigenbasis of a small graph, or of one whose eigenbasis is known."""
    n = L.n_vertices
    applied = (2e-5 + 4e-10 * n**2, 3e-10 * n**2 * (1 + n_filters))
    if L.has_eigenbasis:
        return Cost(1e-4, *applied)
    needed = eigenbasis_bytes(n)
    if n > EIGENBASIS_VERTICES or (needed > _LITTLE_MEMORY and not fits(needed, available_memory())):
        return IMPOSSIBLE
    return Cost(_BUSY * eigenbasis_seconds(n), *applied)
