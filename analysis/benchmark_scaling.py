"""Time, memory and error of a Cayley filter against the size of the graph, its order, its zoom and the signals.

Run ``python -m analysis.benchmark_scaling``. Every size has a process of its own, so that the memory of one is not
counted for another. Jacobi and the exact filter stand beside where they finish. The largest size needs about 16 GB.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import math
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._figures import new_axes, plain_axes
from analysis._script import (
    Blocks,
    Columns,
    Document,
    Script,
    Step,
    Table,
    finite,
    format_error,
    format_seconds,
    table_of,
)
from cayleygsp import bounds
from cayleygsp._memory import format_bytes
from cayleygsp._typing import Array, FloatArray
from cayleygsp.methods.base import filter_gain
from cayleygsp.methods.costs import eigenbasis_cost, factors_cost

# In full, and in the quick form.
SIZES = (10_000, 100_000, 1_000_000, 10_000_000), (1000, 10_000)
VARIED_SIZE = 100_000, 3000
ORDERS = range(1, 14), (1, 13)
ZOOMS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0), (3.0, 300.0)
SIGNALS = (1, 4, 16, 64), (1, 16)
ORDER, ZOOM_LMAX, TOL = 8, 30.0, 1e-6
PAPER_SWEEPS = 13

# Sizes up to this get their error measured; the reference is slow beyond.
REFERENCE_VERTICES = 1_000_000
EXPONENT_TARGET, ARRAYS_TARGET = 1.05, 6.0
VARIED = {"order": "order r", "zoom": "h·λmax", "signals": "signals"}


def _status_bytes(field: str) -> int | None:
    """Return a line of the system's account of this process."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    values = [int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")]
    return values[0] if values else None


