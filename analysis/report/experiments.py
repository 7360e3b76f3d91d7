"""Small forms of the experiments with networks."""

from __future__ import annotations

from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import Any

from matplotlib.figure import Figure

from cayleygsp._html import Picture, Section, Table

# Title, what the picture shows for those who do not see it, and how to read it.
_WORDS = {
    "community": (
        "The paper's first experiment, in small",
        "Accuracy over order for all methods, learned filters, and learned zooms over the spectral gap.",
        "From above: test accuracy over the order, four learned filters of each kind, and the learned zooms.",
    ),
    "complexity": (
        "Time of a layer, in small",
        "Times and ratios over order and size, test above training.",
        "Time of one step over the order, its ratio to ChebNet, and its time over the size of the graph; test "
        "above training.",
    ),
    "mnist": (
        "Digits on the graph of the pixels, in small",
        "Loss and validation error along the training, learned filters on the grid and their responses.",
        "Above, loss and validation error; below, for each network, filters of the first layer on the grid and "
        "responses of both layers.",
    ),
    "cora": (
        "Citation network, in small",
        "Test accuracy of every network.",
        "Test accuracy in % of every network: dots are runs, the black dot their mean.",
    ),
    "movielens": (
        "Matrix completion, in small",
        "Error over the steps of the training, and the error of every method.",
        "Left, the error over the training steps; right, the error of the chosen networks and of the others.",
    ),
}


def experiment_sections(argv: Sequence[str]) -> tuple[list[Section], dict[str, Any]]:
    """Return the small forms of the paper's experiments and of its timing study, and their numbers.

    ``argv`` is what all scripts are called with besides ``--quick``.
    """
    from analysis import community, complexity, cora, mnist, movielens

    with TemporaryDirectory() as work:
        small = ["--quick", *argv, "--work", work]
        _, trained = community.compute(small, quiet=True)
        scripts = (mnist, movielens, cora)
        digits, completed, cited = (one.compute([*small, "--workers", "1"], quiet=True)[1] for one in scripts)
    _, timed = complexity.compute(["--quick", *argv], quiet=True)
    numbers = {"community": trained["rows"], "complexity": timed["by_order"], "movielens": completed["rows"]}
    numbers |= {"mnist": digits["rows"], "cora": cited["rows"]}
    taught, drawn = trained["config"], digits["config"]
    kind = "generated digits" if drawn["data"] == "drawn" else "digits of MNIST"
    sections = [
        _section(
            "community",
            f"Which of 15 communities is a noisy step signal on? One convolution with {community.N_FEATURES} features, "
            f"the mean over the vertices and a softmax, trained on {taught['n_train']} signals; test accuracy in %, "
            f"mean and deviation over {trained['n_runs']} runs. The whole protocol is python -m analysis.community.",
            community.draw(trained),
            community.table(trained),
            community.findings(trained),
        ),
        _section(
            "complexity",
            "Mean time of a training step and its ratio to ChebNet, in brackets the paper's ratio and the difference. "
            "Sizes are too small for the ratios to mean much: the whole study is python -m analysis.complexity.",
            complexity.draw(timed),
            complexity.table(timed["by_order"], "training", "order"),
        ),
        _section(
            "mnist",
            f"Two convolutions on the graph of the pixels with Graclus pooling, trained on {drawn['n_train']} "
            f"{kind} for {drawn['epochs']} epochs. The whole protocol is python -m analysis.mnist.",
            mnist.draw(digits),
            mnist.accuracy_table(digits),
            mnist.findings(digits),
        ),
        _section(
            "cora",
            "Papers are classified by their words and by whom they cite. The graph is generated and the training "
            "short; that of the paper is python -m analysis.cora.",
            cora.draw(cited),
            cora.accuracy_table(cited),
        ),
        _section(
            "movielens",
            "Ratings that groups of users give to groups of movies are completed with a graph of each side, by a "
            f"recurrent network trained for {completed['config']['steps']} steps and by methods without networks. The "
            "problem is generated; that of the paper is python -m analysis.movielens.",
            movielens.draw(completed),
            movielens.error_table(completed),
        ),
    ]
    return sections, numbers


def _section(name: str, text: str, figure: Figure, table: Any, findings: Sequence[str] = ()) -> Section:
    title, alt, caption = _WORDS[name]
    return Section(title, [text], [Picture.from_figure(name, figure, alt, caption)], Table(*table), findings)
