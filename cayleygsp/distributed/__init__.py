"""Graphs in parts: the same filters and certificates on the workers of a Dask cluster."""

from cayleygsp.distributed.laplacian import DistributedLaplacian

__all__ = ["DistributedLaplacian"]