def _largest_ever() -> int:
    """Return the largest memory of this process since its start."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def return_memory(*, always: bool = False) -> None:
    """Give freed memory back to the system, where the C library can; with ``always``, large pieces from now on."""
    gc.collect()
    try:
        library = ctypes.CDLL(None)
        if always:
            library.mallopt(-3, 65536)  # M_MMAP_THRESHOLD: what is larger is mapped, and unmapped when freed
        library.malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        pass


class MemoryPeak:
    """The largest memory of this process while something is done, and the memory before.

    Linux can reset its record of the peak; elsewhere only a peak above all earlier ones is seen.

    Attributes
    ----------
    before, peak : int
        Bytes.
    how : str
        "reset peak" or "largest ever".
    """

    def __enter__(self) -> MemoryPeak:
        return_memory()
        try:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            self.how = "reset peak"
        except OSError:
            self.how = "largest ever"
        now = _status_bytes("VmRSS")
        self.before = _largest_ever() if now is None or self.how == "largest ever" else now
        self.peak = self.before
        return self

    def __exit__(self, *error: object) -> None:
        peak = _status_bytes("VmHWM") if self.how == "reset peak" else None
        self.peak = max(_largest_ever() if peak is None else peak, self.before)

    @property
    def beyond(self) -> int:
        """Bytes of the peak beyond what was there before."""
        return self.peak - self.before


def filter_memory(g: cg.GraphFilter, f: FloatArray) -> MemoryPeak:
    """Return the memory of one filter call, its result included; slows down what is timed later."""
    return_memory(always=True)
    with MemoryPeak() as memory:
        g.filter(f)
    return memory


def warm_up() -> None:
    """Compile, or load, every loop that is timed later, on a small graph."""
    graph = _problems.community_graph(3000, 0)
    L = cg.laplacian(graph)
    p = _problems.cayley_polynomial(2, 1.0 / L.lmax, 0)
    for n_signals in (1, 16):
        f = np.ones((L.n_vertices, n_signals))
        cg.CayleyFilter(L, p, method="chebyshev", tol=TOL).filter(f)
        cg.CayleyFilter(L, p, method="jacobi", tol=TOL, n_iter=2).filter(f)
    small = cg.laplacian(cg.gallery.ring(50))
    cg.CayleyFilter(small, p, method="chebyshev", tol=TOL).filter(np.ones((50, 1)))
    cg.CayleyFilter(small, p, method="chebyshev", tol=TOL).filter(np.ones((50, 16)))


def measure_size(n_vertices: int, args: argparse.Namespace) -> Document:
    """Build a graph of one size, filter one signal on it, and measure what each step takes."""
    warm_up()
    graph_seconds, graph = _timing.timed(lambda: _problems.community_graph(n_vertices, args.seed))
    return_memory()
    base = _status_bytes("VmRSS") or _largest_ever()
    with MemoryPeak() as building:
        laplacian_seconds, L = _timing.timed(lambda: cg.laplacian(graph))
    n_entries = int(graph.W.nnz)
    p = _problems.cayley_polynomial(ORDER, ZOOM_LMAX / L.lmax, args.seed)
    f = np.random.default_rng(args.seed).standard_normal(n_vertices)

    def prepare() -> cg.CayleyFilter:
        L.kernel_graph(np.float64)
        return cg.CayleyFilter(L, p, method="chebyshev", tol=TOL)

    with MemoryPeak() as preparing:
        prepare_seconds, g = _timing.timed(prepare)
    info = g.filter(f, return_info=True)[1]
    samples = _timing.interleave({"ours": lambda: g.filter(f)}, args.repeats, budget=args.seconds)["ours"]
    measured = _problems.series_reference(L, p, f) if n_vertices <= REFERENCE_VERTICES else None
    methods = measure_methods(L, p, f, measured, args)
    error = None if measured is None else _problems.relative_error(g.filter(f), measured, g.gain, f)
    del measured
    filtering = filter_memory(g, f)
    peak = max(building.peak, preparing.peak, filtering.peak)
    return {
        "n_vertices": n_vertices,
        "n_entries": n_entries,
        "lmax": L.lmax,
        "zoom": p.zoom,
        "n_matvecs": info.n_matvecs,
        "graph_seconds": graph_seconds,
        "laplacian_seconds": laplacian_seconds,
        "prepare_seconds": prepare_seconds,
        "apply_seconds": _timing.summary(samples),
        "error_bound": float(info.relative_error_bound),
        "error": error,
        "arrays": filtering.beyond / f.nbytes,
        "filter_bytes": filtering.beyond,
        "graph_bytes": int(graph.W.data.nbytes + graph.W.indices.nbytes + graph.W.indptr.nbytes),
        "kernel_graph_bytes": L.kernel_graph(np.float64).n_bytes,
        "peak_bytes": peak,
        "peak_beyond_graph_bytes": peak - base,
        "memory_measured_by": building.how,
        "methods": methods,
    }


def measure_methods(
    L: cg.Laplacian, p: cg.CayleyPolynomial, f: FloatArray, reference: FloatArray | None, args: argparse.Namespace
) -> list[Document]:
    """Time Jacobi, with the paper's sweeps and to the tolerance, and the exact filter, where they end in time."""
    gain = filter_gain(L, p)

    def error_of(y: Array) -> float | None:
        return None if reference is None else _problems.relative_error(y, reference, gain, f)

    def jacobi(n_iter: int) -> tuple[float, Array]:
        return _timing.timed(lambda: cg.CayleyFilter(L, p, method="jacobi", tol=TOL, n_iter=n_iter).filter(f))

    def entry(method: str, predicted: float, run: Callable[[], tuple[float, Array]]) -> Document:
        skipped = {"method": method, "seconds": None, "error": None, "predicted_seconds": finite(predicted)}
        if not math.isfinite(predicted):
            return {**skipped, "reason": "would not fit into memory"}
        if predicted > args.seconds:
            return {**skipped, "reason": f"predicted to take {format_seconds(predicted)}"}
        seconds, y = run()
        return {**skipped, "seconds": seconds, "error": error_of(y), "reason": ""}

    start = jacobi(0)[0]
    sweep = max(jacobi(1)[0] - start, 0.0)
    few = entry(f"jacobi, K = {PAPER_SWEEPS}", start + PAPER_SWEEPS * sweep, lambda: jacobi(PAPER_SWEEPS))
    sweep = sweep if few["seconds"] is None else max(few["seconds"] - start, 0.0) / PAPER_SWEEPS
    sure = bounds.jacobi_sweeps(L, p, TOL * gain)
    assert sure is not None
    return [
        few,
        entry(f"jacobi, tol {TOL:.0e}, K = {sure}".replace("e-0", "e-"), start + sure * sweep, lambda: jacobi(sure)),
        entry(
            "exact",
            min(cost.seconds(1) for cost in (eigenbasis_cost(L), factors_cost(L, p))),
            lambda: _timing.timed(lambda: cg.CayleyFilter(L, p, method="exact", tol=TOL).filter(f)),
        ),
    ]


