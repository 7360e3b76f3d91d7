"""The page with the accuracies."""

from __future__ import annotations

from analysis._document import Document, page
from analysis._experiment import config_lines
from analysis._tables import markdown_table
from analysis.community.results import findings, table, zoom_table


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    graph, config = document["graph"], document["config"]
    lines = [
        f"Test accuracy in %, mean ± population standard deviation over {document['n_runs']} runs with "
        f"{config['n_test']} test signals each; in brackets the paper's mean and the difference. Every run has a "
        "graph, signals and weights of its own, so that the deviation is also that of the graphs.",
        "",
        *markdown_table(*table(document)),
        "",
        *(f"- {line}" for line in findings(document)),
        "",
        "What was chosen here, as the paper does not say:",
        "",
        f"- The graph: 15 communities of {config['smallest']} to {config['largest']} vertices, no two of a size, "
        f"{graph['n_vertices']} vertices in all; edges inside with probability {config['p_in']:g}, between with "
        f"{config['p_out']:g}; weights with spread {config['spread']:g} (0 is none: all edges weigh 1). The parameters "
        "were tried by hand on other graphs, until the contrast of the paper's figure was there.",
        f"- The noise: variance {config['noise']:g}.",
        f"- The training: Adam, learning rate {config['lr']:g} for CayleyNet and {config['cheb_lr']:g} for ChebNet, "
        f"each tried for itself, {config['n_train']} signals, {config['epochs']} epochs; features are standardised "
        "over the batch before the classifier. The model is that of the epoch with the best validation accuracy. All "
        "this is the same for all models.",
        "",
        "Where our figures differ from the paper's, graph, noise and training may differ as well: it tells none of "
        "them in full.",
    ]
    header, rows = zoom_table(document)
    if rows:
        lines += [
            "",
            "Learned zoom of the exact CayleyNet, beside 1/√(λ₁₅ λ₁₆), which spreads the gap between the frequencies "
            "of the communities and the others most:",
            "",
            *markdown_table(header, rows),
        ]
    return page("Community detection", document, *lines, facts=config_lines(document))
