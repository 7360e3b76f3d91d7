"""What zooms do to the lowest frequencies, as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cayleygsp._html import Table
from cayleygsp.report.zoom_numbers import ZoomRow


def zoom_table(rows: Sequence[ZoomRow]) -> Table:
    """Put the rows into a table."""
    m = rows[0].n_lowest
    last = "the lowest" if m == 1 else f"the last of the lowest {m:,}"
    gaps = [getattr(row, "smallest_gap", None) for row in rows]
    shows_gaps = any(gap is not None for gap in gaps)
    header = ["zoom h", f"half circle from 0 to {last}", "dθ/dλ there", "best possible", "order for the gap"]
    if shows_gaps:
        header.insert(2, "least angle between two of them")
    cells = []
    for row, gap in zip(rows, gaps, strict=True):
        line = [
            f"{row.zoom:.4g}",
            _share_text(row.circle_share),
            f"{row.resolution:.3g}",
            "unbounded" if math.isinf(row.best_resolution) else f"{row.best_resolution:.3g}",
            "–" if row.gap_order is None else f"{row.gap_order:,}",
        ]
        if shows_gaps:
            line.insert(2, "–" if gap is None else f"{gap:.2g}")
        cells.append(line)
    return Table(header, cells, n_text=0)


def _share_text(share: float) -> str:
    """Write a share in per cent; one below 1 never reads as all."""
    text = f"{100 * share:.1f}"
    return "over 99.9 %" if text == "100.0" and share < 1 else f"{text} %"
