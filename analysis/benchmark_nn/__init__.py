"""Speed and memory of the trainable layers: against the paper's scheme, PyTorch Geometric, and their own sizes.

Run ``python -m analysis.benchmark_nn``. Every row is measured side by side in one process: the same input and weights,
errors against a dense computation in double precision first, then times in turns. The exit code says nothing of the
figures.
"""

from analysis.benchmark_nn.figure import draw
from analysis.benchmark_nn.page import markdown
from analysis.benchmark_nn.script import main

__all__ = ["draw", "main", "markdown"]
