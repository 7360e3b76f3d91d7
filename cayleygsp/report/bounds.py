"""The section on error bounds."""

from __future__ import annotations

from collections.abc import Sequence

from cayleygsp._html import Picture, Section
from cayleygsp.laplacians import Laplacian
from cayleygsp.report.bound_figure import draw_bounds
from cayleygsp.report.bound_numbers import BoundRow, Needs
from cayleygsp.report.bound_text import bound_table, gain_text, kappa_text, needs_text
from cayleygsp.responses.cayley import CayleyPolynomial

__all__ = ["bound_table", "bounds_section", "draw_bounds", "needs_text"]


def bounds_section(L: Laplacian, polynomial: CayleyPolynomial, rows: Sequence[BoundRow], needed: Needs) -> Section:
    """Return the section on the Jacobi scheme: proved bounds, measured errors, and the sweeps that keep an error."""
    text = (
        "The paper applies a Cayley filter by K Jacobi sweeps per power. For this filter and zoom "
        f"κ {_equals(kappa_text(L, polynomial.zoom))}. Errors are ‖Gf − y‖/‖f‖, measured on one signal against a "
        "reference whose own error is certified; what is below that error reads “below”. “Paper” is Proposition 1 as "
        "printed, which is not always true; “safe” is what its proof proves; “sharp” holds on every graph and needs no "
        "√n. All bounds are of exact arithmetic."
    )
    picture = Picture.from_figure(
        "bounds",
        draw_bounds(rows),
        "Measured errors as dots below curves of the bounds, over the number of sweeps; a line at the gain.",
        "Error of the Jacobi scheme and bounds of it, over the number of sweeps. Bounds above the line at the gain are "
        "empty; triangles at the upper edge stand for values off the scale.",
    )
    within = sum(_is_within(row) for row in rows)
    closing = (
        f"The measured error is within the sharp bound, rounding and the error of the reference added, in {within} of "
        f"{len(rows)} rows. {gain_text(rows)}"
    )
    return Section("Error of Jacobi sweeps", [text], [picture], bound_table(rows), [closing, needs_text(needed)])


def _is_within(row: BoundRow) -> bool:
    return row.measured is not None and row.measured <= row.sharp + row.rounding + (row.reference_bound or 0.0)


def _equals(text: str) -> str:
    return f"is {text}" if text[-1].isalpha() else f"= {text}"
