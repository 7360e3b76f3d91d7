"""What a fit minimises: frequencies, weights and values of the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from cayleygsp._typing import ArrayLike, FloatArray, Kernel
from cayleygsp._validation import check_choice, check_eigenvalues, check_not_negative
from cayleygsp.density import EXACT_VERTICES, SpectralDensity, spectral_density
from cayleygsp.design.target import Target, as_target
from cayleygsp.laplacians import Laplacian

Norm: TypeAlias = Literal["least-squares", "minimax"]

NORMS: tuple[Norm, ...] = ("least-squares", "minimax")

# What the largest distance is asked over: the computed eigenvalues of a graph, given frequencies, or all of [0, lmax].
Over: TypeAlias = Literal["eigenvalues", "frequencies", "interval"]

Weight: TypeAlias = SpectralDensity | Kernel | ArrayLike | None

GraphWeight: TypeAlias = Weight | Literal["auto", "spectrum", "density", "uniform"]

# The share of the weight that goes to all frequencies where only an estimate of the density is known, half of it evenly
# and half of it evenly over the octaves: no frequency is free.
_FLOOR = 0.05

# How far inside its end, relative to it, a piece of a target is looked at; and the weight of that point.
_INWARDS = 1e-12

# Panels of the interval are halved towards zero this many times: large zooms look there.
_HALVINGS = 24


_gauss_legendre = lru_cache(maxsize=64)(np.polynomial.legendre.leggauss)


@dataclass(frozen=True, eq=False)
class Problem:
    """A target at the frequencies that matter.

    The nodes, their weights in the fit and in the mean distance, each summing to 1, and the values of the target there
    leave out what lies in transition bands; ``points`` are all frequencies. The eigenvalues may be off the points by
    the ``uncertainty``.
    """

    target: Target
    lmax: float
    nodes: FloatArray
    weights: FloatArray
    values: FloatArray
    mean_weights: FloatArray
    points: FloatArray
    over: Over
    is_free_somewhere: bool
    is_estimated: bool
    uncertainty: float


def graph_weight(L: Laplacian, weight: GraphWeight = "auto", rng: np.random.Generator | int | None = None) -> Weight:
    """Return the weight of a fit for one graph, as ``CayleyFilter.fit`` describes it; ``rng`` is for the density."""
    if not isinstance(weight, str):
        return weight
    check_choice(weight, "weight", ("auto", "spectrum", "density", "uniform"))
    if weight == "auto":
        weight = "spectrum" if L.has_eigenbasis or L.n_vertices <= EXACT_VERTICES else "density"
    if weight == "uniform":
        return None
    return spectral_density(L, method="exact" if weight == "spectrum" else "kpm", rng=rng)


def make_problem(given: Kernel | str, lmax: float, weight: Weight, n_points: Callable[[float, float], int]) -> Problem:
    """Check target and weight, and evaluate them where they matter."""
    lmax = check_not_negative(lmax, "lmax")
    target = as_target(given, lmax)
    points, even = interval_quadrature(lmax, target.features, n_points)
    # the ends of the pieces, where the largest distance is often met, with next to no weight
    pieces = [p for p in target.pieces(lmax) if p.low < p.high]
    ends = [end for p in pieces for end in (p.low * (1 + _INWARDS), p.high * (1 - _INWARDS))]
    points, even = np.append(points, ends), np.append(even, np.full(len(ends), _INWARDS))
    nodes, weights, floor, over = _nodes_and_weights(weight, lmax, points, even)
    matters = target.weight(nodes)
    mean_weights = weights * matters
    weights = mean_weights if floor is None else (1 - _FLOOR) * mean_weights + _FLOOR * floor * matters
    kept = weights > 0
    if not kept.any():
        raise ValueError("`weight` must be positive somewhere outside the transition bands of the target, got none")
    all_nodes, nodes, weights, mean_weights = nodes, nodes[kept], weights[kept], mean_weights[kept]
    return Problem(
        target=target,
        lmax=lmax,
        nodes=nodes,
        weights=weights / weights.sum(),
        values=target(nodes),
        mean_weights=mean_weights / mean_weights.sum() if mean_weights.any() else weights / weights.sum(),
        points=all_nodes,
        over=over,
        is_free_somewhere=bool((matters == 0).any()),
        is_estimated=isinstance(weight, SpectralDensity) and not weight.exact,
        uncertainty=weight.uncertainty if isinstance(weight, SpectralDensity) else 0.0,
    )


def _nodes_and_weights(
    weight: Weight, lmax: float, points: FloatArray, even: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray | None, Over]:
    """Return frequencies, their weights, the weights of a floor below them, and what the distance is asked over.

    Points of the whole interval are given with weights that count it evenly.
    """
    if isinstance(weight, SpectralDensity):
        nodes = _inside(weight.nodes, lmax, "the nodes of `weight`")
        if weight.exact:
            return nodes, weight.weights, None, "eigenvalues"
        # the points of the whole interval are added, with weight in the floor alone
        octaves = even / np.maximum(points, 2.0**-_HALVINGS * lmax) if lmax else even
        floor = (even + octaves / octaves.sum()) / 2
        floor = np.append(np.where(nodes == 0, floor.mean(), 0.0), floor)
        return np.append(nodes, points), np.append(weight.weights, np.zeros(points.size)), floor, "interval"
    if weight is None:
        return points, even, None, "interval"
    if callable(weight):
        return points, even * _factor(weight, points), None, "interval"
    if isinstance(weight, str):
        raise TypeError(f"`weight` must be None, a SpectralDensity, a callable or frequencies, got {weight!r}")
    lam = check_eigenvalues(weight)
    if lam.ndim != 1 or lam.size == 0:
        raise ValueError(f"`weight`, if frequencies, must have shape (n,), got {lam.shape}")
    nodes = _inside(lam.astype(np.float64), lmax, "frequencies in `weight`")
    return nodes, np.full(nodes.size, 1 / nodes.size), None, "frequencies"


def _factor(weight: Kernel, nodes: FloatArray) -> FloatArray:
    """Return the values of a weight function."""
    factor = np.asarray(weight(nodes))
    if factor.shape != nodes.shape or factor.dtype.kind not in "biuf":
        raise ValueError(
            f"`weight` must return one real number for each frequency: for shape {nodes.shape} it returned "
            f"shape {factor.shape} with dtype {factor.dtype}"
        )
    bad = factor[~(np.isfinite(factor) & (factor >= 0))]
    if bad.size:
        raise ValueError(f"`weight` must return finite numbers that are not negative, got {bad[0]:g}")
    return factor.astype(np.float64)


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

    ``n_points`` tells how many a panel from a to b has, both relative to lmax.
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
