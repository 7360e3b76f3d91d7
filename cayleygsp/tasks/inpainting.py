"""Inpainting: the smooth signal that fits the values that are known."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from scipy import sparse

from cayleygsp._format import ShortRepr, counted, format_bound
from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import Array, ArrayLike, FloatArray, GraphLike, LaplacianKind
from cayleygsp._validation import check_numbers, check_positive, check_real, check_signals
from cayleygsp.filters import ConvergenceWarning
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.methods.base import column_norms, over, relative
from cayleygsp.tasks.definite import DefiniteSystem, Solution

# Strengths times λ_max that double precision has room for beside the known values.
_RANGE = (1e-12, 1e15)


@dataclass(frozen=True, eq=False, repr=False)
class Inpainted(ShortRepr):
    r"""Signals with all values, and how far they are from the exact minimizers; :func:`inpaint` makes it.

    Attributes
    ----------
    signals : numpy.ndarray
        Of the shape and precision of what was given.
    strength : float
        The weight of smoothness; 0 if the known values were kept.
    error_bound : float or numpy.ndarray, shape (n_signals,)
        An upper bound of :math:`\|x - \hat x\|_A / c`, the distance of the returned signal from the minimizer in the
        energy norm :math:`\|e\|_A^2 = \|Me\|^2 + s\,e^\top\Delta e` relative to the norm c of the known values (for
        strength 0: :math:`e^\top\Delta e`, relative to the energy of the known values with zeros elsewhere). No
        minimizer has an energy norm above c.
    largest_error : float or numpy.ndarray, shape (n_signals,)
        An upper bound of the distance at the worst vertex, on the scale of the values.
    converged : bool
        Whether the bounds are within the tolerance.
    tol : float
        The tolerance.
    certificate : {"proved", "none"}
        "none" if no bound could be proved.
    n_known, n_filled : int
        Vertices with a known value, and those that were filled for want of any in their component.
    n_iterations : int
        Steps of the conjugate gradients.
    residuals : numpy.ndarray, shape (n_steps, n_signals)
        Residual norms, relative to that of the right-hand side.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> result = cg.tasks.inpaint(cg.gallery.path(5), [0.0, np.nan, np.nan, np.nan, 4.0], strength=0.0)
    >>> result.signals.round(6), result.certificate
    (array([0., 1., 2., 3., 4.]), 'proved')
    """

    signals: Array
    strength: float
    error_bound: float | FloatArray
    largest_error: float | FloatArray
    converged: bool
    tol: float
    certificate: str
    n_known: int
    n_filled: int
    n_iterations: int
    residuals: FloatArray

    def summary(self) -> str:
        """Return a summary in a few lines: the values, the solver and the error bound."""
        n = self.signals.shape[0]
        how = f"strength {self.strength:.6g}" if self.strength else "known values kept (strength 0)"
        lines = [f"{how}, {self.n_known:,} of {counted(n, 'vertex', 'vertices')} known"]
        if self.n_filled:
            lines.append(f"{counted(self.n_filled, 'vertex', 'vertices')} in components without a known value filled")
        reached = "within" if self.converged else "NOT within"
        lines.append(f"{counted(self.n_iterations, 'step')} of preconditioned conjugate gradients")
        lines.append(
            f"error at most {format_bound(float(np.max(self.error_bound)))} in the energy norm, {reached} "
            f"{self.tol:g}, and {format_bound(float(np.max(self.largest_error)))} at every vertex ({self.certificate})"
        )
        return "\n".join(lines)


def inpaint(
    graph: GraphLike,
    y: ArrayLike,
    mask: ArrayLike | None = None,
    strength: float = 1.0,
    *,
    fill: float | None = None,
    tol: float = 1e-6,
    kind: LaplacianKind | None = None,
) -> Inpainted:
    r"""Fill in missing values: the minimizer of :math:`\|M(x - y)\|^2 + s\,x^\top \Delta x`.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    y : array_like, shape (n_vertices,) or (n_vertices, n_signals)
        Real signals; what they are at unknown vertices does not matter, and may be NaN.
    mask : array_like of bool, shape (n_vertices,), optional
        Where values are known, the same for all signals; by default where they are not NaN.
    strength : float
        s ≥ 0, the weight of smoothness. With 0 the known values are kept and the others interpolated: the limit of
        small strengths, the signal with the least :math:`x^\top \Delta x`.
    fill : float, optional
        The value of vertices in components without any known one, where nothing determines the signal; by default
        they are rejected.
    tol : float
        Error allowed in the energy norm, see :attr:`Inpainted.error_bound`.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.

    Returns
    -------
    Inpainted
        With the signals and the proved bounds of their errors.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid, or a component has no known value; before any work.

    Warns
    -----
    ConvergenceWarning
        If the tolerance could not be certified.

    Notes
    -----
    Conjugate gradients behind a multigrid cycle solve :math:`(M + s\Delta)x = My`. The matrix has an inverse without
    negative entries; with a vector v and Av > 0 the residual r bounds the error by :math:`\max_i |r_i|/(Av)_i` times v
    at every vertex, and its square in the energy norm by that times :math:`|r|^\top v`, rounding included; see
    :mod:`cayleygsp.tasks.definite`.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> y = np.full(9, np.nan)
    >>> y[[0, 8]] = 0.0, 4.0
    >>> cg.tasks.inpaint(cg.gallery.path(9), y, strength=0).signals.round(6)
    array([0. , 0.5, 1. , 1.5, 2. , 2.5, 3. , 3.5, 4. ])
    """
    L = laplacian(graph, kind)
    f, known = _check_values(y, mask, L.n_vertices)
    strength = check_real(strength, "strength")
    if not (np.isfinite(strength) and strength >= 0):
        raise ValueError(f"`strength` must be at least 0 and finite, got {strength!r}")
    value = None if fill is None else check_real(fill, "fill")
    if value is not None and not abs(value) <= float(np.finfo(f.dtype).max):
        wanted = f"within the range of {f.dtype}, the type of `y`" if np.isfinite(value) else "finite"
        raise ValueError(f"`fill` must be {wanted}, got {value:g}")
    tol = check_positive(tol, "tol")
    reached = _reached(L, known, value)
    low, high = (bound / L.lmax for bound in _RANGE) if L.lmax else (0.0, np.inf)
    if strength and not low <= strength <= high:
        raise ValueError(
            f"`strength` must be 0, or between {low:.3g} and {high:.3g} on this graph, got {strength:g}: in double "
            "precision less cannot be told from 0, and with more the known values are lost"
        )
    # signals of any size are solved for at size one
    columns = np.where(known[:, None], f.reshape(L.n_vertices, -1).astype(np.float64), 0.0)
    exponents = np.frexp(np.abs(columns).max(axis=0))[1]
    problem = _regression if strength else _interpolation
    return _solve(problem(L, np.ldexp(columns, -exponents), known, reached, strength), f, exponents, value, tol)


@dataclass(frozen=True, eq=False)
class _Problem:
    """A definite system for the values at some vertices.

    ``start`` has the values at the other vertices, and ``reference`` what errors in the energy norm are relative to.
    ``sharper`` makes the solver aim at less than the tolerance: with a small strength, unknown vertices hardly count in
    the energy norm.
    """

    strength: float
    known: Array
    reached: Array
    start: FloatArray
    rows: Array
    A: sparse.csr_array
    entry_error: float
    b: FloatArray
    b_error: FloatArray
    reference: FloatArray
    sharper: float = 1.0


def _regression(L: Laplacian, y: FloatArray, known: Array, reached: Array, strength: float) -> _Problem:
    """Return (M + sΔ) x = M y on the components that have a known vertex."""
    rows = np.flatnonzero(reached)
    D = L.matrix if rows.size == L.n_vertices else L.matrix[rows][:, rows]
    A = (sparse.diags_array(known[rows].astype(np.float64)) + strength * D).tocsr()
    # each entry is rounded twice
    entry_error = 4 * unit_roundoff(np.float64)
    sharper = min(1.0, float(np.sqrt(strength * L.lmax))) if L.lmax else 1.0
    reference = column_norms(y)
    return _Problem(strength, known, reached, y, rows, A, entry_error, y[rows], np.zeros((1, 1)), reference, sharper)


def _interpolation(L: Laplacian, y: FloatArray, known: Array, reached: Array, strength: float) -> _Problem:
    """Return Δ x = 0 at the unknown vertices, the known ones being what they are."""
    rows = np.flatnonzero(reached & ~known)
    D = L.matrix[rows]
    b = -(D @ y)
    b_error = (np.diff(D.indptr)[:, None] + 3.0) * unit_roundoff(np.float64) * (abs(D) @ np.abs(y))
    return _Problem(strength, known, reached, y, rows, D[:, rows].tocsr(), 0.0, b, b_error, _least_energy(L, y))


def _least_energy(L: Laplacian, y: FloatArray) -> FloatArray:
    """Bound the root of yᵀΔy from below for each signal, rounding counted."""
    unit = unit_roundoff(np.float64)
    if L.kind == "combinatorial" and L.lmin == 0:  # differences do not cancel further
        edges = sparse.triu(L.matrix, 1).tocoo()
        (i, j), w = edges.coords, -edges.data
        forms = np.array([(w * (column[i] - column[j]) ** 2).sum() for column in y.T])
        rounding = (w.size + 8) * unit * forms
    else:
        forms = (y * (L.matrix @ y)).sum(axis=0)
        units = np.diff(L.matrix.indptr)[:, None] + L.n_vertices + 8.0
        rounding = unit * (units * np.abs(y) * (abs(L.matrix) @ np.abs(y))).sum(axis=0)
    return np.sqrt(np.maximum(forms - 1.01 * rounding, 0.0)) * (1 - 4 * unit)


def _solve(problem: _Problem, f: Array, exponents: Array, fill: float | None, tol: float) -> Inpainted:
    """Solve, go back to the caller's scale and type, and bound the error of what comes out."""
    if problem.rows.size:
        solved = _solve_rows(problem, f, exponents, tol)
    else:  # all is known already
        nothing: FloatArray = np.zeros(exponents.size)
        solved = Solution(np.zeros((0, exponents.size)), nothing, nothing, nothing[None])
    result = np.ldexp(problem.start, exponents).astype(f.dtype)
    result[problem.rows] = solved.x
    if fill is not None:
        result[~problem.reached] = fill
    bounds = relative(np.where(np.isnan(solved.energy_bounds), np.inf, solved.energy_bounds), problem.reference)
    largest = solved.largest_bounds
    errors = np.where(largest > 0, np.nextafter(np.ldexp(largest, exponents), np.inf), largest)
    converged = bool((bounds <= tol).all())
    if not converged:
        worst = float(bounds.max())
        proved = f"the error is at most {format_bound(worst)}"
        reached = proved if np.isfinite(worst) else "no bound of the error could be proved"
        warnings.warn(
            f"inpainting could not certify tol={tol:.3g}: {reached} (strength, tolerance and precision of the values "
            "decide what rounding allows)",
            ConvergenceWarning,
            stacklevel=3,
        )
    single = f.ndim == 1
    return Inpainted(
        signals=result.reshape(f.shape),
        strength=problem.strength,
        error_bound=float(bounds[0]) if single else bounds,
        largest_error=float(errors[0]) if single else errors,
        converged=converged,
        tol=tol,
        certificate="proved" if np.isfinite(bounds).all() else "none",
        n_known=int(problem.known.sum()),
        n_filled=int((~problem.reached).sum()),
        n_iterations=len(solved.residuals) - 1,
        residuals=solved.residuals,
    )


