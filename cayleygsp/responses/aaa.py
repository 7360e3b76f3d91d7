r"""Rational approximation of a function from its samples: the AAA algorithm, and checks of its result.

AAA (Nakatsukasa, Sète and Trefethen, 2018; here scipy's) finds the poles. Those that lie on the interval belong to
no approximation but to rounding (Froissart doublets) and are dropped, the others are made real or conjugate, and their
residues are fitted anew. How far the result is from the function is looked at between the samples, ever more closely
where it is large, and where it is too large the function is sampled again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cayleygsp._typing import ComplexArray, FloatArray

Function = Callable[[FloatArray], FloatArray]

# Samples to start with: Chebyshev points, and as many again that come near to the ends by equal factors.
_N_START = 200

# The function is sampled until it changes by less than this share of its largest value between two samples.
_LARGEST_CHANGE = 0.05
_MOST_SAMPLES = 3000

# Times that samples are added where the distance peaks, those in a row that may be in vain, peaks, and poles at most.
_ROUNDS = 16
_PATIENCE = 4
_MOST_PEAKS = 100
_MOST_POLES = 60

# Poles whose imaginary part is smaller than this, relative to their size, are taken as real.
_REAL = 1e-10


@dataclass(frozen=True, eq=False)
class PartialFractions:
    """Partial fractions: poles with their residues, the constant, and the largest distance that was seen.

    Real poles come first, then the complex ones, each beside its conjugate.
    """

    poles: ComplexArray
    residues: ComplexArray
    constant: float
    distance: float


def approximate(function: Function, low: float, high: float, atol: float, places: FloatArray) -> PartialFractions:
    """Return partial fractions that were seen nowhere on [low, high] farther from a function than ``atol``, if any.

    What is returned tells its own distance and is the nearest that was found. ``places`` must be looked at.
    """
    z = _samples(function, low, high, places)
    best: PartialFractions | None = None
    share, n_worse = 0.5, 0
    for _ in range(_ROUNDS):
        f = function(z)
        fit = _fit(z, f, low, high, share * atol)
        where, distances = _look(function, fit, z, low, high)
        seen = float(distances.max())
        n_worse = 0 if best is None or seen < 0.7 * best.distance else n_worse + 1
        if best is None or seen < best.distance:
            best = PartialFractions(fit.poles, fit.residues, fit.constant, seen)
        if best.distance <= atol or n_worse > _PATIENCE:
            break
        if np.abs(_evaluate(fit, z) - f).max() > 0.9 * atol:  # not for want of samples
            share /= 4
        z = np.union1d(z, _peaks(where, distances, 0.3 * atol))
    assert best is not None
    return best


def _samples(function: Function, low: float, high: float, places: FloatArray) -> FloatArray:
    """Return points of the interval between which the function changes little."""
    chebyshev = np.sin((np.arange(_N_START) + 0.5) * np.pi / (2 * _N_START)) ** 2
    near = np.geomspace(1e-12, 0.5, _N_START // 2)
    inside = places[(places >= low) & (places <= high)]
    z = np.unique(np.concatenate([low + (high - low) * np.concatenate([chebyshev, near, 1 - near, [0, 1]]), inside]))
    for _ in range(50):
        f = function(z)
        change = np.abs(np.diff(f)) > _LARGEST_CHANGE * np.abs(f).max()
        middle = (z[:-1] + z[1:])[change] / 2
        if middle.size == 0 or z.size + middle.size > _MOST_SAMPLES:
            break
        z = np.union1d(z, middle)
    return z


def _peaks(points: FloatArray, distances: FloatArray, atol: float) -> FloatArray:
    """Return the points at which the distance is larger than beside them, and than some is allowed to be."""
    padded = np.concatenate([[-1.0], distances, [-1.0]])
    peaks = (distances >= padded[:-2]) & (distances >= padded[2:]) & (distances > atol)
    largest = np.argsort(distances[peaks])[-_MOST_PEAKS:]
    return points[peaks][largest]


def _fit(z: FloatArray, f: FloatArray, low: float, high: float, atol: float) -> PartialFractions:
    """Take the poles of AAA, leave out those on the interval, and fit the residues by least squares."""
    from scipy.interpolate import AAA

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # that it did not converge is seen in the distance
        largest = float(np.abs(f).max())
        p = AAA(z, f, rtol=max(atol / largest, 1e-14) if largest else 1.0, max_terms=_MOST_POLES).poles()
    p = p[np.isfinite(p)].astype(np.complex128)
    is_real = np.abs(p.imag) <= _REAL * np.maximum(np.abs(p), high - low)
    real = p[is_real].real
    real = real[(real < low) | (real > high)]
    upper = p[~is_real & (p.imag > 0)]
    poles = np.concatenate([real.astype(np.complex128), upper])
    columns, scale = [np.ones(z.size)], [1.0]
    for q in poles:
        d = abs(q - np.clip(q.real, low, high))
        term = d / (z - q)
        columns += [term.real] if q.imag == 0 else [term.real, term.imag]
        scale += [d] if q.imag == 0 else [d, d]
    x = np.linalg.lstsq(np.stack(columns, axis=1), f, rcond=1e-15)[0] * np.array(scale)
    a, b = x[1 + real.size :: 2], x[2 + real.size :: 2]
    pairs = (a - 1j * b) / 2  # a Re t + b Im t is Re((a - ib) t), half of it from each of the two poles
    return PartialFractions(
        np.concatenate([real, np.stack([upper, upper.conj()], axis=1).ravel()]),
        np.concatenate([x[1 : 1 + real.size], np.stack([pairs, pairs.conj()], axis=1).ravel()]),
        float(x[0]),
        np.inf,
    )


def _evaluate(fit: PartialFractions, z: FloatArray) -> FloatArray:
    total = np.full(z.shape, fit.constant)
    for p, r in zip(fit.poles, fit.residues, strict=True):
        total += (r / (z - p)).real
    return total


def _look(
    function: Function, fit: PartialFractions, z: FloatArray, low: float, high: float
) -> tuple[FloatArray, FloatArray]:
    """Return points between the samples and beside the poles, more of them where the distance is large, and it."""
    steps = np.array([0.5, 1.0, 2.0, 4.0])
    beside = [q.real + abs(q.imag) * np.concatenate([-steps, [0.0], steps]) for q in fit.poles if low < q.real < high]
    thirds = [z[:-1] + share * np.diff(z) for share in (0.21, 0.5, 0.79)]
    points = np.unique(np.clip(np.concatenate([z, *thirds, *beside]), low, high))
    distances = np.abs(_evaluate(fit, points) - function(points))
    for _ in range(3):
        worst = np.argsort(distances)[-16:]
        left, right = points[np.maximum(worst - 1, 0)], points[np.minimum(worst + 1, points.size - 1)]
        closer = (left + np.linspace(0.0, 1.0, 19)[1:-1, None] * (right - left)).ravel()
        points, kept = np.unique(np.concatenate([points, closer]), return_index=True)
        distances = np.concatenate([distances, np.abs(_evaluate(fit, closer) - function(closer))])[kept]
    return points, distances
