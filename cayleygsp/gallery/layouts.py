"""Layouts of vertices without coordinates."""

from __future__ import annotations

import numpy as np

from cayleygsp._typing import FloatArray, IntArray

_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))

# Points of a sunflower at radius √(k + ½) are at least 1.54 apart.
SUNFLOWER_GAP = 1.54


def sunflower(n_points: int) -> FloatArray:
    """Return points that fill a disc evenly, from its centre outwards."""
    k = np.arange(n_points)
    return _polar(np.sqrt(k + 0.5), k * _GOLDEN_ANGLE)


def disc_coords(sizes: IntArray, labels: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return random points in discs, one per group, of area as the size, centres on a sunflower."""
    radius = np.sqrt(sizes)
    # Centres are at least 2.4 times the largest radius apart.
    centres = 2.4 / SUNFLOWER_GAP * radius.max() * sunflower(len(sizes))
    offset = _polar(radius[labels] * np.sqrt(rng.random(len(labels))), 2 * np.pi * rng.random(len(labels)))
    return centres[labels] + offset


def _polar(radius: FloatArray, angle: FloatArray) -> FloatArray:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
