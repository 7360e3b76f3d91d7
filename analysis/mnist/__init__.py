"""The paper's MNIST experiment: digits classified on the graph of their pixels.

Run ``python -m analysis.mnist``. A ChebNet and a CayleyNet with two convolutions and Graclus pooling are compared with
LeNet5, which knows the grid; each is trained as in the authors' code and its last state reported. Started by
``torchrun``, several processes train a network together.
"""

from analysis.mnist.figure import draw
from analysis.mnist.page import markdown
from analysis.mnist.results import accuracy_table, cost_table, findings
from analysis.mnist.script import compute, main

__all__ = ["accuracy_table", "compute", "cost_table", "draw", "findings", "main", "markdown"]
