"""The noise level of a signal, from its highest frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayleygsp._format import ShortRepr
from cayleygsp._typing import Array, ArrayLike, FloatArray, GraphLike, LaplacianKind
from cayleygsp._validation import check_integer, check_signals
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.responses.steps import HighPass
from cayleygsp.tasks.traces import estimate_traces, plain, quadratic_forms

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
    check_edges(L)
    n_probes = check_integer(n_probes, "n_probes", at_least=2)
    # squares of signals of any size are numbers once the largest is about one
    exponent = int(np.frexp(np.abs(f).max())[1])
    block = np.ldexp(f.reshape(L.n_vertices, -1).astype(np.float64), -exponent)
    estimate = noise_level(L, block, n_probes, np.random.default_rng(rng))
    sigma, error = np.ldexp(estimate.sigma, exponent), np.ldexp(estimate.standard_error, exponent)
    if f.ndim == 2:
        return NoiseEstimate(sigma, error, estimate.cutoff, estimate.share)
    return NoiseEstimate(float(sigma[0]), float(error[0]), estimate.cutoff, estimate.share)


def noise_level(L: Laplacian, f: FloatArray, n_probes: int, rng: np.random.Generator) -> NoiseEstimate:
    """Return the estimate for checked signals of shape (n, m), one number per signal."""
    band, trace, trace_error = _high_band(L, n_probes, rng)
    energies = np.maximum(quadratic_forms(L, [plain(band)], f, tol=_TOL).values[0], 0.0)
    sigma = np.sqrt(energies / trace)
    # Gaussian noise has Var(zᵀhz) = 2 tr h² ≤ 2 tr h; a root halves relative errors
    relative = 0.5 * float(np.hypot(np.sqrt(2 / trace), trace_error / trace))
    return NoiseEstimate(sigma, sigma * relative, band.cutoff, trace / L.n_vertices)


def _high_band(L: Laplacian, n_probes: int, rng: np.random.Generator) -> tuple[HighPass, float, float]:
    """Return the high pass with the highest cutoff that lets enough frequencies through, its trace and that's error."""
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


def check_edges(L: Laplacian) -> None:
    """Reject a graph on which no signal is smoother than another."""
    if L.lmax == 0:
        raise ValueError("`graph` must have edges: without them no signal is smoother than another")
