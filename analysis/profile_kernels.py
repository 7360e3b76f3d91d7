"""What the inner loop of the recurrence costs a processor core, without and with memory behind it.

Run ``python -m analysis.profile_kernels``. The loop that sums neighbours is compiled, its instructions for one row are
read from the machine code, and ``llvm-mca`` (a part of LLVM; looked for on the PATH) says how many cycles a core needs
for them if all data are in its nearest cache. Beside that stand measured times a row in one thread, on graphs that fit
each cache and on one that fits none: where these are equal, memory is not what the loop waits for.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._figures import new_axes
from analysis._script import Blocks, Document, Script, Step, table_of
from cayleygsp import gallery
from cayleygsp.engine import recurrence_loops
from cayleygsp.engine.compiling import compiled_helper
from cayleygsp.engine.packed import KernelGraph
from cayleygsp.engine.recurrence import LOOK_AHEAD
from cayleygsp.engine.threads import run as run_loop
from cayleygsp.plotting import COLORS

# In full, and in the quick form; the work is rows times degrees in a measurement.
SIDES = (60, 120, 400, 2000), (30, 60)
WORK = 2e7, 2e5
SCATTERED = (100_000, 3_000_000), (2000,)
LOOK_AHEAD_WORK = 2e7

COLUMNS = {
    "grid, precision": "{side}², {dtype}",
    "graph and signals": lambda row: f"{row['bytes_of_graph_and_signals'] / 1e6:.3g} MB",
    "bytes a row": "{bytes_a_row:.0f}",
    "ns a row (spread)": "{nanoseconds_a_row[median]:.2f} ({nanoseconds_a_row[low]:.2f}–{nanoseconds_a_row[high]:.2f})",
    "GB/s of a core": lambda row: f"{row['bytes_a_row'] / row['nanoseconds_a_row']['median']:.1f}",
}
LOOK_AHEAD_COLUMNS = {
    "communities, one neighbour in ten far away": "{n_vertices:,} vertices, all threads",
    "ns a row (spread)": "{not[median]:.1f} ({not[low]:.1f}–{not[high]:.1f})",
    "asked for ahead": "{ahead[median]:.1f} ({ahead[low]:.1f}–{ahead[high]:.1f})",
}

# An instruction that takes a value of the signal from where an index says.
GATHER = re.compile(r"\(%\w+,%\w+,[48]\),.*%xmm")


def time_row(side: int, dtype: Any, work: float, repeats: int) -> Document:
    """Measure the time of a row and degree in one thread, for a single signal on a grid."""
    graph = cg.laplacian(gallery.grid(side)).kernel_graph(np.dtype(dtype))
    n = graph.n_vertices
    degree = max(int(work / n), 6)
    coeffs = np.ones((1, degree + 1), dtype) / degree
    t, t_old, out = np.ones(n, dtype), np.zeros(n, dtype), np.zeros((1, n), dtype)

    def run() -> None:
        _sum_signal(graph, 8.0, coeffs, (t_old, t, out), 0, 1)

    samples = _timing.interleave({"ours": run}, repeats)["ours"]
    return {
        "side": side,
        "dtype": np.dtype(dtype).name,
        "bytes_of_graph_and_signals": graph.n_bytes + 3 * t.nbytes,
        "bytes_a_row": (graph.n_bytes + (3 + 2 / 3) * t.nbytes) / n,
        "nanoseconds_a_row": _timing.summary([1e9 * s / (degree * n) for s in samples]),
    }


def _sum_signal(
    graph: KernelGraph, lmax: float, coeffs: Any, arrays: tuple[Any, ...], ahead: int, n_threads: int | None
) -> None:
    """Run the loop for one signal on prepared arrays; None: in all threads."""
    arguments = (graph.scaled(lmax), graph.chunks, coeffs, 0, np.empty(0, np.uint64), *arrays, np.uint64(ahead))
    sizes = {"n_chunks": graph.chunks.size - 1, "n_steps": coeffs.shape[1] - 1, "numbers": 8 * graph.n_vertices}
    run_loop(recurrence_loops.sum_degrees, *arguments, **sizes, n_threads=n_threads)


def time_look_ahead(n_vertices: int, seed: int, repeats: int) -> Document:
    """Measure the time of a row in all threads on a graph with far neighbours, with and without asking ahead."""
    graph = cg.laplacian(_problems.community_graph(n_vertices, seed)).kernel_graph(np.dtype(np.float64))
    degree = max(int(LOOK_AHEAD_WORK / n_vertices), 6)
    coeffs = np.ones((1, degree + 1)) / degree
    t, t_old, out = np.ones(n_vertices), np.zeros(n_vertices), np.zeros((1, n_vertices))

    def run(ahead: int) -> None:
        _sum_signal(graph, 40.0, coeffs, (t_old, t, out), ahead, None)

    samples = _timing.interleave({"not": lambda: run(0), "ahead": lambda: run(LOOK_AHEAD)}, repeats)
    rows = degree * n_vertices
    return {
        "n_vertices": n_vertices,
        **{name: _timing.summary([1e9 * s / rows for s in samples[name]]) for name in ("not", "ahead")},
    }


def machine_code(graph: KernelGraph, dtype: Any) -> str:
    """Return the machine code of the loop over the neighbours of unweighted rows."""
    compiled: Any = compiled_helper()(_plain_sums)
    indptr, indices, _, _, _ = graph.arrays
    t = np.ones(graph.n_vertices, dtype)
    compiled(np.uint64(0), np.uint64(8), indptr, indices, t, np.empty(8, dtype))
    return str(compiled.inspect_asm(compiled.signatures[0]))


def _plain_sums(first, last, indptr, indices, t, sums):  # type: ignore[no-untyped-def]
    recurrence_loops.plain_sums(first, last, indptr, indices, t, sums, np.uint64(0))


def rows_of_four(code: str) -> list[str]:
    """Return the instructions that rows with four neighbours run through: once around the loop over rows.

    The loop begins with the load of the end of a row from ``indptr``, four bytes on; it may hold more than one row, and
    a single one may stand before it.
    """
    lines = [line.split("#")[0].strip() for line in code.splitlines()]
    lines = [line for line in lines if line and (line.endswith(":") or not line.startswith("."))]
    for start, line in enumerate(lines):
        load = re.match(r"movl\s+4\((%\w+),%\w+,4\)", line)
        way = None if load is None else _way_around(lines, start, re.compile(rf"movl\s+\d+\({load.group(1)},%\w+,4\)"))
        if way is not None:
            return way
    raise RuntimeError("the machine code of the loop is not of the form that is known")


def _way_around(lines: Sequence[str], start: int, next_row: re.Pattern[str]) -> list[str] | None:
    """Return the shortest way back to a place that takes four values of the signal for every row, None if none does."""
    places = {line[:-1]: k for k, line in enumerate(lines) if line.endswith(":")}
    # shortest ways first; a place is looked at once for each number of neighbours that the row has had by then
    ways: deque[tuple[int, int, list[str]]] = deque([(start, 4, [])])
    seen = set()
    while ways:
        k, neighbours, way = ways.popleft()
        if k == start and way and neighbours == 4:
            return way
        if k >= len(lines) or lines[k].startswith("ret") or (k, neighbours, bool(way)) in seen:
            continue
        seen.add((k, neighbours, bool(way)))
        line = lines[k]
        if line.endswith(":"):
            ways.appendleft((k + 1, neighbours, way))
            continue
        if next_row.match(line):
            neighbours = 0 if neighbours == 4 else 5
        neighbours += bool(GATHER.search(line))
        if neighbours > 4:
            continue
        jump = re.match(r"(j\w+)\s+(\S+)$", line)
        if jump is None or jump.group(1) != "jmp":
            ways.append((k + 1, neighbours, [*way, line]))
        if jump is not None and jump.group(2) in places:
            ways.append((places[jump.group(2)], neighbours, [*way, line]))
    return None


def simulate(instructions: Sequence[str], cpu: str) -> float:
    """Return the cycles that the instructions take when they follow each other again and again."""
    program = "\n".join(re.sub(r"(j\w+)\s+\S+$", r"\1 .Lend", line) for line in instructions) + "\n.Lend:\n"
    command = ["llvm-mca", f"-mcpu={cpu}", "-iterations=1000"]
    output = subprocess.run(command, input=program, capture_output=True, text=True, check=True).stdout
    cycles = re.search(r"Total Cycles:\s+(\d+)", output)
    assert cycles is not None
    return int(cycles.group(1)) / 1000


def simulate_row(dtype: Any, cpu: str) -> Document | None:
    """Count instructions and cycles of a row with four neighbours; None without llvm-mca."""
    if shutil.which("llvm-mca") is None:
        return None
    graph = cg.laplacian(gallery.grid(8)).kernel_graph(np.dtype(dtype))
    instructions = rows_of_four(machine_code(graph, dtype))
    gathers = sum(bool(GATHER.search(line)) for line in instructions)
    rows = gathers // 4
    return {
        "cpu": cpu,
        "rows": rows,
        "instructions": len(instructions) / rows,
        "cycles": simulate(instructions, cpu) / rows,
        "code": instructions,
    }


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Count instructions, and time a row inside and outside the caches."""
    sides, work = SIDES[args.quick], WORK[args.quick]
    step("machine code")
    document: Document = {"row_of_four": simulate_row(np.float64, args.cpu), "rows": [], "look_ahead": []}
    for dtype in (np.float64, np.float32):
        for side in sides:
            step(f"grid {side}², {np.dtype(dtype).name}")
            document["rows"].append(time_row(side, dtype, work, args.repeats))
    for n in SCATTERED[args.quick]:
        step(f"communities, {n:,} vertices")
        document["look_ahead"].append(time_look_ahead(n, args.seed, args.repeats))
    return document


