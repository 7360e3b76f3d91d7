"""The page with the errors."""

from __future__ import annotations

from analysis._document import Document, page
from analysis._experiment import config_lines
from analysis._tables import markdown_table
from analysis.movielens import paper
from analysis.movielens.results import error_table, findings, network_table
from analysis.movielens.settings import MOVIELENS, NAMES


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    config = document["config"]
    lines = [
        "Root of the mean squared error over the test ratings, mean ± population standard deviation over "
        f"{document['n_runs']} seeds; in brackets the paper's figure and the difference.",
        "",
        *markdown_table(*error_table(document)),
        "",
    ]
    if config["data"] == MOVIELENS:
        others = ", ".join(f"{name} {error:.3f}" for name, error in paper.PUBLISHED.items())
        lines += [f"Published elsewhere for this data set, not computed here: {others}.", ""]
    lines += [*(f"- {line}" for line in findings(document)), ""]
    header, rows = network_table(document)
    if rows:
        lines += [
            "Networks: parameters by counting, processor time of one thread, and the ratio of test times to Chebyshev "
            "filters of order 4.",
            "",
            *markdown_table(header, rows),
            "",
        ]
    chosen = [row for row in document["rows"] if row["chosen"]]
    if chosen:
        lines += ["Settings of the others, chosen on validation ratings, one per seed:", ""]
        lines += [f"- {NAMES[row['model']]}: {_settings(row)}" for row in chosen]
        lines += [""]
    lines += [
        "How it was done:",
        "",
        f"- Networks: the paper's protocol takes the network with the lowest training loss, looked at every "
        f"{config['every']} of {config['steps']} steps, and its loss is over all training ratings. The other protocol "
        f"sets {config['validation_share']:.0%} of the training ratings aside and takes the network that does best on "
        "them. Test ratings decide nothing.",
        "- Networks by Jacobi iterations learn the coefficients themselves, others the coordinates of `CayleyConv`.",
        "- Jacobi iterations are computed in the eigenbasis of the graphs, where they are one function of the "
        "frequencies: the same numbers, but not the paper's time.",
        "- The others: settings are chosen on validation ratings, then all training ratings are fitted; predictions "
        "are clipped to 1 and 5. The data set has no features of users and movies: IMC has eigenvectors of the graphs.",
        "- The seed decides the division of the training ratings and the weights to begin with.",
    ]
    return page("Matrix completion on MovieLens", document, *lines, facts=config_lines(document))


def _settings(row: Document) -> str:
    texts = []
    for chosen in row["chosen"]:
        texts.append(", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in chosen.items()))
    return "; ".join(texts)
