"""The section on localization."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from cayleygsp import plotting
from cayleygsp._html import Picture, Section, Table
from cayleygsp.localization import Decay
from cayleygsp.report.bounds import counted
from cayleygsp.report.density import WIDTH


def draw_decay(curve: Decay) -> Figure:
    """Draw masses outside k hops, measured, fitted and proved."""
    figure = Figure(figsize=(WIDTH, 3.8), layout="constrained")
    plotting.decay(curve, ax=figure.subplots())
    return figure


def decay_table(curve: Decay) -> Table:
    """Put masses and bounds into a table; of many hops some are left out."""
    k = np.unique(np.round(np.linspace(0, curve.hops[-1], min(curve.hops.size, 9))).astype(int))
    header = ["hops", "measured", *(bound.name for bound in curve.bounds)]
    rows = [
        [f"{hop:,}", f"{curve.mass[hop]:.1e}", *(f"{bound.mass[hop]:.1e}" for bound in curve.bounds)]
        for hop in k.tolist()
    ]
    return Table(header, rows, n_text=0)


def say_decay(curve: Decay) -> str:
    """Say in words how fast the mass falls."""
    if curve.fit.n_points < 2:
        return "There are too few hops to fit a rate."
    small = curve.mass <= 0.01
    outside = (
        f"What is outside {counted(int(np.argmax(small)), 'hop')} is at most 1 % of the norm"
        if small.any()
        else "What is outside is more than 1 % of the norm however many hops are taken"
    )
    text = (
        f"{outside}. The fitted rate is γ = {curve.fit.gamma:.2f} a hop "
        f"(R² = {curve.fit.r_squared:.2f}, {curve.fit.n_points} points)"
    )
    theorem = curve.bound("theorem 4")
    return f"{text}; that of Theorem 4 is {theorem.gamma:.4f}." if theorem is not None else f"{text}."


def decay_section(curve: Decay, vertex: int) -> Section:
    """Show how far the filter reaches about one vertex."""
    text = (
        f"The filter seen from vertex {vertex:,}: how much of the 2-norm of its answer to a unit impulse there is more "
        "than k hops away. A Cayley filter reaches everywhere, but little of it is far."
    )
    picture = Picture.from_figure(
        "decay",
        draw_decay(curve),
        "Dots that fall with the number of hops, a line through them, and curves above them that are proved.",
        "Relative mass outside k hops: measured, fitted by an exponential, and bounded.",
    )
    return Section("How far the filter reaches", [text], [picture], decay_table(curve), [say_decay(curve)])


def decay_numbers(curve: Decay) -> dict[str, Any]:
    """Return a decay curve as numbers."""
    return {
        "hops": curve.hops.tolist(),
        "mass": curve.mass.tolist(),
        "floor": curve.floor,
        "fit": asdict(curve.fit),
        "bounds": {
            bound.name: {"mass": bound.mass.tolist(), "valid": bound.valid.tolist(), "gamma": bound.gamma}
            for bound in curve.bounds
        },
    }
