"""The page, the tables and the sentences."""

from __future__ import annotations

from analysis._document import Document, page
from analysis._tables import Table, format_seconds, markdown_table
from analysis.benchmark_distributed.prediction import halo_law
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
    "received",
    "predicted",
    "largest worker",
)
PREDICTION_HEADER = ("graph", "edges", "workers", "a degree", "compute", "tasks", "wire", "efficiency", "a worker")


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
        format_bytes(run["received_bytes"]),
        format_bytes(run["predicted_bytes"]),
        format_bytes(max(run["memory_of_workers"])),
    ]


def prediction_cells(row: Document) -> list[str]:
    """Return one line of the table of predictions."""
    return [
        row["graph"],
        f"{row['n_edges']:.0e}".replace("e+", "e"),
        str(row["n_workers"]),
        format_seconds(row["seconds"]),
        format_seconds(row["compute"]),
        format_seconds(row["tasks"]),
        format_seconds(row["wire"]),
        f"{row['efficiency']:.0%}",
        format_bytes(row["worker_bytes"]),
    ]


def conclusions(document: Document) -> list[str]:
    """Say what was reached."""
    target, limited, costs = document["target"], document["limited"], document["costs"]
    off = abs(target["received_bytes"] / target["predicted_bytes"] - 1)
    lines = [
        f"two workers of one thread take {target['ratio']['median']:.2f} times as long as one process with two threads "
        f"on a grid of {target['n_vertices']:,} vertices ({target['ratio']['low']:.2f} to "
        f"{target['ratio']['high']:.2f}; the target is {TARGET_RATIO:g})",
        f"they received {format_bytes(target['received_bytes'])}, {off:.1%} off the count of the values at the borders",
        f"answers differ by at most {max(run['difference'] for run in document['runs']):.1e} from those of one process",
        f"a task costs {format_seconds(costs['task_seconds'])}, and {format_bytes(costs['bandwidth'])} go from worker "
        "to worker in a second",
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
        "thread with one part each, cut in the order of the vertices; one process has as many threads as there are "
        "workers, and no more than the machine. Rounds are interleaved, medians are shown. Received are the bytes that "
        "workers took from one another, predicted the values at the borders of the parts times eight.",
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
        "One degree of one signal takes e c / W for the e entries of the matrix on W workers with one part each, plus "
        "(1 + q) W τ for the tasks of q neighbours that one scheduler hands out, plus 8 h / b for the halo of h "
        f"vertices on the wire. Measured: c = {document['costs']['entry_seconds']:.2e} s, "
        f"τ = {document['costs']['task_seconds']:.2e} s, b = {document['costs']['bandwidth']:.2e} bytes/s, and halos "
        f"of parts of m vertices by METIS as powers of m ({'; '.join(laws)}).",
        "",
        *markdown_table(PREDICTION_HEADER, [prediction_cells(row) for row in document["predictions"]]),
        "",
        "Where it breaks: the tasks of all parts go through one scheduler, so that beyond some hundred workers a "
        "degree takes longer the more workers there are, unless s degrees are done for one exchange, which divides the "
        "tasks by s and is possible where halos are thin (grids, roads) and not where every part borders on every "
        "other (communities, social networks). There q grows up to the number of workers, which the measured number of "
        "neighbours understates, and parts should have several threads instead. The law of the halo was measured on "
        f"graphs of {document['halos'][0]['n_vertices']:,} vertices and is carried over several powers of ten. The "
        "wire is that of one machine; a network is slower or faster. The memory of a worker is counted, not measured, "
        "and METIS does not fit at these sizes: parts in the given order or by the streaming rule have larger halos.",
    )
