"""Solves with hΔ + zI: by factors or by conjugate gradients, and what the methods that rest on them have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.linalg import LinAlgError
from scipy import sparse
from scipy.sparse.linalg import splu

from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.blas import one_blas_thread
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import Applied, FilterMethod, column_norms, over, seconds_of
from cayleygsp.methods.cycle import BlockCycle
from cayleygsp.methods.fill import check_factorisation, elimination
from cayleygsp.responses.base import Response

MAX_ITERATIONS = 500

#: Columns that are solved for at once: enough to share the passes over the hierarchy, few enough for the caches.
BLOCK = 16

# What an iteration takes in units of a cycle and a product, the sums of vectors included.
_ITERATION_COST = 1.5

# Iterations without improvement after which rounding has the word.
_PATIENCE = 30


def block_cg(
    A: Callable[[Array], Array],
    M: Callable[[Array], Array],
    b: Array,
    atol: FloatArray,
    max_iterations: int = MAX_ITERATIONS,
) -> tuple[Array, FloatArray]:
    r"""Solve A x = b for a symmetric A, real or complex, for every column of b.

    For a real positive definite A these are conjugate gradients, for a complex symmetric one COCG (van der Vorst and
    Melissen, 1990): the same recurrence with the bilinear form :math:`x^\top y` in place of the inner product.

    A and a real symmetric preconditioner M are applied to blocks. The iterates with the smallest residuals are
    returned, and the residual norms, the start's first, until they reach ``atol``, one for each column.
    """
    x, r = np.zeros_like(b), b.copy()
    norms = np.linalg.norm(r, axis=0)
    history, best, best_x = [norms], norms.copy(), x.copy()
    target = np.maximum(atol, 1e-17 * norms)  # below that, the recurred residual says nothing of the true one
    z = M(r)
    p = z.copy()
    rho = _dots(r, z)
    stalled = 0
    while (best > target).any() and len(history) <= max_iterations and stalled < _PATIENCE:
        q = A(p)
        alpha = _ratio(rho, _dots(p, q))
        x += alpha * p
        r -= alpha * q
        norms = np.linalg.norm(r, axis=0)
        history.append(norms)
        better = norms < best
        best_x[:, better], best[better] = x[:, better], norms[better]
        stalled = 0 if better.any() else stalled + 1
        z = M(r)
        rho, rho_old = _dots(r, z), rho
        p = z + _ratio(rho, rho_old) * p
    return best_x, np.array(history)


def expected_iterations(largest: float, tol: float) -> float:
    """Return about how many iterations a solve behind a multigrid cycle takes, for an error of ``tol`` of the filter.

    The condition is the ``largest`` eigenvalue of the matrix over its shift.
    """
    digits = -np.log10(min(max(tol, 1e-14), 0.1))
    return float(2 + digits * (0.7 + 1.4 * min(np.log10(1 + largest), 2.0)))


def _dots(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->j", a, b)


def _ratio(a: Array, b: Array) -> Array:
    """Divide, and give 0 where a column has broken down or is solved."""
    return np.divide(a, b, out=np.zeros_like(a), where=(b != 0) & np.isfinite(b))


def side_by_side(histories: Sequence[FloatArray]) -> FloatArray:
    """Put histories of different lengths side by side; the shorter ones end with NaN."""
    longest = max(len(history) for history in histories)
    padded = [np.pad(h, ((0, longest - len(h)), (0, 0)), constant_values=np.nan) for h in histories]
    return np.concatenate(padded, axis=1)


class System(NamedTuple):
    """A matrix hΔ + zI, and how often a response is solved with it."""

    h: float
    z: complex
    n_solves: int

    @property
    def weight(self) -> float:
        """Its share of the work with a complex matrix: real numbers take half the time."""
        return 1.0 if isinstance(self.z, complex) else 0.5


class Solver(Protocol):
    """Solves with hΔ + zI, prepared when it is made."""

    name: str

    def __init__(self, L: Laplacian, h: float, z: complex) -> None: ...

    def solve(self, y: Array, atol: FloatArray) -> tuple[Array, FloatArray]:
        """Return solutions for all columns, where it iterates to the given residual norms, and their histories."""

    def step_seconds(self, n_columns: int) -> float | None:
        """Time an iteration, if there are any."""


class Factors:
    r"""Solves with :math:`h\Delta + zI`, by factors that are made once.

    No pivots are looked for: none are needed if the matrix is definite or has a definite imaginary part. Raises
    MemoryError if they would not fit, before any work, and :class:`numpy.linalg.LinAlgError` if z is lost in rounding,
    and the matrix singular.
    """

    name = "exact"

    def __init__(self, L: Laplacian, h: float, z: complex) -> None:
        check_factorisation(L)
        known = elimination(L)
        assert known is not None  # or the check would have said so
        self._order = known.order
        A = L.matrix[self._order][:, self._order]
        matrix = (h * A + z * sparse.eye_array(L.n_vertices)).tocsc()
        try:
            with one_blas_thread():
                self._factors = splu(
                    matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
                )
        except RuntimeError as error:  # what SuperLU says of a pivot that is zero
            raise LinAlgError(str(error)) from None

    @property
    def n_entries(self) -> int:
        """Entries of both factors together, as they are stored."""
        return int(self._factors.nnz)

    def solve(self, y: Array, atol: FloatArray) -> tuple[Array, FloatArray]:
        """Return the solutions for all columns of a block, and no history."""
        x = np.empty_like(y)
        with one_blas_thread():
            x[self._order] = self._factors.solve(y[self._order])
        return x, np.zeros((0, y.shape[1]))

    def step_seconds(self, n_columns: int) -> float | None:
        """There is nothing to iterate."""
        return None


class ConjugateGradients:
    r"""Solves with :math:`h\Delta + zI` by conjugate gradients behind a multigrid cycle on :math:`h\Delta + |z|I`.

    For a positive z that is the matrix itself; for one with a real part ≥ 0 it differs by a factor between 1 and √2 at
    every frequency.
    """

    name = "multigrid"

    def __init__(self, L: Laplacian, h: float, z: complex) -> None:
        self._matrix, self._h, self._z = L.matrix, h, z
        self._cycle = BlockCycle((h * L.matrix + abs(z) * sparse.eye_array(L.n_vertices)).tocsr())

    def solve(self, y: Array, atol: FloatArray) -> tuple[Array, FloatArray]:
        """Return the solutions for all columns of a block, and the histories of their residuals."""
        return block_cg(self._product, self._precondition, y, atol)

    def step_seconds(self, n_columns: int) -> float | None:
        """Time a cycle and a product."""
        r = np.ones((self._matrix.shape[0], n_columns), np.result_type(np.float64, self._z))
        return seconds_of(lambda: self._product(self._precondition(r)))

    def _product(self, x: Array) -> Array:
        y = _real_product(self._matrix, x)
        y *= self._h
        y += self._z * x
        return y

    def _precondition(self, r: Array) -> Array:
        """Apply the cycle to real and imaginary parts, all columns at once."""
        return np.ascontiguousarray(self._cycle(np.ascontiguousarray(r).view(np.float64))).view(r.dtype)


class SolveMethod(FilterMethod):
    """One response by solves with hΔ + zI; the residual of every solve is measured anew at its end.

    The error allowed, ``tol``, is relative to the gain. What solvers have prepared is not pickled: they are made again
    on arrival.
    """

    def __init__(
        self,
        L: Laplacian,
        response: Response,
        solver: type[Solver],
        systems: Sequence[System],
        tol: float | None,
        gains: FloatArray | None,
    ) -> None:
        super().__init__(L, [response], gains)
        self.solver, self.name = solver, solver.name
        self.systems = list(systems)
        self.tol = tol or 0.0
        self._prepare()

    def _prepare(self) -> None:
        self._solvers = [self.solver(self.laplacian, system.h, system.z) for system in self.systems]

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_solvers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def reaches_tolerance(self, tol: float | None) -> bool:
        """Compare the rounding of the measured residuals with the tolerance, without which no solve ends."""
        return tol is not None and super().reaches_tolerance(tol)

    def sample_seconds(self, n_signals: int) -> float | None:
        """Time an iteration of the first system, if there are any."""
        step = self._solvers[0].step_seconds(min(n_signals, BLOCK)) if self.systems else None
        if step is None:
            return None
        iterations = sum(
            one.n_solves * one.weight * expected_iterations(one.h * self.laplacian.lmax / abs(one.z), self.tol)
            for one in self.systems
        )
        n_blocks = max(-(-n_signals // BLOCK), 1)
        return n_blocks * iterations * _ITERATION_COST * step / self.systems[0].weight

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter, some signals at a time."""
        total, bound = np.empty((1, *f.shape)), np.empty((1, f.shape[1]))
        parts: list[list[FloatArray]] = []
        for first in range(0, max(f.shape[1], 1), BLOCK):
            some = slice(first, first + BLOCK)
            parts.append([])
            total[0, :, some], bound[0, some] = self._apply_some(f[:, some], column_norms(f[:, some]), parts[-1])
        histories = tuple(side_by_side(columns) for columns in zip(*parts, strict=True))
        # the last product of each solve is the check of its residual
        n_matvecs = max(sum(len(history) for history in part) for part in parts)
        return Applied(total, bound, n_matvecs, histories)

    @abstractmethod
    def _apply_some(self, f: Array, norms: FloatArray, histories: list[FloatArray]) -> tuple[Array, FloatArray]:
        """Filter signals with the given norms; also return bounds, and add the history of each solve."""

    def _solve(
        self, k: int, y: Array, allowed: float, norms: FloatArray, histories: list[FloatArray]
    ) -> tuple[Array, FloatArray]:
        """Solve with the k-th system, and bound what is left; both residuals are relative to the norms."""
        x, history = self._solvers[k].solve(np.ascontiguousarray(y), allowed * norms)
        if len(history):
            histories.append(over(history, np.broadcast_to(norms, history.shape)))
        h, z, _ = self.systems[k]
        return x, over(residual_norms(self.laplacian, h, z, x, y), norms)


def _real_product(L: sparse.csr_array, y: Array) -> Array:
    """Return L y for a real sparse L and a block, of a complex one as one product with twice the columns."""
    y = np.ascontiguousarray(y)
    return np.ascontiguousarray(L @ y.view(y.real.dtype)).view(y.dtype)


def residual_norms(L: Laplacian, h: float, z: complex, x: Array, y: Array) -> FloatArray:
    r"""Bound :math:`\|y - (h\Delta + zI) x\|` for each column, the rounding of computing it included.

    The product Δx is off by u times the norm of :math:`m \circ |\Delta||x|`, with m the rows' lengths.
    """
    u, m = unit_roundoff(np.float64), np.diff(L.matrix.indptr)[:, None] + 3.0
    residual = column_norms(y - h * _real_product(L.matrix, x) - z * x)
    small = u * (8 * abs(z) * column_norms(x) + 2 * column_norms(y) + 4 * residual)
    return residual + h * u * column_norms(m * L.absolute_product(np.abs(x))) + small
