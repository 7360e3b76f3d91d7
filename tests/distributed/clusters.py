"""Clusters of processes for the tests, whose workers need not load the package one by one."""

from collections.abc import Iterator
from contextlib import contextmanager

import dask
from distributed.utils import get_mp_context

# Nobody looks at a profile or at a dashboard, and machines are not watched.
_QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}


@contextmanager
def copied_workers() -> Iterator[None]:
    """Let workers begin as copies of one process that has loaded what they need, also those that come later.

    What users have, processes that begin with nothing, is in the tests of the command line and of the pages.
    """
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver", **_QUIET}):
        # after Dask's own list, which this takes the place of
        get_mp_context().set_forkserver_preload(["distributed", "tests.distributed.loaded_worker"])
        yield
