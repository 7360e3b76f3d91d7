"""Exponents of time and memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analysis import _timing
from analysis._document import Document
from analysis.benchmark_scaling.settings import EXPONENT_TARGET


def fit_all(sizes: Sequence[Document]) -> list[Document]:
    """Fit exponents of time and memory over the larger half of the sizes, at least two and at most three of them."""
    done = sorted((row for row in sizes if "failed" not in row), key=lambda row: row["n_vertices"])
    used = done[-max(2, min(3, len(done) - 1)) :]
    if len(used) < 2:
        return []
    quantities: dict[str, Callable[[Document], float]] = {
        "time of the filter": lambda row: row["apply_seconds"]["median"],
        "time of preparation": lambda row: row["prepare_seconds"],
        "time of the Laplacian": lambda row: row["laplacian_seconds"],
        "memory of the filter": lambda row: row["filter_bytes"],
        "peak memory beyond the graph": lambda row: row["peak_beyond_graph_bytes"],
    }
    fits = []
    for name, value_of in quantities.items():
        n, values = [row["n_vertices"] for row in used], [value_of(row) for row in used]
        if min(values) <= 0:
            continue
        exponent = _timing.fit_exponent(n, values)
        fits.append(
            {
                "quantity": name,
                "exponent": exponent,
                "between": [n[0], n[-1]],
                "last_step": _timing.fit_exponent(n[-2:], values[-2:]),
                "target": EXPONENT_TARGET,
                "met": exponent <= EXPONENT_TARGET,
            }
        )
    return fits
