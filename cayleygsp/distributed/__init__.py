"""Graphs in parts: the same filters and certificates on the workers of a Dask cluster.

:class:`DistributedLaplacian` takes the place of a graph in every filter; :func:`cut_edges` makes the parts of a graph
whose edges do not fit into one memory. The format of parts on disk is that of :mod:`cayleygsp.distributed.folder`.
"""

from cayleygsp.distributed.building import cut_edges
from cayleygsp.distributed.laplacian import DistributedLaplacian

__all__ = ["DistributedLaplacian", "cut_edges"]
