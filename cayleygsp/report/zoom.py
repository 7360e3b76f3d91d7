"""The section on the spectral zoom: what zooms do to the lowest frequencies, as numbers, a table and pictures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cayleygsp import zoom
from cayleygsp._html import Picture, Section, Table, new_figure
from cayleygsp.report.frequencies import ZOOM_SHARES, Frequencies, FrequencyCertificate, certified_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ZoomRow:
    """What one zoom does to the lowest frequencies."""

    zoom: float
    n_lowest: int
    # The largest of them, the share of the half circle up to it, and what is known of both.
    frequency: float
    certificate: FrequencyCertificate
    circle_share: float
    # Share of the half circle between the two that are nearest to each other: many may be squeezed together in a large
    # share. None where they are not known.
    smallest_gap: float | None
    # dθ/dλ at the largest of them, in radians per unit of frequency, and that of the best zoom for it.
    resolution: float
    best_resolution: float
    # Order that tells the largest of them from the next frequency; None where frequencies are not known or equal.
    gap_order: int | None


def suggested_zooms(frequencies: Frequencies) -> list[float]:
    """Return zooms that give half of the half circle to the lowest 50, 10 and 1 % of the positive frequencies.

    The graph must have edges.
    """
    zooms = [zoom.best_zoom(0.0, frequencies.at_positive_share(share)) for share in ZOOM_SHARES]
    # on small graphs, and at eigenvalues of high multiplicity, they may be the same but for rounding
    return list({f"{h:.9g}": h for h in zooms}.values())


def zoom_rows(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> list[ZoomRow]:
    """Return what each zoom does to the lowest frequencies, at most as many as there are vertices."""
    m, lam = n_lowest, frequencies.eigenvalues
    lowest = frequencies.lowest(m)
    last, values = lowest.last, lowest.values
    following = None
    if lam is not None and m < lam.size and lam[m] - lam[m - 1] > 1e-10 * lam[-1]:
        following = float(lam[m])
    return [
        ZoomRow(
            zoom=float(h),
            n_lowest=m,
            frequency=last,
            certificate=lowest.certificate,
            circle_share=float(zoom.angles([last], h)[0] / np.pi + 1),
            smallest_gap=None if values is None or m < 2 else float(np.diff(zoom.angles(values, h)).min() / np.pi),
            resolution=float(zoom.resolution(last, h)),
            best_resolution=1 / last if last > 0 else math.inf,
            gap_order=zoom.separating_order(last, following, h) if following else None,
        )
        for h in zooms
    ]


def zoom_table(rows: Sequence[ZoomRow]) -> Table:
    """Put the rows into a table."""
    m = rows[0].n_lowest
    header = [
        "zoom h",
        f"half circle up to {'the lowest frequency' if m == 1 else f'frequency {m:,}'}",
        "smallest gap below it",
        "dθ/dλ there",
        "best possible",
        "order for the gap above",
    ]
    cells = [
        [
            f"{row.zoom:.4g}",
            _share_text(row),
            _gap_text(row),
            f"{row.resolution:.3g}",
            "unbounded" if math.isinf(row.best_resolution) else f"{row.best_resolution:.3g}",
            "–" if row.gap_order is None else f"{row.gap_order:,}",
        ]
        for row in rows
    ]
    return Table(header, cells, n_text=0)


def _share_text(row: ZoomRow) -> str:
    """Write a share in per cent: an upper bound is rounded up, and one below 1 never reads as all."""
    percent = 100 * row.circle_share
    if row.certificate == "at most":
        return f"at most {math.ceil(10 * percent) / 10:.1f} %"
    text = f"{percent:.1f}"
    text = "over 99.9 %" if text == "100.0" and percent < 100 else f"{text} %"
    return text if row.certificate == "exact" else f"about {text}"


def _gap_text(row: ZoomRow) -> str:
    """Write the smallest gap; gaps between upper bounds are no bounds."""
    if row.smallest_gap is None:
        return "–"
    return f"{'' if row.certificate == 'exact' else 'about '}{100 * row.smallest_gap:.2g} %"


def draw_half_circles(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> Figure:
    """Draw the spectrum on the half circle, one panel per zoom, at most three in a row."""
    from cayleygsp import plotting

    points = frequencies.points()
    n_marked = round(n_lowest / frequencies.n_vertices * points.size)
    n_columns = min(len(zooms), 3)
    n_rows = -(-len(zooms) // n_columns)
    figure = new_figure(1.5 * n_rows)
    axes = figure.subplots(n_rows, n_columns, squeeze=False).reshape(-1)
    for ax, h in zip(axes, zooms, strict=False):
        plotting.half_circle(points, h, n_marked=n_marked, ax=ax, legend=frequencies.eigenvalues is not None)
    for ax in axes[len(zooms) :]:
        ax.remove()
    return figure


def zoom_section(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> tuple[Section, dict[str, Any]]:
    """Return the section on the half circle and the resolution of each zoom, and its numbers."""
    from cayleygsp import plotting

    rows = zoom_rows(frequencies, zooms, n_lowest)
    lowest = "The lowest frequency goes" if n_lowest == 1 else f"The lowest {n_lowest:,} frequencies go"
    text = (
        "A Cayley polynomial sees the frequency λ at C(hλ) = (hλ − i)/(hλ + i) on the unit circle. The zoom h decides "
        f"which frequencies get most of the circle. {lowest} up to "
        f"{certified_text(rows[0].frequency, rows[0].certificate)}. The smallest gap is the least distance of two "
        "neighbours among them: a large share of the half circle may hold most of them squeezed together."
    )
    known = frequencies.eigenvalues is not None
    what = "every frequency" if known else "one point for each hundredth of the frequencies, estimated"
    diamonds = "is a diamond" if n_lowest == 1 else f"{n_lowest:,} are diamonds"
    circles = Picture.from_figure(
        "spectrum",
        draw_half_circles(frequencies, zooms, n_lowest),
        "Half circles with frequencies on them; the lowest move from the left end to the right as the zoom grows.",
        f"The spectrum on the half circle, {what}; the lowest {diamonds}. Zero is at the left end at every zoom.",
    )
    figure = new_figure(3.2)
    plotting.resolution(zooms, frequencies.density.lmax, eigenvalues=frequencies.points(), ax=figure.subplots())
    resolution = Picture.from_figure(
        "resolution",
        figure,
        "One falling curve per zoom, each touching the line of the best possible resolution at one frequency.",
        "How far apart the zooms put neighbouring frequencies. No zoom is above the grey line.",
    )
    closing = (
        "The order for the gap is that of a polynomial that is 1 at the last of the lowest frequencies, 0 at the next, "
        "and nowhere beyond ±1."
        if any(row.gap_order is not None for row in rows)
        else "Orders for the gap above the lowest frequencies need the frequencies themselves, and a gap."
    )
    section = Section("Spectral zoom", [text], [circles, resolution], zoom_table(rows), [closing])
    return section, {"zoom": [asdict(row) for row in rows]}
