"""The picture of error bounds."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from cayleygsp import bounds, plotting
from cayleygsp.report.bound_numbers import BoundRow
from cayleygsp.report.figures import WIDTH


def draw_bounds(rows: Sequence[BoundRow]) -> Figure:
    """Draw measured errors and bounds over the number of sweeps; all rows must be measured."""
    figure = Figure(figsize=(WIDTH, 3.9), layout="constrained")
    plotting.bounds(
        [row.n_iter for row in rows],
        [float("nan") if row.measured is None else row.measured for row in rows],
        {kind: [getattr(row, kind) for row in rows] for kind in bounds.BOUND_KINDS},
        rounding=[row.rounding + (row.reference_bound or 0.0) for row in rows],
        floor=max(row.reference_bound or 0.0 for row in rows),
        gain=rows[0].gain,
        ax=figure.subplots(),
    )
    return figure
