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
