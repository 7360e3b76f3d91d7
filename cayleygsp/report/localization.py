"""The section on localization."""

from __future__ import annotations

from cayleygsp._html import Picture, Section
from cayleygsp.localization import Decay
from cayleygsp.report.mass_figure import draw_decay
from cayleygsp.report.mass_numbers import decay_numbers
from cayleygsp.report.mass_text import decay_table, decay_text

__all__ = ["decay_numbers", "decay_section", "decay_table", "decay_text", "draw_decay"]


def decay_section(curve: Decay, vertex: int) -> Section:
    """Return the section on the decay of the filter around one vertex."""
    text = (
        f"The filter seen from vertex {vertex:,}: how much of the 2-norm of its answer to a unit impulse there is more "
        "than k hops away. A Cayley filter can reach every vertex of the component."
    )
    picture = Picture.from_figure(
        "decay",
        draw_decay(curve),
        "Dots that fall with the number of hops, a line through them, and curves above them that are proved.",
        "Relative mass outside k hops: measured, fitted by an exponential, and bounded. No relative mass is above 1: "
        "bounds above the line there are empty.",
    )
    return Section("How far the filter reaches", [text], [picture], decay_table(curve), [decay_text(curve)])
