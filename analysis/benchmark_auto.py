"""The automatic choice of a method beside every method that it may choose: how much longer than the best it takes.

Run ``python -m analysis.benchmark_auto``. Times are those of a new filter's first call, with choice and preparation, on
a Laplacian for which nothing has been prepared.
"""

from __future__ import annotations

import argparse
import gc
import math
import warnings
from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis._figures import LINE_COLORS, MARKERS, legend_below, new_axes, plain_axes
from analysis._problems import cayley_polynomial
from analysis._script import Blocks, Columns, Document, Script, Step, format_seconds, table_of
from analysis._timing import timed
from cayleygsp._typing import FloatArray, LaplacianKind, Method
from cayleygsp.bounds import jacobi_sweeps
from cayleygsp.cli.inputs import load_graph

ORDER, TOL = 4, 1e-6
KINDS: tuple[LaplacianKind, ...] = ("combinatorial", "normalized")
ZOOMS, QUICK_ZOOMS = tuple(10.0**k for k in range(-2, 5)), (0.1, 1e3)
SIGNALS = (1, 16)
METHODS: tuple[Method, ...] = ("chebyshev", "exact", "multigrid", "jacobi")
TARGET = 2.0
NAMED = {"graph": "graph", "Laplacian": "kind", "signals": "signals"}

# A method that took so many times as long as the best at one zoom is not timed at the next.
HOPELESS = 5.0

# Sweeps per power beyond which Jacobi is not tried.
MOST_SWEEPS = 300

# Beyond its repeats, a method is timed until its least time, as often as it had a turn, makes so many seconds, but not
# in more turns than this; one whose turns took longer than the budget has no further one.
LEAST_SECONDS, MOST_TURNS = 0.2, 25
BUDGET = 3.0


def graphs(seed: int, quick: bool) -> dict[str, Callable[[], cg.Graph]]:
    """Return graphs of different kinds."""
    if quick:
        return {
            "grid": lambda: cg.gallery.grid(18),
            "scale-free": lambda: cg.gallery.scale_free(300, rng=seed),
        }
    return {
        "Minnesota": lambda: load_graph("@minnesota"),
        "grid": lambda: cg.gallery.grid(100),
        "sensor": lambda: cg.gallery.sensor(5000, rng=seed),
        "ring": lambda: cg.gallery.ring(20_000),
        "scale-free": lambda: cg.gallery.scale_free(10_000, rng=seed),
        "collaboration": lambda: cg.gallery.collaboration(5000, rng=seed),
    }


