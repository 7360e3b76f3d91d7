"""The page with the accuracies of a split."""

from __future__ import annotations

from analysis._document import Document, page
from analysis._tables import markdown_table
from analysis.cora import paper
from analysis.cora.results import (
    OTHER_HALVES,
    accuracy_table,
    findings,
    is_near,
    mean_text,
    recipe_table,
    run_lines,
)
from analysis.cora.settings import (
    DCNN,
    DRAWN,
    EXTENDED,
    HALVED,
    INNER,
    NAMES,
    RANDOM,
    STANDARD,
    SWAPPED,
)

_SPLITS = {
    STANDARD: "140 vertices are for training, 500 choose the network, 1,000 are for the test, as in Planetoid.",
    EXTENDED: "All vertices but the 1,000 test vertices of Planetoid (1,708 of Cora) are for training; of those 1,000, "
    "in the order of their numbers, the first half chooses the network and the second half is for the test. The paper "
    "does not say which half is which.",
    SWAPPED: "The extended split with its halves swapped: of the 1,000 test vertices of Planetoid, in the order of "
    "their numbers, the second half chooses the network and the first half is for the test. The settings are those of "
    "the extended split, which were chosen with the first half: this page shows how the halves differ, and is no "
    "result to compare methods by.",
    HALVED: "The extended split with halves that are drawn anew in every run, the same for all models: of the 1,000 "
    "test vertices of Planetoid one half chooses the network and the other is for the test. The settings are those of "
    "the extended split, which were chosen with vertices that are for the test here in half of the cases. This is the "
    "third way of halving that was tried, after the two fixed ones had been seen: the page shows what the halves "
    "decide, not that the paper halved so.",
    RANDOM: "Every run has a split of its own: 20 vertices of each class are for training, 500 others choose the "
    "network and 1,000 are for the test. All models have the same splits, and the settings of the standard one.",
    INNER: "Every run has a split of its own of the vertices outside Planetoid's test set: 20 of each class "
    "are for training, 500 others choose the network, and the rest is what is shown. Settings can be compared on it.",
}

_CHOICE = "Networks are chosen with validation vertices; test vertices are looked at once in a run, at its end."
_SETTINGS = {
    STANDARD: "Settings were chosen with validation vertices or are those of the authors. Of three models test figures "
    "of earlier settings had been seen: of the decoupled networks, 81.1 to 82.3, before the present settings were "
    "compared on other vertices; of DCNN, 75.6, before it got the loss, words, start and epochs of its authors' code; "
    "and of MoNet, before its Gaussian was made to start wide, with means over the neighbours. GCN, GAT and APPNP have "
    "the settings of their authors or of PyTorch Geometric and were not tuned; what was chosen for the decoupled "
    "networks, epochs and dropout of the scores, APPNP has in a row of its own.",
    EXTENDED: "Settings were chosen with validation vertices or are those of the authors. Test figures of earlier "
    "settings had been seen when CayleyNet's learning rate, epochs and patience were changed (88.4; its validation "
    "accuracy rose from 86.7 to 87.9), and when GAT and DCNN were made those of the paper and of the authors' code "
    "(88.8 and 88.5). MoNet is that of the standard split, which was changed after test figures there. GCN was not "
    "tuned.",
    RANDOM: "The test vertices of these splits are among those that settings were compared on, and an earlier recipe "
    "of the decoupled network had been seen on them, with 81.5; the standard split is the one to compare methods by.",
}


# Where to look for why an accuracy is far from the paper's, by split and model.
_STUDIED = {
    (STANDARD, DCNN): "[what decides its accuracy](cora_dcnn.md) has one setting changed at a time",
}


def reasons(document: Document) -> list[str]:
    """Say of every baseline that is not near the paper's where a reason was looked for, or that none was found."""
    split = document["config"]["split"]
    lines = []
    for row in document["rows"]:
        if row["paper"] is None or is_near(row):
            continue
        where = _STUDIED.get((split, row["model"]), "no reason was found")
        others = [
            f"with {OTHER_HALVES[other['split']]} it is {mean_text(other['rows'][row['model']])}"
            for other in document.get("other_halves", [])
            if row["model"] in other["rows"]
        ]
        if others:
            where = f"it depends on the halves, which the paper does not specify: {' and '.join(others)}"
        lines.append(f"Why {NAMES[row['model']]} is not nearer to the paper's {row['paper']:g}: {where}.")
    return lines


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    config = document["config"]
    lines = [
        "Test accuracy in %, mean ± population standard deviation over the runs; in brackets the paper's figure and "
        f"the difference. {_SPLITS[config['split']] if config['dataset'] != DRAWN else 'The graph is drawn.'}",
        "",
        *markdown_table(*accuracy_table(document)),
        "",
    ]
    if config["dataset"] == "cora" and config["split"] in (STANDARD, RANDOM):
        others = "; ".join(f"{name} {accuracy:g}" for name, accuracy in paper.PUBLISHED.items())
        lines += [
            f"Published elsewhere for the standard split, not computed here: {others}. For other splits: "
            f"{'; '.join(paper.PUBLISHED_ELSEWHERE)}.",
            "",
        ]
    lines += [*(f"- {line}" for line in [*findings(document), *reasons(document)]), ""]
    header, rows = recipe_table(document)
    lines += ["Settings that differ, see `analysis/cora/settings.py`; a dash: the model has no such setting.", ""]
    lines += [*markdown_table(header, rows), ""]
    lines += [
        " ".join(
            [
                _CHOICE,
                *([_SETTINGS[config["split"]]] if config["split"] in _SETTINGS else []),
                "Parameters are all that are learned; the paper's numbers leave out biases, zooms and filters of "
                "shared layers. Processor time is that of one thread on a machine that did other work too.",
            ]
        )
    ]
    if document.get("recorded"):
        lines[-1] += (
            " Runs of an earlier table with the same settings were taken over with the times of the machine that made "
            "them, which may be another one; the JSON file has the date of each."
        )
    return page(f"Citation network: the {config['split']} split", document, *lines, facts=run_lines(document))
