"""What is on axes, for the tests of pictures."""

from __future__ import annotations

import numpy as np
from matplotlib.collections import LineCollection


def collections_of(ax, kind):
    return [c for c in ax.collections if isinstance(c, kind)]


def line_positions(ax):
    """Return the x positions of the vertical lines at frequencies, one array per collection."""
    parts = collections_of(ax, LineCollection)
    return [np.array([segment[0, 0] for segment in part.get_segments()]) for part in parts]


def named_lines(ax):
    """Return the lines by their labels."""
    return {line.get_label(): line for line in ax.lines}
