"""Time of a Cayley layer against its order and the size of the graph, by every method, beside the paper's (Appendix C).

Run ``python -m analysis.complexity`` on a quiet machine. A network is one convolution with 32 features, ReLU, mean over
the vertices, classifier. "Test" is one forward pass of a batch, "training" also the backward pass and a step of Adam;
times are means of 30, of fewer where they are long, taken in turns. The paper's times are of another machine (a
graphics card) and of a batch and a graph that it does not tell, so ratios to ChebNet are what can be compared,
and those with care. Its curves against the number of vertices are not in its source.
"""

from analysis.complexity.figure import draw
from analysis.complexity.page import findings, markdown, table
from analysis.complexity.script import compute, main

__all__ = ["compute", "draw", "findings", "main", "markdown", "table"]
