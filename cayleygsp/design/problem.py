"""What a fit minimises: frequencies, weights and values of the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np

from cayleygsp._typing import ArrayLike, FloatArray, Kernel
from cayleygsp._validation import check_choice, check_eigenvalues, check_real
from cayleygsp.density import EXACT_VERTICES, SpectralDensity, spectral_density
from cayleygsp.design.parse import as_target
from cayleygsp.design.targets import Target
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.function import KernelResponse

Norm: TypeAlias = Literal["least-squares", "minimax"]


Weight: TypeAlias = SpectralDensity | Kernel | ArrayLike | None


GraphWeight: TypeAlias = Weight | Literal["auto", "spectrum", "density", "uniform"]


NORMS: tuple[Norm, ...] = ("least-squares", "minimax")


# Below this share of the mean weight, a point of a density counts for nothing.
_NEGLIGIBLE = 1e-6


# Panels of the interval are halved towards zero this many times: large zooms look there.
_HALVINGS = 24


@dataclass(frozen=True, eq=False)
class Problem:
    """A target at the frequencies that matter."""

    target: Callable[..., Any]
    lmax: float
    features: tuple[float, ...]
    nodes: FloatArray
    weights: FloatArray
    values: FloatArray


def graph_weight(L: Laplacian, weight: GraphWeight = "auto", rng: np.random.Generator | int | None = None) -> Weight:
    """Return what a fit for one graph should weigh by.

    Parameters
    ----------
    L : Laplacian
        The graph.
    weight : {"auto", "spectrum", "density", "uniform"} or what :func:`fit_cayley` takes
        "spectrum" for the eigenvalues, which must be computed; "density" for an estimate of their distribution;
        "uniform" for all frequencies alike; "auto" for the spectrum of a graph of up to 500 vertices or where it is
        known already, else the density.
    rng : numpy.random.Generator or int, optional
        For the probes of the density.
    """
    if not isinstance(weight, str):
        return weight
    check_choice(weight, "weight", ("auto", "spectrum", "density", "uniform"))
    if weight == "auto":
        weight = "spectrum" if L.has_eigenbasis or L.n_vertices <= EXACT_VERTICES else "density"
    if weight == "uniform":
        return None
    return L.eigenvalues if weight == "spectrum" else spectral_density(L, method="kpm", rng=rng)


def check_lmax(lmax: float) -> float:
    """Return ``lmax`` as a float if it is finite and not negative."""
    number = check_real(lmax, "lmax")
    if not (np.isfinite(number) and number >= 0):
        raise ValueError(f"`lmax` must be at least 0 and finite, got {lmax!r}")
    return number


def make_problem(target: Kernel | str, lmax: float, weight: Weight, n_points: Callable[[float, float], int]) -> Problem:
    """Check target and weight, and evaluate them where they matter."""
    lmax = check_lmax(lmax)
    function = as_target(target, lmax)
    features = function.features if isinstance(function, Target) else ()
    nodes, weights = _nodes_and_weights(weight, lmax, features, n_points)
    if isinstance(function, Target):
        weights = weights * function.weight(nodes)
    kept = weights > _NEGLIGIBLE * weights.sum() / weights.size if isinstance(weight, SpectralDensity) else weights > 0
    if not kept.any():
        raise ValueError("`weight` must be positive somewhere outside the transition bands of the target, got none")
    nodes, weights = nodes[kept], weights[kept]
    values = KernelResponse(function)(nodes)
    return Problem(function, lmax, features, nodes, weights / weights.sum(), values)


def _nodes_and_weights(
    weight: Weight, lmax: float, features: tuple[float, ...], n_points: Callable[[float, float], int]
) -> tuple[FloatArray, FloatArray]:
    if isinstance(weight, SpectralDensity):
        return _inside(weight.nodes, lmax, "the nodes of `weight`"), weight.weights
    if weight is None or callable(weight):
        nodes, weights = interval_quadrature(lmax, features, n_points)
        if weight is None:
            return nodes, weights
        factor = np.asarray(weight(nodes))
        if factor.shape != nodes.shape or factor.dtype.kind not in "biuf":
            raise ValueError(
                f"`weight` must return one real number for each frequency: for shape {nodes.shape} it returned "
                f"shape {factor.shape} with dtype {factor.dtype}"
            )
        if not (np.isfinite(factor) & (factor >= 0)).all():
            bad = float(factor[~(np.isfinite(factor) & (factor >= 0))][0])
            raise ValueError(f"`weight` must return finite numbers that are not negative, got {bad:g}")
        return nodes, weights * factor
    if isinstance(weight, str):
        raise TypeError(f"`weight` must be None, a SpectralDensity, a callable or frequencies, got {weight!r}")
    lam = check_eigenvalues(weight)
    if lam.ndim != 1 or lam.size == 0:
        raise ValueError(f"`weight`, if frequencies, must have shape (n,), got {lam.shape}")
    nodes = _inside(lam.astype(np.float64), lmax, "frequencies in `weight`")
    return nodes, np.full(nodes.size, 1 / nodes.size)


def _inside(lam: FloatArray, lmax: float, name: str) -> FloatArray:
    """Return frequencies within [0, lmax]; what is outside by rounding goes to the ends."""
    slack = 1e-8 * lmax + 1e-12
    outside = ~((lam >= -slack) & (lam <= lmax + slack))
    if outside.any():
        raise ValueError(f"{name} must be within 0 and `lmax` = {lmax:g}, got {lam[outside][0]:g}")
    return np.clip(lam, 0.0, lmax)


def interval_quadrature(
    lmax: float, features: tuple[float, ...], n_points: Callable[[float, float], int]
) -> tuple[FloatArray, FloatArray]:
    """Return Gauss–Legendre points and weights on panels of [0, lmax] that end at features and shrink towards zero.

    Parameters
    ----------
    lmax : float
        Right end.
    features : tuple of float
        Frequencies that no panel should have inside.
    n_points : callable
        The number of points for a panel from a to b.
    """
    if lmax == 0:
        return np.zeros(1), np.ones(1)
    edges = np.append(lmax * 0.5 ** np.arange(_HALVINGS + 1), [0.0, *(f for f in features if 0 < f < lmax)])
    edges = np.unique(edges)
    nodes, weights = [], []
    for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        x, w = _gauss_legendre(n_points(a / lmax, b / lmax))
        nodes.append(a + (b - a) * (x + 1) / 2)
        weights.append(w * (b - a) / 2)
    return np.concatenate(nodes), np.concatenate(weights) / lmax


@lru_cache(maxsize=64)
def _gauss_legendre(n_points: int) -> tuple[FloatArray, FloatArray]:
    return np.polynomial.legendre.leggauss(n_points)
