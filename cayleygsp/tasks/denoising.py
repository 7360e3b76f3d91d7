"""Denoising: a smoothing filter whose strength is chosen from the noisy signal itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cayleygsp._format import ShortRepr, format_bound
from cayleygsp._typing import Array, ArrayLike, FloatArray, GraphLike, LaplacianKind
from cayleygsp._validation import check_choice, check_integer, check_positive, check_signals
from cayleygsp.filters import ConvergenceWarning, FilterInfo
from cayleygsp.filters.base import GraphFilter
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.methods.base import column_norms, weakest
from cayleygsp.responses.base import Response
from cayleygsp.responses.steps import HighPass
from cayleygsp.tasks.selection import (
    BY_RESIDUAL,
    FIRST_RANGE,
    LAST_STRENGTH,
    NEED_SIGMA,
    SELECTORS,
    Criterion,
    Family,
    check_family,
    check_strengths,
    default_strengths,
    evaluate_criterion,
    form_errors,
    residual_forms,
)
from cayleygsp.tasks.traces import Traces, estimate_traces, plain, quadratic_forms

# Share of all frequencies that must be in the band that the noise is measured in.
_LEAST_SHARE = 0.5

# Candidates for the lower end of the band: from λ_max down by factors of √2, a few at a time.
_CANDIDATES, _AT_ONCE = 28, 4

_TOL = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class NoiseEstimate(ShortRepr):
    r"""An estimate of the standard deviation of white noise on a signal.

    Attributes
    ----------
    sigma : float or numpy.ndarray, shape (n_signals,)
        The estimate, one per signal.
    standard_error : float or numpy.ndarray
        How far it is off by chance, for Gaussian noise and a signal without high frequencies. A signal that has
        some makes the estimate too large, and nothing here can tell.
    cutoff : float
        Where the band of high frequencies starts.
    share : float
        The share of all frequencies in the band.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> noise = 0.5 * np.random.default_rng(0).standard_normal(900)
    >>> estimate = cg.tasks.estimate_noise(cg.gallery.grid(30), noise)
    >>> round(float(estimate.sigma), 1)
    0.5
    """

    sigma: float | FloatArray
    standard_error: float | FloatArray
    cutoff: float
    share: float


def estimate_noise(
    graph: GraphLike,
    y: ArrayLike,
    *,
    n_probes: int = 16,
    rng: np.random.Generator | int | None = 0,
    kind: LaplacianKind | None = None,
) -> NoiseEstimate:
    r"""Estimate the standard deviation of white noise from the highest frequencies of a signal.

    With h a smooth high pass, :math:`E\,y^\top h(\Delta)y = x^\top h(\Delta)x + \sigma^2\,\mathrm{tr}\,h(\Delta)`
    for a signal x with noise; if x is smooth, the first term is small, and it is taken to be zero.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    y : array_like, shape (n_vertices,) or (n_vertices, n_signals)
        Real signals with noise.
    n_probes : int
        For the trace of the high pass, see :func:`denoise`.
    rng : numpy.random.Generator or int, optional
        For the probes.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.

    Returns
    -------
    NoiseEstimate
        From the highest band that holds half of all frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> noise = 0.3 * np.random.default_rng(0).standard_normal(2500)
    >>> round(cg.tasks.estimate_noise(cg.gallery.grid(50), 5.0 + noise).sigma, 2)
    0.3
    """
    L = laplacian(graph, kind)
    f = check_real_signals(y, L.n_vertices)
    check_has_edges(L)
    n_probes = check_integer(n_probes, "n_probes", at_least=2)
    # squares of signals of any size are numbers once the largest is about one
    exponent = int(np.frexp(np.abs(f).max())[1])
    block = np.ldexp(f.reshape(L.n_vertices, -1).astype(np.float64), -exponent)
    estimate = noise_level(L, block, n_probes, np.random.default_rng(rng))
    levels = (np.ldexp(level, exponent) for level in (estimate.sigma, estimate.standard_error))
    sigma, error = (level if f.ndim == 2 else float(level[0]) for level in levels)
    return NoiseEstimate(sigma, error, estimate.cutoff, estimate.share)


def noise_level(L: Laplacian, f: FloatArray, n_probes: int, rng: np.random.Generator) -> NoiseEstimate:
    """Return the estimate for checked signals of shape (n, m), one number per signal."""
    band, trace, trace_error = _high_band(L, n_probes, rng)
    energies = np.maximum(quadratic_forms(L, [plain(band)], f, tol=_TOL).values[0], 0.0)
    sigma = np.sqrt(energies / trace)
    # Gaussian noise has Var(zᵀhz) = 2 tr h² ≤ 2 tr h; a root halves relative errors
    relative = 0.5 * float(np.hypot(np.sqrt(2 / trace), trace_error / trace))
    return NoiseEstimate(sigma, sigma * relative, band.cutoff, trace / L.n_vertices)


def _high_band(L: Laplacian, n_probes: int, rng: np.random.Generator) -> tuple[HighPass, float, float]:
    """Return the high pass of the highest cutoff that passes enough, with its trace and the error of the trace."""
    best: tuple[HighPass, float, float] | None = None
    for first in range(1, _CANDIDATES, _AT_ONCE):
        bands = [HighPass(L.lmax * 2 ** (-k / 2)) for k in range(first, first + _AT_ONCE)]
        traces = estimate_traces(L, [plain(band) for band in bands], bands[-1], n_probes, rng, tol=_TOL)
        for band, value, error in zip(bands, traces.values, traces.standard_errors, strict=True):
            best = band, float(value), float(error)
            if value >= _LEAST_SHARE * L.n_vertices:
                return best
    assert best is not None
    if not best[1] >= 1:
        raise ValueError(
            "the noise level cannot be estimated: almost all frequencies of the graph are far below its largest; "
            "give a known one to `denoise` as `sigma`"
        )
    return best


def check_real_signals(y: ArrayLike, n_vertices: int, name: str = "y") -> Array:
    """Return finite real signals of shape (n,) or (n, m) with m > 0."""
    f = check_signals(y, n_vertices, name)
    if f.dtype.kind == "c":
        raise TypeError(f"`{name}` must be real, got dtype {f.dtype}; give real and imaginary parts as two signals")
    if f.size == 0:
        raise ValueError(f"`{name}` must hold at least one signal, got shape {f.shape}")
    return f


def check_has_edges(L: Laplacian) -> None:
    """Reject a graph on which no signal is smoother than another."""
    if L.lmax == 0:
        raise ValueError("`graph` must have edges: without them no signal is smoother than another")


@dataclass(frozen=True, eq=False, repr=False)
class Denoised(ShortRepr):
    r"""A denoised signal and how its strength was chosen; :func:`denoise` makes it.

    Attributes
    ----------
    signals : numpy.ndarray
        The denoised signals, of the shape and precision of what was given.
    strength : float or numpy.ndarray, shape (n_signals,)
        The chosen strength, one number for one signal or if it is shared.
    family, select : str
        Names of the family and of the selector.
    strengths : numpy.ndarray, shape (n_strengths,)
        Those that were compared, ascending.
    curve : numpy.ndarray, shape (n_strengths,) or (n_strengths, n_signals)
        The criterion: what "gcv" and "sure" minimize; for "discrepancy" and "morozov" the residual over what noise
        explains, which is at most 1 up to the chosen strength.
    curve_error : numpy.ndarray
        How far the curve is off: by one standard error of the traces, and by what the error allowed to the filters
        does to the residuals, or what their series leave out where that is more (infinite where that hides the degrees
        of freedom). Its points are off together, so that its minimum is better known than its height.
    traces : Traces
        Traces of the filters, their degrees of freedom, with standard errors.
    sigma : float or numpy.ndarray or None
        The noise level that was used, None for "gcv".
    sigma_estimated : bool
        Whether that is an estimate by :func:`estimate_noise`.
    error_bound : float or numpy.ndarray, shape (n_signals,)
        An upper bound of the error of filtering relative to the norm of the noisy signal. It says how exactly the
        chosen filter was applied, not how near the clean signal is.
    certificate : str
        What the bound rests on, as in :class:`FilterInfo`.
    infos : tuple of FilterInfo
        What is known of the filtering, one per different chosen strength, ascending.
    at_end : bool
        Whether a chosen strength is the first or last of those that were compared: the best may lie beyond.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> result = cg.tasks.denoise(cg.gallery.grid(10), np.random.default_rng(0).standard_normal(100))
    >>> result.signals.shape, result.certificate, bool(result.strength > 0)
    ((100,), 'proved', True)
    """

    signals: Array
    strength: float | FloatArray
    family: str
    select: str
    strengths: FloatArray
    curve: FloatArray
    curve_error: FloatArray
    traces: Traces
    sigma: float | FloatArray | None
    sigma_estimated: bool
    error_bound: float | FloatArray
    certificate: str
    infos: tuple[FilterInfo, ...]
    at_end: bool

    @property
    def converged(self) -> bool:
        """Whether the error of filtering is certified to be within the tolerance."""
        return all(info.converged for info in self.infos)

    def summary(self) -> str:
        """Return a summary in a few lines: the choice of the strength and the error bound."""
        traces = "exact" if self.traces.exact else f"by Hutch++ with {self.traces.n_probes} probes"
        lines = [
            f"{self.family}, strength {_range(self.strength)} by {self.select}, of {self.strengths.size} from "
            f"{self.strengths[0]:.3g} to {self.strengths[-1]:.3g}" + (", at an end of them" if self.at_end else ""),
            f"traces {traces}",
        ]
        if self.sigma is not None:
            how = "estimated from the high frequencies" if self.sigma_estimated else "given"
            lines.append(f"noise level {_range(self.sigma)}, {how}")
        methods = ", ".join(dict.fromkeys(info.method for info in self.infos))
        bound = format_bound(float(np.max(self.error_bound)))
        lines.append(f"filtered by {methods}, off by at most {bound} of the signal's norm ({self.certificate})")
        return "\n".join(lines)


def denoise(
    graph: GraphLike,
    y: ArrayLike,
    family: Family = "tikhonov",
    select: str = "gcv",
    *,
    strengths: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    shared: bool = False,
    n_probes: int = 16,
    rng: np.random.Generator | int | None = 0,
    tol: float = 1e-6,
    kind: LaplacianKind | None = None,
) -> Denoised:
    r"""Denoise signals with a filter whose strength is chosen from the signals themselves.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    y : array_like, shape (n_vertices,) or (n_vertices, n_signals)
        Real signals with white noise.
    family : {"tikhonov", "heat", "low"} or callable
        The filters, by their strength s: :math:`1/(1 + s\lambda)`, :math:`e^{-s\lambda}`, or a smooth step down at the
        cutoff 1/s; or a function that takes a strength and returns a response or a function of frequency.
    select : {"gcv", "sure", "discrepancy", "morozov"}
        Generalized cross-validation, Stein's unbiased risk estimate, or the largest strength up to which
        noise explains the residuals: where the filter acts, "discrepancy", or as in textbooks all of them, "morozov",
        which smooths too much; see :mod:`cayleygsp.tasks.selection` for the formulas.
    strengths : array_like, optional
        Positive strengths to compare. By default eight per factor of ten, from 0.01 to 10⁴ over :math:`\lambda_{max}`,
        and on to 10⁶ if the choice is the last.
    sigma : float or array_like, shape (n_signals,), optional
        Standard deviation of the noise, for all but "gcv"; estimated by :func:`estimate_noise` if it is not given.
    shared : bool
        Whether all signals get the same strength, chosen by the mean of their residuals; else each gets its own.
    n_probes : int
        At least 2 columns of the sketch and random probes of Hutch++, for the traces on graphs whose eigenbasis is not
        known and which have more than 500 vertices. The larger the graph, the fewer are needed.
    rng : numpy.random.Generator or int, optional
        For the probes.
    tol : float
        Error allowed to the filters, relative to their gain.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.

    Returns
    -------
    Denoised
        With the signals, the strength and the curve of the criterion.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid, before any work; or if the criterion says nothing of any strength, as "gcv" does not
        where all filters hardly change the signal.

    Notes
    -----
    All strengths are compared in one pass: the residuals and the traces of all filters follow from the inner products
    of neighbouring terms of one recurrence (:mod:`cayleygsp.tasks.traces`). Then the chosen filter is applied to
    ``tol``, with a certificate.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> grid = cg.gallery.grid(20)
    >>> clean = np.sin(grid.coords[:, 0] / 3)
    >>> noisy = clean + 0.3 * np.random.default_rng(0).standard_normal(400)
    >>> result = cg.tasks.denoise(grid, noisy, "heat", "gcv")
    >>> bool(np.linalg.norm(result.signals - clean) < 0.5 * np.linalg.norm(noisy - clean))
    True
    >>> print(result.summary())
    heat, strength 0.527 by gcv, of 49 from 0.00125 to 1.25e+03
    traces exact
    filtered by exact, off by at most ... of the signal's norm (proved)
    """
    L = laplacian(graph, kind)
    f = check_real_signals(y, L.n_vertices)
    check_has_edges(L)
    name, make = check_family(family)
    check_choice(select, "select", SELECTORS)
    compared = default_strengths(L, FIRST_RANGE[1]) if strengths is None else check_strengths(strengths)
    make(float(compared[0]))  # rejects what is no family
    if not isinstance(shared, bool):
        raise TypeError(f"`shared` must be True or False, got {shared!r}")
    n_probes = check_integer(n_probes, "n_probes", at_least=2)
    tol = check_positive(tol, "tol")
    generator = np.random.default_rng(rng)
    levels = None if sigma is None else _check_sigma(sigma, f, select)
    # squares of signals of any size are numbers once the largest is about one
    exponent = int(np.frexp(np.abs(f).max())[1])
    block = np.ldexp(f.reshape(L.n_vertices, -1).astype(np.float64), -exponent)
    levels = None if levels is None else np.ldexp(levels, -exponent)
    estimated = select in NEED_SIGMA and levels is None
    if estimated:
        levels = np.asarray(noise_level(L, block, n_probes, generator).sigma)
        if (levels == 0).any():
            text = "a signal has nothing in its high frequencies: no noise was seen"
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        levels = np.where(levels > 0, levels, np.finfo(np.float64).tiny ** 0.5)
    compare = partial(_compare, L, block, make, select, levels, shared, n_probes, generator, tol)
    criterion, traces = compare(compared)
    if strengths is None and (criterion.chosen == compared.size - 1).any():
        compared = default_strengths(L, LAST_STRENGTH)
        criterion, traces = compare(compared)
    strength = compared[criterion.chosen]
    signals, bounds, infos = _apply(L, make, f, np.broadcast_to(strength, block.shape[1:]), tol)
    single = f.ndim == 1
    one_curve = single or shared
    sigma_used = None if select not in NEED_SIGMA or levels is None else np.ldexp(levels, exponent)
    unit = 0 if select in BY_RESIDUAL else 2 * exponent
    with np.errstate(over="ignore"):
        curve, errors = np.ldexp(criterion.values, unit), np.ldexp(criterion.errors, unit)
    return Denoised(
        signals=signals,
        strength=float(strength[0]) if one_curve else strength,
        family=name,
        select=select,
        strengths=compared,
        curve=curve[:, 0] if one_curve else curve,
        curve_error=errors[:, 0] if one_curve else errors,
        traces=traces,
        sigma=float(sigma_used[0]) if single and sigma_used is not None else sigma_used,
        sigma_estimated=estimated,
        error_bound=float(bounds[0]) if single else bounds,
        certificate=weakest(info.certificate for info in infos),
        infos=infos,
        at_end=compared.size > 1 and bool(np.isin(criterion.chosen, (0, compared.size - 1)).any()),
    )


def _compare(
    L: Laplacian,
    f: FloatArray,
    make: Callable[[float], Response],
    select: str,
    sigma: FloatArray | None,
    shared: bool,
    n_probes: int,
    rng: np.random.Generator,
    tol: float,
    strengths: FloatArray,
) -> tuple[Criterion, Traces]:
    """Return the criterion of checked signals at the given strengths, and the filters' degrees of freedom."""
    responses = [make(float(s)) for s in strengths]
    residual_polynomials, noise_polynomials = residual_forms(select, make, strengths, responses)
    wanted = [*(plain(g) for g in responses), *noise_polynomials]
    traces = estimate_traces(L, wanted, responses[-1], n_probes, rng, tol=tol)
    freedom, noise = traces[: len(responses)], traces[len(responses) :]
    forms = quadratic_forms(L, residual_polynomials, f, tol=tol)
    energies = np.maximum(forms.values, 0.0)
    errors = form_errors(select, energies, column_norms(f), forms.series_errors)
    if shared:
        energies, errors = energies.mean(axis=1, keepdims=True), errors.mean(axis=1, keepdims=True)
        sigma = None if sigma is None else np.sqrt((sigma**2).mean(keepdims=True))
    criterion = evaluate_criterion(select, energies, errors, noise, L.n_vertices, sigma)
    if not np.isfinite(criterion.values).any(axis=0).all():
        raise ValueError(
            "`strengths` must hold one at which the filter removes more degrees of freedom than rounding and the error "
            f"of its estimated trace, got {_range(strengths)}; give larger ones, or select='sure'"
        )
    return criterion, freedom


