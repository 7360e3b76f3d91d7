"""The paper's first experiment: which of 15 communities a noisy step signal is on, by CayleyNets and ChebNets.

Run ``python -m analysis.community``. A network is one convolution with 32 features, ReLU, the mean over the vertices
and a softmax; order and method of the convolution are varied. Every run has a graph, signals and weights of its own.
The model is the one of the epoch that did best on validation signals; test signals are looked at once.

Learning rates are the same for all orders and methods of a kind of network. ChebNet has its own, so that it is not held
to what suits the other: ``--tune`` tries several for both kinds, on graphs that no run uses, by validation accuracy.
"""

from analysis._networks import N_FEATURES
from analysis.community.figure import draw
from analysis.community.page import markdown
from analysis.community.results import findings, table
from analysis.community.script import compute, main
from analysis.community.tuning import tuning_markdown

__all__ = ["N_FEATURES", "compute", "draw", "findings", "main", "markdown", "table", "tuning_markdown"]
