"""Reading graphs and signals from files: matrices of numpy, scipy and MATLAB, Matrix Market, edge lists, GraphML."""

from cayleygsp.io.graphs import read_edges, read_graph
from cayleygsp.io.signals import read_signal

__all__ = [
    "read_edges",
    "read_graph",
    "read_signal",
]
