"""The section on the spectral zoom."""

from __future__ import annotations

from collections.abc import Sequence

from cayleygsp._html import Picture, Section
from cayleygsp.report.frequencies import Frequencies
from cayleygsp.report.zoom_figure import draw_half_circles, draw_resolution
from cayleygsp.report.zoom_numbers import ZoomRow, zoom_rows
from cayleygsp.report.zoom_text import zoom_table

__all__ = ["draw_half_circles", "draw_resolution", "zoom_section", "zoom_table"]


def zoom_section(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> tuple[Section, list[ZoomRow]]:
    """Return the section on the spectral zoom: the half circle and the resolution of each zoom."""
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
        f"The spectrum on the half circle, {what}; the lowest {diamonds}. Zero is at the left end at every zoom.",
    )
    resolution = Picture.from_figure(
        "resolution",
        draw_resolution(frequencies, zooms),
        "One falling curve per zoom, each touching the line of the best possible resolution at one frequency.",
        "How far apart the zooms put neighbouring frequencies. No zoom is above the grey line.",
    )
    closing = (
        "The order for the gap is that of a polynomial that is 1 at the last of the lowest frequencies, 0 at the next, "
        "and nowhere beyond ±1."
        if any(row.gap_order is not None for row in rows)
        else "Orders for the gap above the lowest frequencies need the frequencies themselves, and a gap."
    )
    return Section("Spectral zoom", [text], [circles, resolution], zoom_table(rows), [closing]), rows
