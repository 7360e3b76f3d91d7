"""Pictures of the spectral zoom."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from cayleygsp import plotting
from cayleygsp.report.figures import WIDTH
from cayleygsp.report.frequencies import Frequencies


def draw_half_circles(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> Figure:
    """Draw the spectrum on the half circle, one panel per zoom, at most three in a row."""
    points = frequencies.points()
    n_marked = round(n_lowest / frequencies.n_vertices * points.size)
    n_columns = min(len(zooms), 3)
    n_rows = -(-len(zooms) // n_columns)
    figure = Figure(figsize=(WIDTH, 1.5 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).reshape(-1)
    for ax, h in zip(axes, zooms, strict=False):
        plotting.half_circle(points, h, n_marked=n_marked, ax=ax, legend=frequencies.eigenvalues is not None)
    for ax in axes[len(zooms) :]:
        ax.remove()
    return figure


def draw_resolution(frequencies: Frequencies, zooms: Sequence[float]) -> Figure:
    """Draw dθ/dλ over frequency for several zooms."""
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    plotting.resolution(zooms, frequencies.density.lmax, eigenvalues=frequencies.points(), ax=figure.subplots())
    return figure
