"""Tables, sentences and page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis._document import Document, page
from analysis._tables import Table, format_error, format_seconds, markdown_table
from analysis.benchmark_scaling.settings import ARRAYS_TARGET, ORDER, ZOOM_LMAX
from cayleygsp._memory import format_bytes

if TYPE_CHECKING:
    pass

SIZE_HEADER = (
    "vertices",
    "entries",
    "Laplacian",
    "preparation",
    "filter",
    "passes",
    "error",
    "bound",
    "signal-sized arrays",
    "peak beyond the graph",
)
METHOD_HEADER = ("vertices", "method", "time", "error", "why not")
VARIED_HEADER = (
    "varied",
    "value",
    "passes",
    "filter",
    "error",
    "bound",
    "signal-sized arrays",
    "Jacobi, K = 13",
    "its error",
)


def size_cells(row: Document) -> list[str]:
    """Return the cells of one size."""
    if "failed" in row:
        return [f"{row['n_vertices']:,}", f"failed: {row['failed']}", *("" for _ in SIZE_HEADER[2:])]
    apply = row["apply_seconds"]
    return [
        f"{row['n_vertices']:,}",
        f"{row['n_entries']:,}",
        format_seconds(row["laplacian_seconds"]),
        format_seconds(row["prepare_seconds"]),
        format_spread(apply),
        str(row["n_matvecs"]),
        "not measured" if row["error"] is None else format_error(row["error"]),
        format_error(row["error_bound"]),
        f"{row['arrays']:.1f}",
        format_bytes(row["peak_beyond_graph_bytes"]),
    ]


def format_spread(seconds: Document) -> str:
    """Write a median with the smallest and the largest."""
    low, high = format_seconds(seconds["low"]), format_seconds(seconds["high"])
    return f"{format_seconds(seconds['median'])} ({low}–{high})"


def method_cells(document: Document) -> list[list[str]]:
    """Return the cells of the methods that stand beside."""
    return [
        [
            f"{row['n_vertices']:,}",
            entry["method"],
            "" if entry["seconds"] is None else format_seconds(entry["seconds"]),
            "" if entry["error"] is None else format_error(entry["error"]),
            entry["reason"],
        ]
        for row in document["sizes"]
        for entry in row.get("methods", [])
    ]


def varied_cells(row: Document) -> list[str]:
    """Return the cells of one variation."""
    names = {"order": "order r", "zoom": "h·λmax", "signals": "signals"}
    return [
        names[row["varied"]],
        f"{row['value']:g}",
        str(row["n_matvecs"]),
        format_spread(row["seconds"]),
        format_error(row["error"]),
        format_error(row["error_bound"]),
        f"{row['arrays']:.1f}",
        format_seconds(row["jacobi_seconds"]["median"]),
        format_error(row["jacobi_error"]),
    ]


def conclusions(document: Document) -> list[str]:
    """Say the exponents, and the memory of the largest size, beside their targets."""
    lines = [
        f"{fit['quantity']} grows like n^{fit['exponent']:.3f} from n = {fit['between'][0]:,} to "
        f"{fit['between'][1]:,} (last step {fit['last_step']:.3f}; target ≤ {fit['target']:g}: "
        f"{'met' if fit['met'] else 'not met'})"
        for fit in document["fits"]
    ]
    done = [row for row in document["sizes"] if "failed" not in row]
    if done:
        row = max(done, key=lambda row: row["n_vertices"])
        met = "met" if row["arrays"] <= ARRAYS_TARGET else "not met"
        lines.append(
            f"a filter call takes {row['arrays']:.2f} signal-sized arrays beyond graph and signal at "
            f"n = {row['n_vertices']:,} (target ≤ {ARRAYS_TARGET:g}: {met})"
        )
    return lines


def tables(document: Document) -> list[Table]:
    """Return the tables."""
    n = document["varied_vertices"]
    return [
        Table(
            f"Cayley filter, r={ORDER}, h·λmax={ZOOM_LMAX:g}, tol 1e-6, one signal",
            SIZE_HEADER,
            [size_cells(row) for row in document["sizes"]],
        ),
        Table("The same by other methods, one run with preparation", METHOD_HEADER, method_cells(document)),
        Table(
            f"Order, zoom and signals, {n:,} vertices",
            VARIED_HEADER,
            [varied_cells(row) for row in document["variations"]],
        ),
    ]


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    lines = [
        "Community graphs with average degree 10. Errors and bounds are relative to gain times signal. Memory is that "
        "of the process: signal-sized arrays count the peak during one filter call, its result included; the peak "
        "beyond the graph is that of making the Laplacian, preparing the filter and filtering.",
        "",
    ]
    for title, header, rows, _ in tables(document):
        lines += [f"## {title}", "", *markdown_table(header, rows), ""]
    lines += ["## Fits", "", *(f"- {line}" for line in conclusions(document))]
    return page("Growth with the size of the graph", document, *lines)