def first_call(
    graph: cg.Graph, kind: LaplacianKind, p: cg.CayleyPolynomial, method: Method, f: FloatArray
) -> tuple[float, str, bool]:
    """Return the time of a new filter and its first call, the method that it took, and whether it was certified."""
    L = cg.laplacian(graph, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        seconds, (_, info) = timed(lambda: cg.CayleyFilter(L, p, method=method, tol=TOL).filter(f, return_info=True))
    return seconds, info.method, info.converged


def candidates(graph: cg.Graph, kind: LaplacianKind, p: cg.CayleyPolynomial, last: dict[Method, float]) -> list[Method]:
    """Return the methods that are worth timing, by what they took at the zoom before, the fastest first."""
    best = min(last.values(), default=math.inf)
    chosen = [m for m in METHODS if last.get(m, 0.0) <= HOPELESS * best]
    if "jacobi" in chosen:
        L = cg.laplacian(graph, kind)
        sweeps = jacobi_sweeps(L, p, TOL)
        if sweeps is None or sweeps > MOST_SWEEPS:
            chosen.remove("jacobi")
    return sorted(chosen, key=lambda m: last.get(m, 0.0))


def wants_turn(samples: dict[Method, list[float]], m: Method, repeats: int, most_turns: int) -> bool:
    """Say whether a method is timed once more: its least time may still be too long, and matters."""
    n_turns = len(samples[m])
    if sum(samples[m]) > BUDGET:
        return False
    if n_turns < repeats:
        return True
    mine, least = min(samples[m]), min(min(times) for times in samples.values() if times)
    hopeless = m != "auto" and mine > HOPELESS * least
    return not hopeless and n_turns < most_turns and n_turns * mine < LEAST_SECONDS


def measure_cell(
    graph: cg.Graph,
    kind: LaplacianKind,
    p: cg.CayleyPolynomial,
    f: FloatArray,
    last: dict[Method, float],
    repeats: int,
    most_turns: int,
) -> Document:
    """Time the choice and every method in turns; the least time of each counts."""
    names: list[Method] = [*candidates(graph, kind, p, last), "auto"]
    samples: dict[Method, list[float]] = {m: [] for m in names}
    certified: dict[Method, bool] = {}
    taken: list[str] = []
    gc.collect()
    while turn := [m for m in names if certified.get(m, True) and wants_turn(samples, m, repeats, most_turns)]:
        for m in turn:
            seconds, name, certified[m] = first_call(graph, kind, p, m, f)
            samples[m].append(seconds)
            if m == "auto":
                taken.append(name)
    least = {m: min(times) for m, times in samples.items()}
    last.update({m: least[m] for m in names if m != "auto"})
    good = {m: least[m] for m in names if m != "auto" and certified[m]}
    best = min(good, key=lambda m: good[m])
    return {
        "seconds": {m: least[m] if m in least and certified.get(m) else None for m in (*METHODS, "auto")},
        "best": best,
        "taken": max(set(taken), key=taken.count),
        "certified": certified["auto"],
        "ratio": least["auto"] / good[best],
    }


def turn_limit(args: argparse.Namespace) -> int:
    """Return the most turns of a method: in the small form, the repeats are enough."""
    return args.repeats if args.quick else max(args.repeats, MOST_TURNS)


def measure_graph(name: str, graph: cg.Graph, args: argparse.Namespace) -> list[Document]:
    """Measure one graph with both Laplacians, over zooms and numbers of signals."""
    rows = []
    rng = np.random.default_rng(args.seed)
    f = rng.standard_normal((graph.n_vertices, max(SIGNALS)))
    for kind in KINDS:
        for n_signals in SIGNALS:
            last: dict[Method, float] = {}
            for zoom in QUICK_ZOOMS if args.quick else ZOOMS:
                p = cayley_polynomial(ORDER, zoom, args.seed)
                block = np.ascontiguousarray(f[:, :n_signals])
                cell = measure_cell(graph, kind, p, block, last, args.repeats, turn_limit(args))
                rows.append({"graph": name, "kind": kind, "zoom": zoom, "signals": n_signals, **cell})
                # what is hopeless now may not be at the next zoom, where the best one takes longer
                last.update({m: t * (3.0 if m in ("chebyshev", "jacobi") else 1.0) for m, t in last.items()})
    return rows


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure all graphs; loops are compiled before."""
    small = cg.gallery.grid(20)
    for m in ("chebyshev", "multigrid", "jacobi", "exact"):
        for n_signals in SIGNALS:
            first_call(small, "normalized", cayley_polynomial(1, 0.1, 0), m, np.ones((400, n_signals)))
    large = cg.gallery.grid(46)  # beyond the eigenbasis
    first_call(large, "normalized", cayley_polynomial(1, 0.1, 0), "exact", np.ones((46**2, 1)))
    rows, sizes = [], {}
    for name, make in graphs(args.seed, args.quick).items():
        step(name)
        graph = make()
        sizes[name] = [graph.n_vertices, graph.n_edges]
        rows += measure_graph(name, graph, args)
    turns = {"repeats": args.repeats, "most_turns": turn_limit(args)}
    return {"order": ORDER, "tol": TOL, **turns, "sizes": sizes, "rows": rows}


def lines_of(document: Document) -> dict[tuple[str, str, int], list[Document]]:
    """Return the rows of each graph, Laplacian and number of signals, by their zooms."""
    lines: dict[tuple[str, str, int], list[Document]] = {}
    for row in document["rows"]:
        lines.setdefault((row["graph"], row["kind"], row["signals"]), []).append(row)
    return lines


def columns(document: Document, text: Callable[[Document], str]) -> Columns:
    """Return a column for each zoom with a text of its measurement, behind graph, Laplacian and signals."""
    zooms = list(dict.fromkeys(row["zoom"] for row in document["rows"]))
    named: Columns = {name: lambda rows, key=key: str(rows[0][key]) for name, key in NAMED.items()}
    return {**named, **{f"h = {h:g}": lambda rows, k=k: text(rows[k]) for k, h in enumerate(zooms)}}


def conclusions(document: Document) -> list[str]:
    """Say how far from the best the choice is."""
    rows = document["rows"]
    worst = max(rows, key=lambda row: row["ratio"])
    within = sum(row["ratio"] <= TARGET for row in rows)
    same = sum(row["taken"] == row["best"] for row in rows)
    met = "met" if worst["ratio"] <= TARGET else "not met"
    return [
        f"the choice, with what choosing takes, is at most {worst['ratio']:.2f} times as long as the best method "
        f"({worst['graph']}, {worst['kind']}, h = {worst['zoom']:g}, signals: {worst['signals']}; target "
        f"≤ {TARGET:g}: {met})",
        f"within the target in {within} of {len(rows)} cases; the best method was taken in {same}; "
        f"certified in {sum(row['certified'] for row in rows)}",
    ]


def page(document: Document) -> Blocks:
    """Return the title, what was timed, what it shows, and the tables."""
    sizes = ", ".join(f"{name} {n:,} vertices and {e:,} edges" for name, (n, e) in document["sizes"].items())
    lines = list(lines_of(document).values())
    taken = columns(document, lambda row: f"{row['taken']} {row['ratio']:.2f}")
    best = columns(document, lambda row: f"{row['best']} {format_seconds(row['seconds'][row['best']])}")
    return [
        "The automatic choice beside the best method",
        f"Cayley filters of order {document['order']} with zoom h, error at most {document['tol']:g} of the gain. "
        "Times are those of a new filter and its first call on a Laplacian for which nothing has been prepared, with "
        f"choice and preparation, the least of {document['repeats']} or more in turns: as many as "
        f"would take {LEAST_SECONDS:g} s without disturbance, but at most {document['most_turns']}. A method that took "
        f"more than {HOPELESS:g} times as long as the best at one zoom is not timed at the next; Jacobi is timed up to "
        f"{MOST_SWEEPS} sweeps per power. Graphs: {sizes}.",
        conclusions(document),
        "## What was taken, and its time over that of the best",
        table_of("Taken, and its time over that of the best", taken, lines, n_text=2),
        "## The best",
        table_of("The best, and its time", best, lines, n_text=2),
    ]


def draw(document: Document) -> Figure:
    """Draw the ratios over the zoom, one line per graph, one panel per Laplacian and number of signals."""
    figure, axes = new_axes((9.5, 6.4), len(KINDS), len(SIGNALS), sharex=True, sharey=True)
    names = list(document["sizes"])
    for (graph, kind, signals), rows in lines_of(document).items():
        ax = axes[KINDS.index(kind), SIGNALS.index(signals)]
        k = names.index(graph)
        style = {"color": LINE_COLORS[k % len(LINE_COLORS)], "marker": MARKERS[k % 7], "markersize": 4, "label": graph}
        ax.plot([row["zoom"] for row in rows], [row["ratio"] for row in rows], **style)
        ax.set_title(f"{kind}, signals: {signals}", fontsize="small")
    for ax in axes.flat:
        ax.axhline(TARGET, color="0.4", linewidth=1, linestyle="--")
        ax.set(xscale="log", yscale="log")
        plain_axes(ax)
    figure.supxlabel("zoom h")
    figure.supylabel("time of the choice over that of the best")
    legend_below(figure, 6)
    return figure


SCRIPT = Script(
    "benchmark_auto",
    __doc__,
    measure,
    page,
    draw,
    steps=lambda args: len(graphs(args.seed, args.quick)),
    repeats=(3, 1),
)
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
