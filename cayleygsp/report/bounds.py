"""The section on error bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from cayleygsp import bounds, plotting
from cayleygsp._html import Picture, Section, Table
from cayleygsp.laplacians import Laplacian
from cayleygsp.report.bound_numbers import BoundRow, Needs
from cayleygsp.report.density import WIDTH
from cayleygsp.responses.cayley import CayleyPolynomial


def bound_table(rows: Sequence[BoundRow]) -> Table:
    """Put the rows into a table."""
    header = ["sweeps K", "products", "measured", "sharp", "safe", "paper", "paper proved", "series, as many products"]
    cells = [
        [
            f"{row.n_iter:,}",
            f"{row.n_matvecs:,}",
            "–" if row.measured is None else f"{row.measured:.1e}",
            f"{row.sharp:.1e}",
            f"{row.safe:.1e}",
            f"{row.paper:.1e}",
            "yes" if row.paper_valid else "no",
            "–" if row.series is None else f"{row.series:.1e}",
        ]
        for row in rows
    ]
    return Table(header, cells, n_text=0)


def draw_bounds(rows: Sequence[BoundRow]) -> Figure:
    """Draw measured errors and bounds over the number of sweeps; all rows must be measured."""
    figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
    curves: dict[str, list[float]] = {kind: [getattr(row, kind) for row in rows] for kind in bounds.BOUND_KINDS}
    plotting.bounds(
        [row.n_iter for row in rows],
        [row.measured for row in rows],  # type: ignore[arg-type]
        curves,
        rounding=[row.rounding for row in rows],
        ax=figure.subplots(),
    )
    return figure


def bounds_section(L: Laplacian, polynomial: CayleyPolynomial, rows: Sequence[BoundRow], needed: Needs) -> Section:
    """Show what is proved of the Jacobi scheme, what was measured, and what an error takes."""
    text = (
        f"The paper applies a Cayley filter by K Jacobi sweeps a power. For this filter and zoom κ = "
        f"{bounds.kappa(L, polynomial.zoom):.4g}. Errors are ‖Gf − y‖/‖f‖, measured on one signal. “Paper” is "
        "Proposition 1 as printed, which is not always true; “safe” is what its proof proves; “sharp” holds on every "
        "graph and needs no √n."
    )
    picture = Picture.from_figure(
        "bounds",
        draw_bounds(rows),
        "Measured errors as dots below curves of the bounds, over the number of sweeps.",
        "Error of the Jacobi scheme and bounds of it, over the number of sweeps.",
    )
    n_below = sum(row.measured is not None and row.measured <= row.sharp + row.rounding for row in rows)
    closing = f"The measured error is below the sharp bound in {n_below} of {len(rows)} rows. {say_needs(needed)}"
    return Section("What Jacobi sweeps are off by", [text], [picture], bound_table(rows), [closing])


def say_needs(needed: Needs) -> str:
    """Say in words what an error takes."""
    names = {"sharp": needed.sharp, "safe": needed.safe, "paper": needed.paper}
    parts = [f"{'no known number' if K is None else f'{K:,}'} by the {kind} bound" for kind, K in names.items()]
    sweeps = f"An error of {format_tol(needed.atol)} takes, in sweeps a power, {', '.join(parts)}."
    degree = (
        "A Chebyshev series would have millions of terms."
        if needed.series_degree is None
        else f"A Chebyshev series takes {counted(needed.series_degree, 'product')} for all powers."
    )
    zoom_ = needed.affordable_zoom
    served = "no zoom is" if zoom_ == 0 else "every zoom is" if zoom_ == math.inf else f"zooms up to {zoom_:.3g} are"
    return f"{sweeps} {degree} With {counted(needed.n_iter, 'sweep')} {served} proved to keep it."


def counted(n: int, word: str) -> str:
    """Return a number and its word, in the plural where it is one."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def format_tol(tol: float) -> str:
    """Write a tolerance: 1e-3 and 1e-6, not 0.001 and 1e-06."""
    mantissa, exponent = f"{tol:.2e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"
