"""The page, the tables and the sentences."""

from __future__ import annotations

from analysis._document import Document, page
from analysis._tables import Table, format_seconds, markdown_table
from analysis.benchmark_distributed.prediction import halo_law, missing_in_plane, seconds_of_run
from analysis.benchmark_distributed.settings import TARGET_RATIO
from cayleygsp._memory import format_bytes

RUN_HEADER = (
    "scaling",
    "graph",
    "vertices",
    "workers",
    "one process",
    "parts",
    "ratio",
    "halos received",
    "counted",
    "states copied",
    "largest worker",
)
PREDICTION_HEADER = (
    "graph",
    "edges",
    "workers",
    "s",
    "a degree",
    "compute",
    "done twice",
    "tasks",
    "wire",
    "efficiency",
    "a worker",
)


def run_cells(run: Document) -> list[str]:
    """Return one line of the table of runs."""
    return [
        run["scaling"],
        run["graph"],
        f"{run['n_vertices']:,}",
        str(run["n_workers"]),
        format_seconds(run["one_process"]["median"]),
        format_seconds(run["parts"]["median"]),
        f"{run['ratio']['median']:.2f}",
        format_bytes(run["received_bytes"]["halo"]),
        format_bytes(run["predicted_bytes"]["halo"]),
        format_bytes(run["received_bytes"]["kept"]),
        format_bytes(max(run["memory_of_workers"])),
    ]


def prediction_cells(row: Document) -> list[str]:
    """Return one line of the table of predictions."""
    return [
        row["graph"],
        f"{row['n_edges']:.0e}".replace("e+", "e"),
        str(row["n_workers"]),
        str(row["degrees_per_exchange"]),
        format_seconds(row["seconds"]),
        format_seconds(row["compute"]),
        format_seconds(row["twice"]),
        format_seconds(row["tasks"]),
        format_seconds(row["wire"]),
        f"{row['efficiency']:.0%}",
        format_bytes(row["worker_bytes"]),
    ]


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


def tables(document: Document) -> list[Table]:
    """Return what is printed."""
    return [
        Table("Scaling", list(RUN_HEADER), [run_cells(run) for run in document["runs"]], 2),
        Table("Prediction", list(PREDICTION_HEADER), [prediction_cells(row) for row in document["predictions"]], 1),
    ]


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    laws = []
    for name in dict.fromkeys(row["graph"] for row in document["halos"]):
        factor, exponent = halo_law([row for row in document["halos"] if row["graph"] == name])
        laws.append(f"{name}: h = {factor:.3g} m^{exponent:.3f}")
    return page(
        "Graphs in parts on worker processes",
        document,
        f"A series of degree {document['degree']} on one signal in double precision. Workers are processes of one "
        "thread with one part each, cut in the order of the vertices, with the default settings: states are copied to "
        "a second worker every 64 degrees. One process has as many threads as there are workers, and no more than the "
        "machine. Rounds are interleaved, medians are shown. Received are the bytes that workers noted of what they "
        "took from one another in one more round; counted are the values at the borders of the parts times eight.",
        "",
        *(f"- {line}" for line in conclusions(document)),
        "",
        "## Scaling",
        "",
        "Strong: the same graph for more workers. Weak: a graph that grows with them.",
        "",
        *markdown_table(RUN_HEADER, [run_cells(run) for run in document["runs"]]),
        "",
        "## Larger clusters: an estimate",
        "",
        *_formula(document),
        "",
        *markdown_table(PREDICTION_HEADER, [prediction_cells(row) for row in document["predictions"]]),
        "",
        *_limits(document),
    )


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
        "",
        "    t = e c / W + (d c / s) (h_1 + … + h_{s-1}) + (ℓ + (1 + q) W τ) / s + 8 (h_s + h_{s-1}) / (s b)",
        "",
        "for the e entries of the matrix, d in a row, on W workers with one part each that do s degrees for one "
        "exchange; h_j is the number of vertices up to j edges away from a part, q that of its neighbours. The terms "
        "are the work, rows that two parts step, the tasks that one scheduler hands out, and the wire; s is what takes "
        f"the least time. Measured: c = {' and '.join(entries)}, ℓ = {costs['exchange_seconds']:.2e} s, "
        f"τ = {costs['task_seconds']:.2e} s, b = {costs['bandwidth']:.2e} bytes/s, and parts of m vertices by METIS "
        f"({'; '.join(laws)}).",
        *_comparison(document),
    ]


def _comparison(document: Document) -> list[str]:
    """Set the formula beside what was measured."""
    lines, factors = [], []
    for run in _in_parts(document):
        formula, measured = seconds_of_run(run, document["costs"]), run["parts"]["median"] / run["degree"]
        lines.append(
            f"{run['n_vertices']:,} vertices ({run['graph']}) on {run['n_workers']} workers "
            f"{format_seconds(formula)} by the formula, {format_seconds(measured)} measured"
        )
        factors.append(measured / formula)
    text = (
        "For one degree of the runs above, with the halos that they had and without rows that are stepped twice: "
        f"{'; '.join(lines)}. What is measured has the way of signals and answers and the copies of states in it, and "
        f"workers that share one memory: it is {min(factors):.2f} to {max(factors):.2f} times what the formula says."
    )
    return ["", text]


def _limits(document: Document) -> list[str]:
    grids = [[row for row in document[name] if row["graph"] == "grid"] for name in ("halos", "predictions")]
    factor, share = missing_in_plane(*grids)
    return [
        "Where it breaks:",
        "",
        "- All tasks go through one scheduler. A graph in which every part borders on every other (communities, social "
        "networks) has about W² tasks for each exchange, and no more than a degree or two for one: beyond some ten "
        "workers a degree takes longer the more there are, unless the graph is so large that its work outweighs that. "
        "Fewer and larger workers help, or columns of signals on workers that have the whole graph.",
        "- τ was measured with scheduler and workers on the same processors; a scheduler with a processor of its own "
        "is faster. ℓ and b are those of one machine, and a network is slower or faster.",
        f"- Halos were counted on graphs of {document['halos'][0]['n_vertices']:,} vertices (for the law, in 16 parts "
        "and more) and are carried over several powers of ten. METIS does not fit at these sizes: parts in the given "
        "order or by the streaming rule have larger halos.",
        "- Borders in a grid grow with the square root of a part, and a law with a smaller power gives too small ones: "
        f"here up to {factor:.1f} times, which would add {share:.1%} to the time of a degree at most.",
        "- The memory of a worker is counted, not measured. c is that of a machine with one worker; workers that share "
        "a memory bus are slower.",
        "- Copies of states (24 bytes for each vertex every 64 degrees) and the way of signals to the parts and back "
        "are left out.",
    ]
