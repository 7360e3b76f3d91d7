"""The picture of a filter designed for a graph."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from cayleygsp import plotting
from cayleygsp.design import Fit, Target
from cayleygsp.report.figures import WIDTH
from cayleygsp.report.frequencies import Frequencies


def draw_fits(target: Target | str, fits: Mapping[str, Fit], lmax: float, frequencies: Frequencies | None) -> Figure:
    """Draw a target and the responses fitted to it over the logarithm of frequency."""
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    points = None if frequencies is None else frequencies.points()
    named = {f"{name}, order {fit.polynomial.order}": fit for name, fit in fits.items()}
    plotting.fit(target, named, lmax, eigenvalues=points, log=True, ax=figure.subplots())
    return figure