def variations(quick: bool) -> list[tuple[str, float]]:
    """List what is varied, one thing at a time, and to which values."""
    values = {"order": ORDERS[quick], "zoom": ZOOMS[quick], "signals": SIGNALS[quick]}
    return [(name, float(value)) for name, varied in values.items() for value in varied]


def measure_variations(n_vertices: int, args: argparse.Namespace) -> list[Document]:
    """Measure one filter for each variation on the same graph."""
    warm_up()
    L = cg.laplacian(_problems.community_graph(n_vertices, args.seed))
    L.kernel_graph(np.float64)
    prepared = [prepare_variation(L, name, value, args) for name, value in variations(args.quick)]
    rows = [time_variation(L, *item, args) for item in prepared]
    # the allocator is made to give memory back only when nothing is timed any more
    for row, (_, _, g, f) in zip(rows, prepared, strict=True):
        row["filter_bytes"] = filter_memory(g, f).beyond
        row["arrays"] = row["filter_bytes"] / f.nbytes
    return rows


def prepare_variation(
    L: cg.Laplacian, name: str, value: float, args: argparse.Namespace
) -> tuple[str, float, cg.CayleyFilter, FloatArray]:
    """Make filter and signals."""
    order = int(value) if name == "order" else ORDER
    zoom_lmax = value if name == "zoom" else ZOOM_LMAX
    n_signals = int(value) if name == "signals" else 1
    p = _problems.cayley_polynomial(order, zoom_lmax / L.lmax, args.seed)
    f = np.random.default_rng(args.seed).standard_normal((L.n_vertices, n_signals))
    return name, value, cg.CayleyFilter(L, p, method="chebyshev", tol=TOL), f


def time_variation(
    L: cg.Laplacian, name: str, value: float, g: cg.CayleyFilter, f: FloatArray, args: argparse.Namespace
) -> Document:
    """Time the filter and the paper's scheme in turns, and measure both errors."""
    p = g.polynomial
    paper = cg.CayleyFilter(L, p, method="jacobi", tol=TOL, n_iter=PAPER_SWEEPS)
    y, info = g.filter(f, return_info=True)
    reference = _problems.series_reference(L, p, f)
    samples = _timing.interleave(
        {"ours": lambda: g.filter(f), "jacobi": lambda: paper.filter(f)}, args.repeats, budget=args.seconds / 4
    )
    # a block's error is measured over all signals together, its bound is that of the worst
    return {
        "varied": name,
        "value": value,
        "n_matvecs": info.n_matvecs,
        "seconds": _timing.summary(samples["ours"]),
        "error_bound": float(np.max(info.relative_error_bound)),
        "error": _problems.relative_error(y, reference, g.gain, f),
        "jacobi_seconds": _timing.summary(samples["jacobi"]),
        "jacobi_error": _problems.relative_error(paper.filter(f), reference, g.gain, f),
    }


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


