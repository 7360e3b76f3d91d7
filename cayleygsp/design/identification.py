r"""System identification: the Cayley filter that maps given signals to others.

For a filter g, :math:`\|Y - g(\Delta)X\|^2` is a sum over frequencies. In the eigenbasis the part at λ is
:math:`(a\, g(\lambda) - b)^2` with a the norm of the input there and b the output along it, and the square of an output
that is out of reach; eigenvalues that the errors of the eigenbasis cannot tell apart are one frequency. For graphs
without an eigenbasis the Krylov space of each input takes its place (Lanczos).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy import linalg

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp._validation import check_not_negative, check_positive, check_signals
from cayleygsp.design.fit import DEFAULT_RIDGE, MAX_CAYLEY_ORDER, checked_order
from cayleygsp.design.search import Basis, local_minima, zoom_grid
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.basis import basis_coefficients, basis_size, power_basis
from cayleygsp.responses.cayley import CayleyPolynomial

# Lanczos steps of one signal on a graph without an eigenbasis.
KRYLOV_STEPS = 160

_EPS = float(np.finfo(np.float64).eps)


class _Measured(NamedTuple):
    r"""A least squares problem in the values of a response, :math:`\sum_k (a_k g(\lambda_k) - b_k)^2 + rest^2`.

    The nodes λ are the frequencies with an input, of norm a > 0 (``strengths``); b is what of the output lies along the
    input there, ``rest`` the norm of the output that no filter makes from the input, and ``scale`` that of the output,
    of ``n_equations`` numbers. Frequencies are estimated where they are Ritz values. Inputs and outputs are in units of
    powers of two of their own, so that no square is out of range: in the units of the signals the response is
    :math:`2^{exponent}` times g.
    """

    nodes: FloatArray
    strengths: FloatArray
    outputs: FloatArray
    rest: float
    scale: float
    n_equations: int
    is_estimated: bool
    exponent: int


def _measure(L: Laplacian, inputs: Array, outputs: Array) -> _Measured:
    """Reduce pairs of signals of shape (n, m) to values at frequencies."""
    # the filter is real, so that real and imaginary parts are pairs of their own
    if np.iscomplexobj(inputs) or np.iscomplexobj(outputs):
        inputs, outputs = (np.column_stack([np.real(Z), np.imag(Z)]) for Z in (inputs, outputs))
    X, Y = inputs.astype(np.float64), outputs.astype(np.float64)
    X_exponent, Y_exponent = (int(np.frexp(np.abs(Z).max(initial=0.0))[1]) for Z in (X, Y))
    X, Y = np.ldexp(X, -X_exponent), np.ldexp(Y, -Y_exponent)
    is_exact = L.has_eigenbasis or L.n_vertices <= EIGENBASIS_VERTICES
    parts = [_eigen_part(L, X, Y)] if is_exact else [_krylov_part(L, x, y) for x, y in zip(X.T, Y.T, strict=True)]
    nodes, a, b = (np.concatenate([part[k] for part in parts]) for k in range(3))
    seen = a > 8 * _EPS * np.linalg.norm(a)
    rest = float(np.linalg.norm([*(part[3] for part in parts), *b[~seen]]))
    scale = float(np.linalg.norm(Y))
    return _Measured(nodes[seen], a[seen], b[seen], rest, scale, Y.size, not is_exact, Y_exponent - X_exponent)


def _eigen_part(L: Laplacian, X: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return eigenvalues, the inputs' and the outputs' parts there, and the norm of the outputs beside the inputs."""
    X_hat, Y_hat = L.eigenvectors.T @ X, L.eigenvectors.T @ Y
    lam = np.maximum(L.eigenvalues, 0.0)
    # Equal eigenvalues are computed at most this far apart; a filter has one value for all of them.
    starts = np.flatnonzero(np.diff(lam, prepend=-np.inf) > 2 * L.eigenbasis.residual)
    sizes = np.diff(starts, append=lam.size)
    a = np.sqrt(np.add.reduceat((X_hat**2).sum(axis=1), starts))
    unit = X_hat * np.repeat(np.divide(1.0, a, out=np.zeros_like(a), where=a > _EPS * a.max()), sizes)[:, None]
    b = np.add.reduceat((unit * Y_hat).sum(axis=1), starts)
    rest = float(np.linalg.norm(Y_hat - unit * np.repeat(b, sizes)[:, None]))
    return np.add.reduceat(lam, starts) / sizes, a, b, rest


