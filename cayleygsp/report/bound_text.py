"""Error bounds as a table and in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from cayleygsp import bounds
from cayleygsp._format import (
    counted,
    format_at_least,
    format_at_most,
    format_bound,
    format_measured,
    format_rate,
    format_tol,
)
from cayleygsp._html import Table
from cayleygsp.laplacians import Laplacian
from cayleygsp.report.bound_numbers import BoundRow, Needs, kappa_gap


def bound_table(rows: Sequence[BoundRow]) -> Table:
    """Put the rows into a table."""
    header = ["sweeps K", "products", "measured", "sharp", "safe", "paper", "paper proved", "series, as many products"]
    cells = [
        [
            f"{row.n_iter:,}",
            f"{row.n_matvecs:,}",
            "–" if row.measured is None else format_measured(row.measured, row.reference_bound or 0.0),
            format_bound(row.sharp),
            format_bound(row.safe),
            f"{row.paper:.1e}",
            "yes" if row.paper_valid else "no",
            "–" if row.series is None else format_bound(row.series),
        ]
        for row in rows
    ]
    return Table(header, cells, n_text=0)


def kappa_text(L: Laplacian, zoom: float) -> str:
    """Return the paper's κ; one below 1 never reads as 1.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.report.bound_text import kappa_text
    >>> L = cg.laplacian(cg.gallery.ring(16))
    >>> kappa_text(L, 0.5), kappa_text(L, 1e5)
    ('0.7071', '1 − 1.2e-11')
    """
    gap = kappa_gap(L, zoom)
    return "1 within rounding" if gap == 0 else format_rate(bounds.kappa(L, zoom), gap=gap)


def gain_text(rows: Sequence[BoundRow]) -> str:
    """Return a sentence on which bounds say something: those below the gain."""
    gain = rows[0].gain
    counts = {kind: sum(getattr(row, kind) < gain for row in rows) for kind in ("sharp", "safe", "paper")}
    below = ", ".join(f"{kind} in {count}" for kind, count in counts.items())
    which = f"of {len(rows)} rows, {below}" if any(counts.values()) else "none in any row"
    return (
        f"The gain sup|g| is at most {format_at_most(gain)}. A bound above it is empty, as the signal 0 is "
        f"never off by more. Bounds below it: {which}."
    )


def needs_text(needed: Needs) -> str:
    """Return in words the sweeps, products and zooms that keep an error."""
    names = {"sharp": needed.sharp, "safe": needed.safe, "paper": needed.paper}
    parts = [f"{'no known number' if K is None else f'{K:,}'} by the {kind} bound" for kind, K in names.items()]
    sweeps = f"To keep an error of {format_tol(needed.atol)}, sweeps per power: {', '.join(parts)}."
    degree = (
        "A Chebyshev series would have millions of terms."
        if needed.series_degree is None
        else f"A Chebyshev series takes {counted(needed.series_degree, 'product')} for all powers."
    )
    zoom = needed.affordable_zoom
    if zoom is None:
        served = "no zoom is"
    else:  # larger ones are not proved
        served = "every zoom is" if needed.every_zoom else f"zooms up to {format_at_least(zoom, 3)} are"
    return f"{sweeps} {degree} With {counted(needed.n_iter, 'sweep')} {served} proved to keep it."
