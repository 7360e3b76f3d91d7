"""What a worker has loaded once it has done something: the package and its compiled loops."""

import dask.array  # noqa: F401
import numpy as np

import cayleygsp as cg
import cayleygsp.distributed.dask_signals
import cayleygsp.distributed.executor
from cayleygsp.distributed import DistributedLaplacian

dL = DistributedLaplacian.from_graph(cg.gallery.ring(12), 2, client="synchronous", partition="order")
for f in (np.ones(12), np.ones((12, 2))):
    cg.ChebyshevFilter(dL, np.ones(3)) @ f
