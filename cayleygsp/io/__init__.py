"""Reading graphs from files: matrices of numpy, scipy and MATLAB, Matrix Market, edge lists, GraphML."""

from cayleygsp.io.graphs import read_graph

__all__ = [
    "read_graph",
]