def _krylov_part(L: Laplacian, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return Ritz values, the input's and the output's parts there, and the norm of the output outside the space."""
    norm = float(np.linalg.norm(x))
    if norm == 0:
        return np.zeros(0), np.zeros(0), np.zeros(0), float(np.linalg.norm(y))
    V, alphas, betas = np.empty((KRYLOV_STEPS, x.size)), [], []
    v = x / norm
    for k in range(min(KRYLOV_STEPS, x.size)):
        V[k] = v
        w = L.matrix @ v
        alphas.append(float(v @ w))
        for _ in range(2):  # twice is enough to keep the basis orthogonal
            w = w - V[: k + 1].T @ (V[: k + 1] @ w)
        beta = float(np.linalg.norm(w))
        if beta <= 1e-12 * max(L.lmax, 1e-300):
            break
        betas.append(beta)
        v = w / beta
    V = V[: len(alphas)]
    theta, S = linalg.eigh_tridiagonal(alphas, betas[: len(alphas) - 1])
    inside = V @ y
    first = S[0]
    rest = float(np.linalg.norm(y - V.T @ inside))
    return np.maximum(theta, 0.0), norm * np.abs(first), np.sign(first) * (S.T @ inside), rest


# Zooms per decade of the scan, and how many of its minima are looked at more closely.
_PER_DECADE, _CLOSER = 20, 4

# A sum of squares larger by this many mean squares speaks against a zoom: 95 % for one parameter and normal noise.
_LIKELY = 3.84

# Residuals below this share of the outputs are rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """A Cayley filter identified from signals, with its residual and the uncertainty of its zoom.

    Attributes
    ----------
    polynomial : CayleyPolynomial
        The response.
    zoom : float
        Its zoom h.
    residual : float
        Norm of what the filter leaves of the outputs, relative to the norm of the outputs.
    residual_is_estimated : bool
        Whether the residual is that in the Krylov spaces of the inputs, and not measured on the signals.
    unreachable : float
        The part of that residual that no filter of any response can explain, if eigenvalues that the errors of the
        eigenbasis cannot tell apart are equal. If the residual is estimated, so is this: what lies outside the Krylov
        spaces, each signal taken for itself.
    zooms, residuals : numpy.ndarray, shape (k,)
        The residual with the best coefficients for each of some zooms, ascending.
    zoom_range : tuple of float
        Around the zoom: all zooms between these explain the outputs nearly as well, by a likelihood ratio of 95 % for
        independent normal noise of one size, beyond rounding and the ridge. An estimate; it ends where the scan does.
    condition : float
        Largest over least singular value of the problem at the zoom, ridge included: how far noise in the outputs is
        amplified in the coefficients.
    n_frequencies : int
        Different frequencies that the inputs hold. With no more of them than coefficients, every zoom fits.
    coeff_norm : float
        Euclidean norm of the coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> graph = cg.gallery.sensor(60, rng=0)
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> Y = cg.CayleyFilter(graph, cg.CayleyPolynomial([0.5, -0.25], zoom=2.0), tol=1e-12) @ X
    >>> info = cg.design.identify_cayley(cg.laplacian(graph), X, Y, order=1)
    >>> bool(info.residual < 1e-3), info.zoom_is_identified
    (True, True)
    """

    polynomial: CayleyPolynomial
    zoom: float
    residual: float
    residual_is_estimated: bool
    unreachable: float
    zooms: FloatArray
    residuals: FloatArray
    zoom_range: tuple[float, float]
    condition: float
    n_frequencies: int
    coeff_norm: float

    @property
    def zoom_is_identified(self) -> bool:
        """Whether all zooms that explain the outputs lie within a factor of 2."""
        low, high = self.zoom_range
        return high <= 2 * low

    @property
    def summary(self) -> str:
        """The residual and the zoom in words."""
        low, high = self.zoom_range
        exact = "about " if self.residual_is_estimated else ""
        text = f"residual {exact}{self.residual:.2g} of the outputs, zoom {self.zoom:.4g}"
        if self.zoom_is_identified:
            return f"{text} (likely between {low:.4g} and {high:.4g})"
        return f"{text}, which the signals do not tell: all from {low:.2g} to {high:.2g} explain them as well"

    def __repr__(self) -> str:
        return f"Identification({self.polynomial!r}, {self.summary})"


class _AtZoom(NamedTuple):
    coeffs: FloatArray
    residual: float
    basis: Basis


def identify_cayley(
    laplacian: Laplacian,
    inputs: ArrayLike,
    outputs: ArrayLike,
    order: int,
    zoom: float | Literal["auto"] = "auto",
    *,
    real_coeffs: bool = False,
    ridge: float = DEFAULT_RIDGE,
) -> Identification:
    r"""Find the Cayley polynomial g for which :math:`g(\Delta)X` is nearest to Y in the mean square.

    The coefficients enter linearly and are solved for at every zoom (variable projection); what is left is a function
    of the zoom alone, scanned over its logarithm and refined around the best minima.

    Parameters
    ----------
    laplacian : Laplacian
        The graph.
    inputs, outputs : array_like, shape (n,) or (n, m)
        Signals X before and Y after the filter, in pairs.
    order : int
        r from 1 to ``MAX_CAYLEY_ORDER`` = 48.
    zoom : float or "auto"
        h > 0 if it is known, or "auto" to find it.
    real_coeffs : bool
        Whether all coefficients are real.
    ridge : float
        As for :func:`fit_cayley`: the square of ``ridge`` times the largest singular value of the problem weighs the
        squared norm of the coefficients. More of it for noisy outputs; 0 for none.

    Notes
    -----
    On graphs of up to 2,000 vertices, or with a known eigenbasis, the sums over frequencies are exact. On others the
    Krylov space of each input after 160 steps stands for the graph: as many products with the Laplacian per signal.
    Nothing proves that no better zoom lies between those of the scan.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> L = cg.laplacian(cg.gallery.sensor(100, rng=0), "normalized")
    >>> teacher = cg.CayleyFilter(L, cg.CayleyPolynomial([0.5, 0.3 - 0.2j], zoom=4.0), tol=1e-12)
    >>> x = cg.gallery.sensor(100, rng=0).coords[:, 0]
    >>> facts = cg.design.identify_cayley(L, x, teacher @ x, order=1)
    >>> round(facts.zoom, 3), facts.zoom_is_identified
    (4.0, True)
    """
    if not isinstance(laplacian, Laplacian):
        raise TypeError(
            f"`laplacian` must be a cayleygsp.Laplacian, got {type(laplacian).__name__}; make one with "
            "cayleygsp.laplacian"
        )
    r = checked_order(order, MAX_CAYLEY_ORDER)
    mu = check_not_negative(ridge, "ridge")
    h = None if isinstance(zoom, str) and zoom == "auto" else check_positive(zoom, "zoom")
    X = check_signals(inputs, laplacian.n_vertices, "inputs")
    Y = check_signals(outputs, laplacian.n_vertices, "outputs")
    if X.shape != Y.shape:
        raise ValueError(f"`outputs` must have the shape of `inputs`, {X.shape}, got {Y.shape}")
    if not X.any():
        raise ValueError("`inputs` must not be zero everywhere: they say nothing of a filter")
    problem = _measure(laplacian, *(Z.reshape(laplacian.n_vertices, -1) for Z in (X, Y)))
    return _identify(problem, laplacian.lmax, r, h, bool(real_coeffs), mu)


def _identify(problem: _Measured, lmax: float, r: int, h: float | None, real: bool, ridge: float) -> Identification:
    def solve_at(log_zoom: float) -> _AtZoom:
        A = problem.strengths[:, None] * power_basis(r, np.exp(log_zoom) * problem.nodes, real=real)
        basis = Basis(A, ridge)
        coeffs = basis.coefficients(basis.D * (basis.U.T @ problem.outputs))
        residual = float(np.hypot(np.linalg.norm(A @ coeffs - problem.outputs), problem.rest))
        return _AtZoom(coeffs, residual, basis)

    lows = problem.nodes[problem.nodes > 1e-4 * lmax]
    grid = zoom_grid(lmax, lows, _PER_DECADE) if lmax and lows.size else np.zeros(1)
    curve = np.array([solve_at(x).residual for x in grid])
    x = _best(solve_at, grid, curve) if h is None else float(np.log(h))
    solution = solve_at(x)
    # up to this residual a zoom is as likely as the best one, apart from what rounding and the ridge may add
    freedom = max(problem.n_equations - basis_size(r, real=real) - 1, 1)
    likely = solution.residual * np.sqrt(1 + _LIKELY / freedom)
    scales, norm = solution.basis.scale, float(np.linalg.norm(solution.coeffs))
    limit = float(np.hypot(likely, np.hypot(_ROUNDING * problem.scale, ridge * norm * float(scales[0]))))
    low, high = (np.exp(_edge(solve_at, grid, x, limit, way)) for way in (-1, 1)) if grid.size > 1 else (0.0, np.inf)
    scale, gaps = problem.scale or 1.0, np.diff(np.sort(problem.nodes))
    coeffs = _in_units_of_signals(solution.coeffs, problem.exponent)
    polynomial = CayleyPolynomial(basis_coefficients(coeffs, real=real), float(np.exp(x)))
    return Identification(
        polynomial=polynomial,
        zoom=polynomial.zoom,
        residual=solution.residual / scale,
        residual_is_estimated=problem.is_estimated,
        unreachable=problem.rest / scale,
        zooms=np.exp(grid),
        residuals=curve / scale,
        zoom_range=(float(low), float(high)),
        condition=float(scales[0] / scales[-1]),
        n_frequencies=int(np.count_nonzero(gaps > 1e-8 * problem.nodes.max(initial=1e-300))) + (problem.nodes.size > 0),
        coeff_norm=float(np.ldexp(np.linalg.norm(basis_coefficients(solution.coeffs, real=real)), problem.exponent)),
    )


def _in_units_of_signals(coeffs: FloatArray, exponent: int) -> FloatArray:
    """Multiply by a power of two, or reject signals whose sizes are so different that coefficients are out of range."""
    largest = float(np.abs(coeffs).max())
    if largest and not -960 <= np.frexp(largest)[1] + exponent <= 1020:
        raise ValueError(
            "`outputs` must be within a factor of 1e280 of `inputs`, or the coefficients are out of range; "
            f"got a factor of about 2**{exponent}"
        )
    return np.ldexp(coeffs, exponent)


def _best(solve_at: Callable[[float], _AtZoom], grid: FloatArray, curve: FloatArray) -> float:
    """Return the logarithm of the zoom of the least residual; of equally good ones that of the least coefficients."""
    from scipy import optimize  # slow to load

    candidates = list(grid)
    step = grid[1] - grid[0] if grid.size > 1 else 0.0
    for k in local_minima(curve)[:_CLOSER]:
        x, width = float(grid[k]), step
        for _ in range(4 if step else 0):  # around the last x, as the search ends at about 1e-8 of its unknown
            closer = optimize.minimize_scalar(
                lambda d, x=x: solve_at(x + d).residual,
                bounds=(-width, width),
                method="bounded",
                options={"xatol": 1e-15},
            )
            x, width = x + float(closer.x), width / 200
        candidates.append(x)
    solutions = [solve_at(x) for x in candidates]
    least = min(s.residual for s in solutions)
    scale = float(curve.max())
    equal = [k for k, s in enumerate(solutions) if s.residual <= least * (1 + 1e-6) + 1e-14 * scale]
    return float(candidates[min(equal, key=lambda k: float(np.linalg.norm(solutions[k].coeffs)))])


def _edge(solve_at: Callable[[float], _AtZoom], grid: FloatArray, x: float, limit: float, way: int) -> float:
    """Return how far from x in one direction the residual stays within the limit, as far as the grid goes."""
    inside = x
    for outside in grid[way * (grid - x) > 0][::way].tolist():
        if solve_at(outside).residual <= limit:
            inside = outside
            continue
        for _ in range(30):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if solve_at(middle).residual <= limit else (inside, middle)
        break
    return inside
