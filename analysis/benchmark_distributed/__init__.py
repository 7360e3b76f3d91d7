"""Graphs in parts on worker processes: time, bytes and memory against one process, and what larger clusters would take.

Run ``python -m analysis.benchmark_distributed``. Every number of workers has a cluster of its own, of processes with
one thread, and stands beside one process with as many threads in the same rounds. Larger clusters are predicted. The
largest size needs about 8 GB.
"""

from __future__ import annotations

import argparse
from typing import Any

from matplotlib.figure import Figure

from analysis._figures import new_axes, plain_axes
from analysis._script import Blocks, Columns, Document, Script, Step, bullets, format_seconds, table_of
from analysis.benchmark_distributed.prediction import halo_law, missing_in_plane, predict, seconds_of_run
from analysis.benchmark_distributed.runs import (
    DEGREE,
    HALO_PARTS,
    HALO_VERTICES,
    STRONG,
    TARGET,
    TARGET_RATIO,
    TASK_PARTS,
    WEAK,
    WORKERS,
    bandwidth,
    graph_of,
    halo_rows,
    measure_limited,
    measure_run,
    task_costs,
    worker_processes,
)
from cayleygsp._memory import format_bytes

GRAPHS = ("grid", "communities")

RUN_COLUMNS: Columns = {
    "scaling": "{scaling}",
    "graph": "{graph}",
    "vertices": "{n_vertices:,}",
    "workers": "{n_workers}",
    "one process": lambda run: format_seconds(run["one_process"]["median"]),
    "parts": lambda run: format_seconds(run["parts"]["median"]),
    "ratio": "{ratio[median]:.2f}",
    "halos received": lambda run: format_bytes(run["received_bytes"]["halo"]),
    "counted": lambda run: format_bytes(run["predicted_bytes"]["halo"]),
    "states copied": lambda run: format_bytes(run["received_bytes"]["kept"]),
    "largest worker": lambda run: format_bytes(max(run["memory_of_workers"])),
}
TERMS = {"a degree": "seconds", "compute": "compute", "done twice": "twice", "tasks": "tasks", "wire": "wire"}
PREDICTION_COLUMNS: Columns = {
    "graph": "{graph}",
    "edges": lambda row: f"{row['n_edges']:.0e}".replace("e+", "e"),
    "workers": "{n_workers}",
    "s": "{degrees_per_exchange}",
    **{name: lambda row, key=key: format_seconds(row[key]) for name, key in TERMS.items()},
    "efficiency": "{efficiency:.0%}",
    "a worker": lambda row: format_bytes(row["worker_bytes"]),
}


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure scaling, what tasks and bytes cost, halos, the target and the graph beyond a worker's memory."""
    degree = DEGREE[args.quick]
    strong = min(STRONG[args.quick], args.max_vertices)
    weak = min(WEAK[args.quick], args.max_vertices)
    step("a graph beyond the memory of a worker")
    limited = None if args.quick or args.no_limit else measure_limited(args.seed)
    n_target = min(TARGET[args.quick], args.max_vertices)

    def two_workers(client: Any) -> Document:
        graph = graph_of("grid", n_target, args.seed)
        return measure_run(client, "grid", graph, 2, degree, args.repeats, args.seed)

    runs: list[Document] = []
    costs: Document = {}
    target: Document | None = None
    for n_workers in WORKERS[args.quick]:
        step(f"{n_workers} workers")
        with worker_processes(n_workers) as client:
            for kind, n_vertices in (("strong", strong), ("weak", weak * n_workers)):
                for name in GRAPHS:
                    graph = graph_of(name, n_vertices, args.seed)
                    run = measure_run(client, name, graph, n_workers, degree, args.repeats, args.seed)
                    runs.append({"scaling": kind, **run})
            if n_workers == 2:
                few_and_many = TASK_PARTS[args.quick]
                costs = {**task_costs(client, few_and_many, degree, args.repeats), "bandwidth": bandwidth(client)}
                target = two_workers(client) if args.quick else None
    step("halos")
    parts = HALO_PARTS[args.quick]
    size = HALO_VERTICES[args.quick]
    halos = [row for name in GRAPHS for row in halo_rows(name, size, parts, args.seed)]
    step("two workers against two threads")
    if target is None:  # in workers that hold nothing else
        with worker_processes(2) as client:
            target = two_workers(client)
    alone = [run for run in runs if (run["scaling"], run["n_workers"]) == ("strong", 1)]
    costs["entry_seconds"] = {run["graph"]: run["one_process"]["median"] / (run["n_entries"] * degree) for run in alone}
    return {
        "degree": degree,
        "runs": runs,
        "costs": costs,
        "halos": halos,
        "target": target,
        "limited": limited,
        "predictions": predict(halos, costs),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    parser.add_argument("--max-vertices", type=int, default=TARGET[0], help="leave larger sizes out")
    parser.add_argument("--no-limit", action="store_true", help="leave out the graph beyond the memory of a worker")


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    if args.max_vertices < WEAK[1]:
        parser.error(f"--max-vertices must be at least {WEAK[1]}, got {args.max_vertices}")


def conclusions(document: Document) -> list[str]:
    """Say what was reached."""
    target, limited, costs = document["target"], document["limited"], document["costs"]
    received, predicted = target["received_bytes"], target["predicted_bytes"]
    off = max(abs(run["received_bytes"]["halo"] / run["predicted_bytes"]["halo"] - 1) for run in _in_parts(document))
    lines = [
        f"two workers of one thread take {target['ratio']['median']:.2f} times as long as one process with two threads "
        f"on a grid of {target['n_vertices']:,} vertices ({target['ratio']['low']:.2f} to "
        f"{target['ratio']['high']:.2f}; the target is {TARGET_RATIO:g})",
        f"they received {format_bytes(received['halo'])} of values at borders, counted "
        f"{format_bytes(predicted['halo'])}, {format_bytes(received['kept'])} of states to be safe, counted "
        f"{format_bytes(predicted['kept'])}, and {format_bytes(received['other'])} of other things; over all runs "
        f"halos are {off:.1%} off their count at most",
        _differences(document),
        f"an exchange takes {format_seconds(costs['exchange_seconds'])} and "
        f"{format_seconds(costs['task_seconds'])} for each of its tasks, and {format_bytes(costs['bandwidth'])} go "
        "from worker to worker in a second",
    ]
    if limited is not None:
        lines.append(
            f"a matrix of {format_bytes(limited['matrix_bytes'])} in {limited['n_parts']} parts was cut from pieces on "
            f"disk by a process that took {format_bytes(limited['builder_peak_bytes'])} at most, and filtered by "
            f"{limited['n_workers']} workers with a limit of {format_bytes(limited['limit_bytes'])} each; the largest "
            f"took {format_bytes(max(limited['worker_peak_bytes']))} (error {limited['error']:.1e} on a signal whose "
            "answer is known)"
        )
    return lines


def _differences(document: Document) -> str:
    largest = max(run["difference"] for run in [*document["runs"], document["target"]])
    if largest == 0:
        return "answers are those of one process to the last bit"
    return f"answers differ by at most {largest:.1e} from those of one process"


def _in_parts(document: Document) -> list[Document]:
    """Return the runs with more than one part."""
    return [run for run in [*document["runs"], document["target"]] if run["n_workers"] > 1]


def page(document: Document) -> Blocks:
    """Return the title, what was reached, and the tables of scaling and of what is predicted."""
    return [
        "Graphs in parts on worker processes",
        f"A series of degree {document['degree']} on one signal in double precision. Workers are processes of one "
        "thread with one part each, cut in the order of the vertices, with the default settings: states are copied to "
        "a second worker every 64 degrees. One process has as many threads as there are workers, and no more than the "
        "machine. Rounds are interleaved, medians are shown. Received are the bytes that workers noted of what they "
        "took from one another in one more round; counted are the values at the borders of the parts times eight.",
        conclusions(document),
        "## Scaling",
        "Strong: the same graph for more workers. Weak: a graph that grows with them.",
        table_of("Scaling", RUN_COLUMNS, document["runs"], n_text=2),
        "## Larger clusters: an estimate",
        *_formula(document),
        table_of("Prediction", PREDICTION_COLUMNS, document["predictions"]),
        "Where it breaks:",
        _limits(document),
    ]


def _formula(document: Document) -> list[str]:
    costs, halos = document["costs"], document["halos"]
    laws, entries = [], []
    for name in dict.fromkeys(row["graph"] for row in halos):
        some = [row for row in halos if row["graph"] == name]
        factor, exponent = halo_law(some)
        laws.append(
            f"{name}: h_1 = {factor:.3g} m^{exponent:.3f}, q = {some[-1]['neighbours']:.1f} of "
            f"{some[-1]['n_parts'] - 1} others, rings counted up to {len(some[-1]['rings'])} edges away"
        )
        entries.append(f"{costs['entry_seconds'][name]:.2e} s ({name})")
    return [
        "One degree of one signal takes",
        "    t = e c / W + (d c / s) (h_1 + … + h_{s-1}) + (ℓ + (1 + q) W τ) / s + 8 (h_s + h_{s-1}) / (s b)",
        "for the e entries of the matrix, d in a row, on W workers with one part each that do s degrees for one "
        "exchange; h_j is the number of vertices up to j edges away from a part, q that of its neighbours. The terms "
        "are the work, rows that two parts step, the tasks that one scheduler hands out, and the wire; s is what takes "
        f"the least time. Measured: c = {' and '.join(entries)}, ℓ = {costs['exchange_seconds']:.2e} s, "
        f"τ = {costs['task_seconds']:.2e} s, b = {costs['bandwidth']:.2e} bytes/s, and parts of m vertices by METIS "
        f"({'; '.join(laws)}).",
        _comparison(document),
    ]


def _comparison(document: Document) -> str:
    """Set the formula beside what was measured."""
    lines, factors = [], []
    for run in _in_parts(document):
        formula, measured = seconds_of_run(run, document["costs"]), run["parts"]["median"] / run["degree"]
        lines.append(
            f"{run['n_vertices']:,} vertices ({run['graph']}) on {run['n_workers']} workers "
            f"{format_seconds(formula)} by the formula, {format_seconds(measured)} measured"
        )
        factors.append(measured / formula)
    return (
        "For one degree of the runs above, with the halos that they had and without rows that are stepped twice: "
        f"{'; '.join(lines)}. What is measured has the way of signals and answers and the copies of states in it, and "
        f"workers that share one memory: it is {min(factors):.2f} to {max(factors):.2f} times what the formula says."
    )


def _limits(document: Document) -> str:
    grids = [[row for row in document[name] if row["graph"] == "grid"] for name in ("halos", "predictions")]
    factor, share = missing_in_plane(*grids)
    lines = [
        "All tasks go through one scheduler. A graph in which every part borders on every other (communities, "
        "social networks) has about W² tasks for each exchange, and no more than a degree or two for one: beyond "
        "some ten workers a degree takes longer the more there are, unless the graph is so large that its work "
        "outweighs that. Fewer and larger workers help, or columns of signals on workers that have the whole graph.",
        "τ was measured with scheduler and workers on the same processors; a scheduler with a processor of its own "
        "is faster. ℓ and b are those of one machine, and a network is slower or faster.",
        f"Halos were counted on graphs of {document['halos'][0]['n_vertices']:,} vertices (for the law, in 16 parts "
        "and more) and are carried over several powers of ten. METIS does not fit at these sizes: parts in the "
        "given order or by the streaming rule have larger halos.",
        "Borders in a grid grow with the square root of a part, and a law with a smaller power gives too small "
        f"ones: here up to {factor:.1f} times, which would add {share:.1%} to the time of a degree at most.",
        "The memory of a worker is counted, not measured. c is that of a machine with one worker; workers that "
        "share a memory bus are slower.",
        "Copies of states (24 bytes for each vertex every 64 degrees) and the way of signals to the parts and back "
        "are left out.",
    ]
    return bullets(lines)


def draw(document: Document) -> Figure:
    """Draw times against workers, measured on the left and predicted on the right."""
    figure, (left, right) = new_axes((9.5, 4.0), 1, 2)
    styles = {("strong", "grid"): "o-", ("strong", "communities"): "s-", ("weak", "grid"): "o--"}
    styles |= {("weak", "communities"): "s--"}
    for (scaling, name), style in styles.items():
        runs = [run for run in document["runs"] if (run["scaling"], run["graph"]) == (scaling, name)]
        workers = [run["n_workers"] for run in runs]
        left.plot(workers, [run["ratio"]["median"] for run in runs], style, label=f"{name}, {scaling}")
    left.axhline(1.0, color="0.7", linewidth=0.8)
    left.set(xlabel="workers", ylabel="time over one process with as many threads")
    rows = document["predictions"]
    for name, line in (("grid", "-"), ("communities", "--")):
        for edges in dict.fromkeys(row["n_edges"] for row in rows):
            some = [row for row in rows if (row["graph"], row["n_edges"]) == (name, edges)]
            label = f"{name}, {edges:.0e} edges".replace("e+", "e")
            right.plot([row["n_workers"] for row in some], [row["seconds"] for row in some], line, label=label)
    right.set(xlabel="workers", ylabel="seconds of a degree, predicted", xscale="log", yscale="log")
    right.set_ylim(top=1e3 * max(row["seconds"] for row in rows))  # room for the names
    for ax in (left, right):
        plain_axes(ax)
        ax.legend(fontsize="small", frameon=False)
    return figure


SCRIPT = Script(
    "benchmark_distributed",
    __doc__,
    measure,
    page,
    draw,
    steps=lambda args: len(WORKERS[args.quick]) + 3,
    repeats=(3, 1),
    arguments=add_arguments,
    check=check_arguments,
)
main, markdown = SCRIPT.main, SCRIPT.markdown
