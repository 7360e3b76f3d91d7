"""Tables, sentences and page of the timing study."""

from __future__ import annotations

from collections.abc import Sequence

from analysis._document import Document, page
from analysis._networks import CHEBNET, N_FEATURES, SWEEPS
from analysis._tables import format_seconds, markdown_table
from analysis.complexity.settings import AVERAGE_DEGREE, KINDS, LINEAR, NAMES, SERIES, SIZE_ORDER, ZOOM


def table(rows: Sequence[Document], kind: str, key: str) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of one kind: one row per model, one column per order or size."""
    values = sorted({row[key] for row in rows})
    sign = "r" if key == "order" else "n"
    cells: dict[str, dict[int, str]] = {}
    for row in rows:
        if row["kind"] == kind:
            cells.setdefault(row["model"], {})[row[key]] = cell(row)
    header = [kind, *(f"{sign} = {value:,}" for value in values)]
    return header, [[NAMES[model], *(texts.get(v, "") for v in values)] for model, texts in cells.items()]


def cell(row: Document) -> str:
    """Write a time and its ratio to ChebNet, beside the paper's."""
    text = f"{format_seconds(row['seconds']['mean'])}, {row['ratio']:.3g}×"
    if row["paper_ratio"] is not None and row["model"] != CHEBNET:
        text += f" ({row['paper_ratio']:.3g}×, {row['ratio'] - row['paper_ratio']:+.3g})"
    return text


def findings(document: Document) -> list[str]:
    """Say what the times show, each in a sentence that may turn out either way."""
    seconds = {(row["model"], row["kind"], row["order"]): row["seconds"]["mean"] for row in document["by_order"]}
    most = f"jacobi {SWEEPS[-1]}"
    sentences = []
    for kind in KINDS:
        shares = {
            order: seconds[SERIES, kind, order] / seconds[most, kind, order]
            for model, of, order in seconds
            if (model, of) == (SERIES, kind)
        }
        low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
        sentences.append(
            f"{kind.capitalize()}: our series takes {shares[low]:.2f} (r = {low}) to {shares[high]:.2f} (r = {high}) "
            f"of the time of Jacobi with K = {SWEEPS[-1]}."
        )
    linear = [SERIES, CHEBNET, *(f"jacobi {K}" for K in SWEEPS)]
    slopes = [e["exponent"] for e in document["exponents"] if e["model"] in linear and e["exponent"] is not None]
    if slopes:
        grows = "at most linearly" if max(slopes) <= LINEAR else "faster than linearly"
        sentences.append(
            f"Exponents of our series, Jacobi and ChebNet are {min(slopes):.2f} to {max(slopes):.2f}: their time grows "
            f"{grows} with n (to {LINEAR:g} counts as linear)."
        )
    return sentences


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    orders, sizes = document["by_order"], document["by_size"]
    fewest = min(row["seconds"]["n"] for row in [*orders, *sizes])
    lines = [
        f"Mean time, and its ratio to ChebNet at the same order and size. Graphs of 15 communities, combinatorial "
        f"Laplacian, about {AVERAGE_DEGREE:g} neighbours a vertex, one channel in, {N_FEATURES} out, h = {ZOOM:g}, "
        f"single precision. Against the order: {orders[0]['n_vertices']} vertices, batch {orders[0]['batch']}; in "
        "brackets the paper's ratio, on a graphics card and with a batch and a graph that it does not tell, and the "
        "difference.",
    ]
    for kind in KINDS:
        lines += ["", *markdown_table(*table(orders, kind, "order"))]
    lines += [
        "",
        f"Against the number of vertices: order {SIZE_ORDER}, batch {sizes[0]['batch']}. Dense methods stop where they "
        "get too slow.",
    ]
    for kind in KINDS:
        lines += ["", *markdown_table(*table(sizes, kind, "n_vertices"))]
    exponents = [
        [NAMES[e["model"]], e["kind"], f"{e['exponent']:.2f}"]
        for e in document["exponents"]
        if e["exponent"] is not None
    ]
    lines += [
        "",
        "Growth of the time with n, by a straight line in logarithms over the larger sizes that a method was timed at "
        "(1 is linear):",
        "",
        *markdown_table(["model", "kind", "exponent"], exponents),
        "",
        *(f"- {line}" for line in findings(document)),
    ]
    facts = [
        f"- torch: {document['torch']}",
        f"- Repetitions: {document['repeats']}, of slow calls at least {fewest}",
    ]
    return page("Time against order and size", document, *lines, facts=facts)
