"""The picture of the decay of a filter."""

from __future__ import annotations

from matplotlib.figure import Figure

from cayleygsp import plotting
from cayleygsp.localization import Decay
from cayleygsp.report.figures import WIDTH


def draw_decay(curve: Decay) -> Figure:
    """Draw masses outside k hops, measured, fitted and proved."""
    figure = Figure(figsize=(WIDTH, 4.1), layout="constrained")
    plotting.decay(curve, ax=figure.subplots())
    return figure
