"""The section on the spectral zoom."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from cayleygsp import plotting
from cayleygsp._html import Picture, Section, Table
from cayleygsp.report.density import WIDTH
from cayleygsp.report.frequencies import Frequencies
from cayleygsp.report.zoom_numbers import ZoomRow, zoom_rows


def zoom_table(rows: Sequence[ZoomRow]) -> Table:
    """Put the rows into a table."""
    m = rows[0].n_lowest
    last = "the lowest" if m == 1 else f"frequency {m:,}"
    # gaps between upper bounds are no bounds
    about = "" if rows[0].certificate == "exact" else "about "
    header = [
        "zoom h",
        f"half circle up to {last}",
        "smallest gap below it",
        "dθ/dλ there",
        "best possible",
        "order for the gap above",
    ]
    cells = [
        [
            f"{row.zoom:.4g}",
            _share_text(row),
            "–" if row.smallest_gap is None else f"{about}{100 * row.smallest_gap:.2g} %",
            f"{row.resolution:.3g}",
            f"{row.best_resolution:.3g}",
            "–" if row.gap_order is None else f"{row.gap_order:,}",
        ]
        for row in rows
    ]
    return Table(header, cells, n_text=0)


def _share_text(row: ZoomRow) -> str:
    """Return the share of the half circle, rounded up where it is an upper bound."""
    percent = 100 * row.circle_share
    if row.certificate == "at most":
        return f"at most {math.ceil(10 * percent) / 10:.1f} %"
    return f"{percent:.1f} %" if row.certificate == "exact" else f"about {percent:.1f} %"


def draw_half_circles(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> Figure:
    """Draw the spectrum on the half circle, one panel a zoom, at most three beside each other."""
    points = frequencies.points()
    n_marked = round(n_lowest / frequencies.n_vertices * points.size)
    n_columns = min(len(zooms), 3)
    n_rows = -(-len(zooms) // n_columns)
    figure = Figure(figsize=(WIDTH, 1.5 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).reshape(-1)
    for ax, h in zip(axes, zooms, strict=False):
        plotting.half_circle(points, h, n_marked=n_marked, ax=ax, legend=frequencies.eigenvalues is not None)
    for ax in axes[len(zooms) :]:
        ax.set_axis_off()
    return figure


def draw_resolution(frequencies: Frequencies, zooms: Sequence[float]) -> Figure:
    """Draw dθ/dλ over frequency for several zooms."""
    figure = Figure(figsize=(WIDTH, 3.2), layout="constrained")
    plotting.resolution(zooms, frequencies.density.lmax, eigenvalues=frequencies.points(), ax=figure.subplots())
    return figure


def zoom_section(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> tuple[Section, list[ZoomRow]]:
    """Show the spectrum on the half circle and what each zoom resolves."""
    rows = zoom_rows(frequencies, zooms, n_lowest)
    known = frequencies.eigenvalues is not None
    lowest = "The lowest frequency goes" if n_lowest == 1 else f"The lowest {n_lowest:,} frequencies go"
    text = (
        "A Cayley polynomial sees the frequency λ at C(hλ) = (hλ − i)/(hλ + i) on the unit circle. The zoom h decides "
        f"which frequencies get room there. {lowest} up to {rows[0].frequency_text}. "
        "The smallest gap is the least distance of two neighbours among them: a large share of the half circle may "
        "hold most of them squeezed together."
    )
    what = "every frequency" if known else "one point for each hundredth of the frequencies, estimated"
    diamonds = "is a diamond" if n_lowest == 1 else f"{n_lowest:,} are diamonds"
    circles = Picture.from_figure(
        "spectrum",
        draw_half_circles(frequencies, zooms, n_lowest),
        "Half circles with frequencies on them; the lowest move from the left end to the right as the zoom grows.",
        f"The spectrum on the half circle, {what}; the lowest {diamonds}.",
    )
    resolution = Picture.from_figure(
        "resolution",
        draw_resolution(frequencies, zooms),
        "One falling curve a zoom, each touching the line of the best possible resolution at one frequency.",
        "How far apart the zooms put neighbouring frequencies. No zoom is above the grey line.",
    )
    closing = (
        "The order for the gap is that of a polynomial that is 1 at the last of the lowest frequencies, 0 at the next, "
        "and nowhere beyond ±1."
        if any(row.gap_order is not None for row in rows)
        else "Orders for the gap above the lowest frequencies need the frequencies themselves, and a gap."
    )
    return Section("Spectral zoom", [text], [circles, resolution], zoom_table(rows), [closing]), rows
