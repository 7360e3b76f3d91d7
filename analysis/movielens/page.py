"""The page with the errors."""

from __future__ import annotations

from analysis._document import Document, page
from analysis._experiment import config_lines
from analysis._tables import format_seconds, markdown_table
from analysis.movielens import paper
from analysis.movielens.costs import WAYS
from analysis.movielens.results import course_table, error_table, findings, network_table
from analysis.movielens.settings import MOVIELENS, NAMES


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    config = document["config"]
    lines = [
        "Root of the mean squared error over the test ratings, mean ± population standard deviation over the seeds; in "
        "brackets the paper's figure and the difference.",
        "",
        *markdown_table(*error_table(document)),
        "",
    ]
    if config["data"] == MOVIELENS:
        others = ", ".join(f"{name} {error:.3f}" for name, error in paper.PUBLISHED.items())
        lines += [f"Published elsewhere for this data set, not computed here: {others}.", ""]
    lines += [*(f"- {line}" for line in findings(document)), ""]
    if document["curves"]:
        lines += [*markdown_table(*course_table(document)), ""]
    header, rows = network_table(document)
    if rows:
        lines += [
            "Networks: parameters by counting; processor time of one thread for loss and gradients (training step) and "
            f"for the factors (test), medians of {document['costs']['rounds']} rounds in which networks take turns, "
            "with the zooms that they learned; ratio of the test time to that of Chebyshev filters of order 4.",
            "",
            *markdown_table(header, rows),
            "",
        ]
    ways = document["costs"]["ways"]
    if ways:
        lines += [
            "A training step with Cayley filters by the series and by the eigenbasis, which gives the same numbers; "
            "the first is what is used:",
            "",
            *markdown_table(["way", "time"], [[WAYS[way], format_seconds(ways[way])] for way in ways]),
            "",
        ]
    chosen = [row for row in document["rows"] if row["chosen"]]
    if chosen:
        lines += ["Settings of the others, chosen on validation ratings, one per seed:", ""]
        lines += [f"- {NAMES[row['model']]}: {_settings(row)}" for row in chosen]
        lines += [""]
    lines += ["How it was done:", "", *_remarks(document)]
    return page("Matrix completion on MovieLens", document, *lines, facts=config_lines(document))


def _remarks(document: Document) -> list[str]:
    config = document["config"]
    lines = [
        f"- Networks are trained for {config['steps']:,} steps unless the table says otherwise; the authors' for "
        f"{paper.STEPS:,}.",
        f"- The paper's protocol takes the network with the lowest training loss, looked at every {config['every']} "
        "steps, and its loss is over all training ratings. The other protocol "
        f"sets {config['validation_share']:.0%} of the training ratings aside and takes the network that does best on "
        "them. Test ratings decide nothing.",
        "- Cayley filters learn the coefficients themselves, as in the paper, unless said otherwise.",
        "- Jacobi iterations are polynomials of these Laplacians, which have ones on the diagonal. They are computed "
        f"by their Chebyshev series, with an error of at most {config['tol']:g} in each basis function: their time is "
        "not the paper's.",
        "- The others: settings are chosen on validation ratings, then all training ratings are fitted; predictions "
        "are clipped to 1 and 5. The data set has no features of users and movies: IMC has eigenvectors of the graphs.",
        "- The seed decides the division of the training ratings and the weights to begin with.",
    ]
    if document.get("recorded"):
        lines.append(
            "- Runs of an earlier call with the same settings were taken over. The machine that made them may be "
            "another one; the JSON file has the date of each."
        )
    return lines


def _settings(row: Document) -> str:
    texts = []
    for chosen in row["chosen"]:
        texts.append(", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in chosen.items()))
    return "; ".join(texts)
