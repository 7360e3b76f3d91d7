"""What the runs show: test accuracies beside the paper's, costs, and its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis._document import Document
from analysis._experiment import beside, grouped
from analysis._tables import format_seconds
from analysis.mnist import paper
from analysis.mnist.filters import frequencies
from analysis.mnist.settings import CAYLEYNET, CHEBNET, DRAWN, FULL, JACOBI, LENET, MNIST, NAMES, Config

# What is asked of the whole protocol: test accuracies in %, and the test time of a CayleyNet over that of a ChebNet.
LEAST = {LENET: 99.2, CHEBNET: 99.0, CAYLEYNET: 99.1}
MOST_RATIO = 1.4

# Filters of a layer in the picture: curves of responses, and images on the grid.
N_CURVES, N_IMAGES = 6, 8

_LONG = ("filters", "loss", "validation", "validation_loss")


def collect(config: Config, runs: Sequence[Document], costs: Mapping[str, Document]) -> Document:
    """Return one row per network, the course of each training, learned filters of the first seed, and every run."""
    is_known = config.data == MNIST and config.n_train == FULL.n_train
    rows = []
    for row in grouped(runs, "accuracy"):
        same = [run for run in runs if run["setting"] == row["setting"]]
        model = row["setting"]["model"]
        rows.append(
            {
                "model": model,
                **{name: row[name] for name in ("mean", "sd", "n")},
                "paper": paper.ACCURACY.get(model) if is_known else None,
                "n_parameters": same[0]["numbers"]["n_parameters"],
                **costs[model],
                "zooms": [run["numbers"]["zooms"] for run in same if run["numbers"]["zooms"]],
                "filters": [_shown(layer) for layer in same[0]["numbers"]["filters"]],
            }
        )
    curves = [
        {"model": run["setting"]["model"], "seed": run["seed"]}
        | {name: run["numbers"][name] for name in ("loss", "validation", "validation_loss")}
        for run in runs
    ]
    kept = [
        {**run, "numbers": {name: value for name, value in run["numbers"].items() if name not in _LONG}} for run in runs
    ]
    return {"rows": rows, "curves": curves, "frequencies": frequencies().tolist(), "runs": kept}


def _shown(layer: Document) -> Document:
    """Return of the filters of a layer those that the picture has."""
    most = {"responses": N_CURVES, "images": N_IMAGES}
    return {name: value[: most[name]] if name in most else value for name, value in layer.items()}


def accuracy_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the test accuracies."""
    rows = []
    for row in document["rows"]:
        text = beside(row["mean"], row["sd"] if row["n"] > 1 else None, row["paper"])
        if row["n"] != document["n_runs"]:
            text += f", {row['n']} of {document['n_runs']} seeds"
        zooms = "; ".join(", ".join(f"{zoom:.3f}" for zoom in zooms) for zooms in row["zooms"])
        rows.append([NAMES[row["model"]], text, f"{row['n_parameters']:,}", zooms])
    return ["network", "test accuracy in % (the paper's, difference)", "parameters", "zoom of each layer"], rows


def cost_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of what a network costs; times are processor time of one thread."""
    reference = _row_of(document, CHEBNET)
    rows = []
    for row in document["rows"]:
        cells = [NAMES[row["model"]]]
        for name in ("step_seconds", "test_seconds"):
            ratio = f" ({row[name] / reference[name]:.2f} × ChebNet)" if reference and row is not reference else ""
            cells.append(format_seconds(row[name]) + ratio)
        in_paper = paper.TEST_SECONDS.get(row["model"]) if row["paper"] is not None else None
        cells.append("" if in_paper is None else f"{in_paper / paper.TEST_SECONDS[CHEBNET]:.1f}")
        rows.append(cells)
    return ["network", "training step", "test of 100 images", "the paper's ratio to ChebNet"], rows


def findings(document: Document) -> list[str]:
    """Say what the accuracies and times show, each in a sentence that may turn out either way."""
    sentences = []
    if document["config"]["data"] == DRAWN:
        sentences.append("The digits are drawn: accuracies are not to be compared with the paper's.")
    if document["missing"]:
        sentences.append(f"Not trained to the end yet: {', '.join(NAMES[model] for model in document['missing'])}.")
    for model, least in LEAST.items():
        row = _row_of(document, model)
        if row is not None and row["paper"] is not None:
            word = "at or above" if row["mean"] >= least else "below"
            sentences.append(f"{NAMES[model]} is {word} {least:.1f} %; the paper has {row['paper']:.2f} %.")
    cheb, cayley = _row_of(document, CHEBNET), _row_of(document, CAYLEYNET)
    if cheb and cayley:
        ratio = cayley["test_seconds"] / cheb["test_seconds"]
        word = "within" if ratio <= MOST_RATIO else "not within"
        apart = paper.TEST_SECONDS[CAYLEYNET] / paper.TEST_SECONDS[CHEBNET]
        step = cayley["step_seconds"] / cheb["step_seconds"]
        sentences.append(
            f"CayleyNet over ChebNet: {ratio:.2f} times the test time, {word} {MOST_RATIO}, and {step:.2f} times the "
            f"training step; the paper's test times are {apart:.1f} times apart."
        )
    return sentences + _jacobi_finding(document)


def _jacobi_finding(document: Document) -> list[str]:
    """Compare the loss curve of the paper's Jacobi scheme with that of the series, over as many steps."""
    curves = {curve["model"]: curve["loss"] for curve in reversed(document["curves"])}
    if JACOBI not in curves or CAYLEYNET not in curves:
        return []
    n = min(len(curves[JACOBI]), len(curves[CAYLEYNET]))
    ours, theirs = (curves[model][n - 1] for model in (CAYLEYNET, JACOBI))
    return [
        f"After as many steps the training loss is {ours:.4f} with our filters and {theirs:.4f} by the paper's Jacobi "
        "scheme."
    ]


def _row_of(document: Document, model: str) -> Document | None:
    return next((row for row in document["rows"] if row["model"] == model), None)