def _solve_rows(problem: _Problem, f: Array, exponents: Array, tol: float) -> Solution:
    """Return the values in the caller's scale and type, bounds in the solver's, and relative residuals."""
    try:
        system = DefiniteSystem(problem.A, problem.entry_error)
    except LinAlgError:
        raise ValueError(
            "`strength` must be smaller: the known values are lost in the rounding of double precision, got "
            f"{problem.strength:g}"
        ) from None
    solution = system.solve(problem.b, problem.b_error, tol * problem.sharper * problem.reference)
    energy, largest = solution.energy_bounds, solution.largest_bounds
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        values = np.ldexp(solution.x, exponents).astype(f.dtype)
        lost = np.ldexp(values.astype(np.float64), -exponents) - solution.x
    if lost.any():
        energy, largest = energy + system.energy_norms(lost), largest + np.abs(lost).max(axis=0)
    norms = np.broadcast_to(column_norms(problem.b), solution.residuals.shape)
    return Solution(values, energy, largest, over(solution.residuals, norms))


def _check_values(y: ArrayLike, mask: ArrayLike | None, n_vertices: int) -> tuple[Array, Array]:
    """Return the values with 0 where they are unknown, and where they are known."""
    array: Array = check_numbers(y, "y") if np.ma.isMaskedArray(y) else np.asarray(y)
    if array.dtype.kind == "c":
        raise TypeError(f"`y` must be real, got dtype {array.dtype}; give real and imaginary parts as two signals")
    if array.ndim not in (1, 2) or array.shape[0] != n_vertices:
        raise ValueError(f"`y` must have shape ({n_vertices},) or ({n_vertices}, n_signals), got {array.shape}")
    if array.size == 0:
        raise ValueError(f"`y` must hold at least one signal, got shape {array.shape}")
    if mask is None:
        known = np.ones(n_vertices, bool)
        if array.dtype.kind == "f":
            missing = np.isnan(array).reshape(n_vertices, -1)
            known = np.logical_not(missing.any(axis=1))
            uneven = ~known & ~missing.all(axis=1)
            if uneven.any():
                raise ValueError(
                    f"`y` must have NaN at the same vertices in all signals, got {missing[uneven][0].sum()} of "
                    f"{missing.shape[1]} at vertex {int(np.argmax(uneven))}; inpaint signals with other gaps one by one"
                )
        nothing = "`y` must have a value at one vertex at least, got NaN everywhere"
    else:
        known = np.asarray(mask)
        if known.dtype != bool:
            raise TypeError(f"`mask` must be booleans, True where a value is known, got dtype {known.dtype}")
        if known.shape != (n_vertices,):
            raise ValueError(f"`mask` must have shape ({n_vertices},), got {known.shape}")
        nothing = "`mask` must name at least one known vertex, got none"
    if not known.any():
        raise ValueError(nothing)
    where = known if array.ndim == 1 else known[:, None]
    return check_signals(np.where(where, array, np.zeros((), array.dtype)), n_vertices, "y"), known


def _reached(L: Laplacian, known: Array, fill: float | None) -> Array:
    """Return the vertices of components with a known vertex; without a value for others, reject them."""
    has_known = np.bincount(L.components, weights=known) > 0
    reached = has_known[L.components]
    if fill is None and not reached.all():
        n_without = int((~has_known).sum())
        raise ValueError(
            f"every component must have a known vertex, and {counted(n_without, 'component')} "
            f"{'has' if n_without == 1 else 'have'} none, such as that of vertex {int(np.argmin(reached))}: nothing "
            "determines the signal there; give `fill`, a value for them"
        )
    return reached
