"""What zooms do to the lowest frequencies, as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cayleygsp._html import Table
from cayleygsp.report.zoom_numbers import ZoomRow


def zoom_table(rows: Sequence[ZoomRow]) -> Table:
    """Put the rows into a table."""
    m = rows[0].n_lowest
    last = "the lowest frequency" if m == 1 else f"frequency {m:,}"
    gaps = [getattr(row, "smallest_gap", None) for row in rows]
    shows_gaps = any(gap is not None for gap in gaps)
    header = ["zoom h", f"half circle up to {last}", "dθ/dλ there", "best possible", "order for the gap above"]
    if shows_gaps:
        header.insert(2, "smallest gap below it")
    cells = []
    for row, gap in zip(rows, gaps, strict=True):
        line = [
            f"{row.zoom:.4g}",
            f"{certificate_word(row)}{_share_text(row.circle_share)}",
            f"{row.resolution:.3g}",
            "unbounded" if math.isinf(row.best_resolution) else f"{row.best_resolution:.3g}",
            "–" if row.gap_order is None else f"{row.gap_order:,}",
        ]
        if shows_gaps:
            line.insert(2, "–" if gap is None else f"{100 * gap:.2g} %")
        cells.append(line)
    return Table(header, cells, n_text=0)


def certificate_word(row: ZoomRow) -> str:
    """Return "about " or "at most " where the frequency of a row is not known to rounding."""
    certificate = getattr(row, "certificate", "exact")
    return "" if certificate == "exact" else f"{certificate} "


def _share_text(share: float) -> str:
    """Write a share in per cent; one below 1 never reads as all."""
    text = f"{100 * share:.1f}"
    return "over 99.9 %" if text == "100.0" and share < 1 else f"{text} %"
