"""The page with the accuracies."""

from __future__ import annotations

from analysis._document import Document, page
from analysis._experiment import config_lines
from analysis._tables import markdown_table
from analysis.mnist.costs import ROUNDS
from analysis.mnist.results import accuracy_table, cost_table, findings
from analysis.mnist.settings import EXACT
from cayleygsp.nn.layers.learned_filters import COEFFICIENTS, ORTHOGONAL

_LEARNED = {
    COEFFICIENTS: "the coefficients themselves, as in the paper, by the series and by the Jacobi scheme alike",
    ORTHOGONAL: "weights in orthogonal coordinates, the default of the layers",
}


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    config = document["config"]
    many = f", mean ± population standard deviation over {document['n_runs']} seeds" if document["n_runs"] > 1 else ""
    second = (
        "in the eigenbasis of its graph, where a filter costs the same whatever its order is"
        if config["second"] == EXACT
        else "by the recurrences of the layers"
    )
    return page(
        "Digits on the graph of the pixels",
        document,
        f"Test accuracy of the last state after {config['epochs']} epochs{many}; in brackets the paper's figure and "
        "the difference.",
        "",
        *markdown_table(*accuracy_table(document)),
        "",
        *(f"- {line}" for line in findings(document)),
        "",
        f"Processor time of one thread, the median of {ROUNDS} rounds in which the networks take turns, with the zooms "
        "that were learned.",
        "",
        *markdown_table(*cost_table(document)),
        "",
        "How it was done:",
        "",
        f"- {config['n_train']:,} images are for training, the first {config['n_validation']:,} of the training file "
        f"for validation, which decides nothing in a run, {config['n_test']:,} for the test, which is made once, at "
        "the end.",
        "- Convolutions are on the 8-nearest-neighbour graph of the pixels and on its second coarsening; each is "
        "followed by pooling over four vertices. Fake vertices take no part.",
        f"- Chebyshev filters have {2 * config['order'] + 1} terms, Cayley filters the order {config['order']}: as "
        "many coefficients, and a zoom per layer. The first layer computes by recurrences (Cayley filters by series "
        f"with an error of at most {config['tol']:g}), the second {second}.",
        f"- Cayley filters learn {_LEARNED[config['parametrization']]}.",
        "- Weights and coefficients start normal, cut at two deviations; steepest descent with momentum; the learning "
        "rate falls after every epoch; squares of the dense layers are penalised; gradients are cut for Cayley filters "
        "alone, as in the authors' code.",
        "- Jacobi sweeps are computed in the eigenbasis, where they are one function of the frequencies: the same "
        "numbers, but not the paper's time.",
        facts=[*config_lines(document), *_dates(document)],
    )


def _dates(document: Document) -> list[str]:
    """Say when the runs were finished, which may be long before the page was written."""
    dates = sorted(run["made"]["date"] for run in document["runs"])
    return [f"- Runs were finished from {dates[0]} to {dates[-1]}"] if dates else []