def _apply(
    L: Laplacian, make: Callable[[float], Response], f: Array, strengths: FloatArray, tol: float
) -> tuple[Array, FloatArray, tuple[FilterInfo, ...]]:
    """Filter each signal with its strength; return bounds for each signal and what is known for each strength."""
    columns = f.reshape(f.shape[0], -1)
    signals, bounds, infos = np.empty_like(columns), np.empty(columns.shape[1]), []
    for strength in np.unique(strengths):
        mine = strengths == strength
        g = GraphFilter(L, make(float(strength)), method="auto", tol=tol)
        signals[:, mine], info = g.filter(columns[:, mine], return_info=True)
        bounds[mine] = info.error_bound
        infos.append(info)
    return signals.reshape(f.shape), bounds, tuple(infos)


def _check_sigma(sigma: Any, f: Array, select: str) -> FloatArray:
    """Return one positive noise level per signal."""
    n_signals = 1 if f.ndim == 1 else f.shape[1]
    levels = np.asarray(sigma)
    if levels.dtype.kind not in "biuf":
        raise TypeError(f"`sigma` must be real numbers, got dtype {levels.dtype}")
    if levels.shape not in ((), (n_signals,)):
        raise ValueError(f"`sigma` must be one number or have shape ({n_signals},), got shape {levels.shape}")
    bad = ~(np.isfinite(levels) & (levels > 0))
    if bad.any():
        raise ValueError(f"`sigma` must be positive and finite, got {levels[bad].flat[0]:g}")
    if select not in NEED_SIGMA:
        users = f"{', '.join(map(repr, NEED_SIGMA[:-1]))} and {NEED_SIGMA[-1]!r}"
        raise ValueError(f"`sigma` must not be given with select={select!r}, which does not use it; {users} do")
    return np.broadcast_to(levels.astype(np.float64), (n_signals,)).copy()


def _range(values: float | FloatArray) -> str:
    low, high = float(np.min(values)), float(np.max(values))
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