def conclusions(document: Document) -> list[str]:
    """Say what the simulation counted."""
    row = document["row_of_four"]
    if row is None:
        return ["llvm-mca was not found: no simulation."]
    return [
        f"Summing four neighbours takes {row['instructions']:.4g} instructions a row, {row['cycles']:.1f} cycles of a "
        f"{row['cpu']} core by llvm-mca with all data in the nearest cache. The step of the recurrence comes on top."
    ]


def page(document: Document) -> Blocks:
    """Return the title, what the simulation counted, the times, and the instructions."""
    row = document["row_of_four"]
    lines = (
        [] if row is None else [f"The instructions of {row['rows']} rows:", "", *(f"    {one}" for one in row["code"])]
    )
    return [
        "What the inner loop costs",
        conclusions(document),
        table_of("Time of a row", COLUMNS, document["rows"]),
        table_of("Looking ahead", LOOK_AHEAD_COLUMNS, document["look_ahead"]),
        "\n".join(lines),
    ]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the processor that is simulated."""
    parser.add_argument("--cpu", default="znver3", help="processor that llvm-mca simulates (default: %(default)s)")


def draw(document: Document) -> Any:
    """Draw the time of a row over the bytes that are worked on."""
    figure, ax = new_axes((6.5, 3.2))
    for color, marker, dtype in zip(COLORS, "os", ("float64", "float32"), strict=False):
        rows = [row for row in document["rows"] if row["dtype"] == dtype]
        x = [row["bytes_of_graph_and_signals"] / 1e6 for row in rows]
        y = np.array([[row["nanoseconds_a_row"][key] for row in rows] for key in ("median", "low", "high")])
        ax.errorbar(x, y[0], [y[0] - y[1], y[2] - y[0]], color=color, marker=marker, label=dtype, capsize=3)
    ax.axvline(
        document["machine"]["last_level_cache_bytes"] / 1e6, color="0.6", linestyle=":", label="last-level cache"
    )
    ax.set(xscale="log", ylim=(0, None), xlabel="graph and signals, MB", ylabel="ns a row and degree, one thread")
    ax.legend(frameon=False, fontsize="small")
    return figure


SCRIPT = Script(
    "profile_kernels",
    __doc__,
    measure,
    page,
    draw,
    steps=lambda args: 1 + 2 * len(SIDES[args.quick]) + len(SCATTERED[args.quick]),
    repeats=(7, 3),
    arguments=add_arguments,
)
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