def run_child(job: str, args: argparse.Namespace) -> Any:
    """Do one job in a process of its own and return its result; a text, if it failed."""
    command = [sys.executable, "-m", "analysis.benchmark_scaling", "--one", job, "--seed", str(args.seed)]
    command += ["--repeats", str(args.repeats), "--seconds", str(args.seconds), *(["--quick"] if args.quick else [])]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return f"exit code {done.returncode}"
    return json.loads(done.stdout)


def sizes_of(args: argparse.Namespace) -> list[int]:
    """Return the numbers of vertices that are measured."""
    return [n for n in SIZES[args.quick] if n <= args.max_vertices]


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure every size and all variations, each in a process of its own; a size that fails is a row that says so."""
    console = Console(stderr=True, highlight=False)
    sizes: list[Document] = []
    for n in sizes_of(args):
        step(f"n = {n:,}")
        result = run_child(f"size:{n}", args)
        row: Document = {"n_vertices": n, "failed": result} if isinstance(result, str) else result
        sizes.append(row)
        console.print(f"n = {n:,}: " + (row["failed"] if "failed" in row else format_spread(row["apply_seconds"])))
    n = min(VARIED_SIZE[args.quick], args.max_vertices)
    step(f"order, zoom and signals at n = {n:,}")
    result = run_child(f"variations:{n}", args)
    failed = isinstance(result, str)
    return {
        "sizes": sizes,
        "varied_vertices": n,
        "variations": [] if failed else result,
        "variations_failed": result if failed else None,
        "fits": fit_all(sizes),
    }


def format_spread(seconds: Document) -> str:
    """Write a median with the smallest and the largest."""
    low, high = format_seconds(seconds["low"]), format_seconds(seconds["high"])
    return f"{format_seconds(seconds['median'])} ({low}–{high})"


SIZE_COLUMNS: Columns = {
    "vertices": "{n_vertices:,}",
    "entries": "{n_entries:,}",
    "Laplacian": lambda row: format_seconds(row["laplacian_seconds"]),
    "preparation": lambda row: format_seconds(row["prepare_seconds"]),
    "filter": lambda row: format_spread(row["apply_seconds"]),
    "passes": "{n_matvecs}",
    "error": lambda row: "not measured" if row["error"] is None else format_error(row["error"]),
    "bound": lambda row: format_error(row["error_bound"]),
    "signal-sized arrays": "{arrays:.1f}",
    "peak beyond the graph": lambda row: format_bytes(row["peak_beyond_graph_bytes"]),
}

METHOD_COLUMNS: Columns = {
    "vertices": "{n_vertices:,}",
    "method": "{method}",
    "time": lambda row: "" if row["seconds"] is None else format_seconds(row["seconds"]),
    "error": lambda row: "" if row["error"] is None else format_error(row["error"]),
    "why not": "{reason}",
}

VARIED_COLUMNS: Columns = {
    "varied": lambda row: VARIED[row["varied"]],
    "value": "{value:g}",
    "passes": "{n_matvecs}",
    "filter": lambda row: format_spread(row["seconds"]),
    "error": lambda row: format_error(row["error"]),
    "bound": lambda row: format_error(row["error_bound"]),
    "signal-sized arrays": "{arrays:.1f}",
    "Jacobi, K = 13": lambda row: format_seconds(row["jacobi_seconds"]["median"]),
    "its error": lambda row: format_error(row["jacobi_error"]),
}


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


def page(document: Document) -> Blocks:
    """Return the title, what was measured, three tables, and the fits."""
    failed = {"entries": "failed: {failed}", **dict.fromkeys(list(SIZE_COLUMNS)[2:], "")}
    rows = [
        table_of("", SIZE_COLUMNS | (failed if "failed" in row else {}), [row]).rows[0] for row in document["sizes"]
    ]
    others = [{**one, "n_vertices": row["n_vertices"]} for row in document["sizes"] for one in row.get("methods", [])]
    varied = f"Order, zoom and signals, {document['varied_vertices']:,} vertices"
    tables = [
        Table(f"Cayley filter, r={ORDER}, h·λmax={ZOOM_LMAX:g}, tol 1e-6, one signal", list(SIZE_COLUMNS), rows),
        table_of("The same by other methods, one run with preparation", METHOD_COLUMNS, others),
        table_of(varied, VARIED_COLUMNS, document["variations"]),
    ]
    return [
        "Growth with the size of the graph",
        "Community graphs with average degree 10. Errors and bounds are relative to gain times signal. Memory is that "
        "of the process: signal-sized arrays count the peak during one filter call, its result included; the peak "
        "beyond the graph is that of making the Laplacian, preparing the filter and filtering.",
        *(block for table in tables for block in (f"## {table.title}", table)),
        "## Fits",
        conclusions(document),
    ]


def draw(document: Document) -> Figure:
    """Draw time against size, order, zoom and signals, one line per method."""
    figure, axes = new_axes((8.5, 6.2), 2, 2)
    _draw_sizes(axes[0, 0], [row for row in document["sizes"] if "failed" not in row])
    for ax, (name, label) in zip(axes.flat[1:], VARIED.items(), strict=True):
        rows = [row for row in document["variations"] if row["varied"] == name]
        x = [row["value"] for row in rows]
        ax.plot(x, [row["seconds"]["median"] for row in rows], "o-", color="black", label="chebyshev, tol 1e-6")
        ax.plot(x, [row["jacobi_seconds"]["median"] for row in rows], "s--", color="0.5", label="jacobi, K = 13")
        ax.set(xscale="linear" if name == "order" else "log", yscale="log")
        ax.set_xlabel(f"{label}, {document['varied_vertices']:,} vertices")
    for ax in axes.flat:
        ax.set_ylabel("seconds")
        plain_axes(ax, "0.9")
        ax.legend(fontsize="small", frameon=False)
    return figure


def _draw_sizes(ax: Any, rows: Sequence[Document]) -> None:
    n = [row["n_vertices"] for row in rows]
    ax.plot(n, [row["apply_seconds"]["median"] for row in rows], "o-", color="black", label="chebyshev, tol 1e-6")
    styles = {"jacobi, K": ("s--", "0.5"), "jacobi, tol": ("^-.", "0.35"), "exact": ("D:", "0.2")}
    for kind, (style, color) in styles.items():
        points = [
            (row["n_vertices"], entry["seconds"])
            for row in rows
            for entry in row["methods"]
            if entry["method"].startswith(kind) and entry["seconds"] is not None
        ]
        if points:
            label = f"jacobi, K = {PAPER_SWEEPS}" if kind == "jacobi, K" else kind.replace("tol", "tol 1e-6")
            ax.plot(*zip(*points, strict=True), style, color=color, label=label)
    ax.set(xscale="log", yscale="log", xlabel="vertices")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    parser.add_argument("--max-vertices", type=int, default=SIZES[0][-1], help="leave larger sizes out (default: 10⁷)")
    parser.add_argument(
        "--seconds", type=float, help="leave out what is predicted to take longer (default: 120, quick: 0.2)"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    if args.seconds is None:
        args.seconds = 0.2 if args.quick else 120.0
    smallest = SIZES[args.quick][0]
    if args.max_vertices < smallest:
        parser.error(f"--max-vertices must be at least {smallest}, got {args.max_vertices}")


SCRIPT = Script(
    "benchmark_scaling",
    __doc__,
    measure,
    page,
    draw,
    steps=lambda args: len(sizes_of(args)) + 1,
    repeats=(7, 3),
    arguments=add_arguments,
    check=check_arguments,
)

markdown = SCRIPT.markdown


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print tables and fits, and write what was asked for; or do the one job that a process is started for."""
    argv = sys.argv[1:] if argv is None else argv
    args = SCRIPT.parse(argv)
    if args.one is None:
        return SCRIPT.main(argv)
    kind, _, n = args.one.partition(":")  # of vertices
    result = measure_size(int(n), args) if kind == "size" else measure_variations(int(n), args)
    print(json.dumps(result, allow_nan=False))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
