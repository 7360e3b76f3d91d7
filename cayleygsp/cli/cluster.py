"""The cluster that a command filters on, if the user names one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayleygsp._format import counted
from cayleygsp._text import printable, quoted
from cayleygsp.cli.errors import BadInput, input_errors

if TYPE_CHECKING:
    from cayleygsp.distributed import DistributedLaplacian
    from cayleygsp.graph import Graph


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """The cluster or the worker processes to filter on, if not this process."""

    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="Filter on the Dask cluster whose scheduler is at this address, such as tcp://host:8786.",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="Number of local single-threaded worker processes, started for this command."
        ),
    ] = None
    parts: Annotated[
        int | None,
        typer.Option(
            "--parts",
            min=1,
            help="Number of parts of the graph with --cluster or --workers. Default: the number of threads of the "
            "workers.",
        ),
    ] = None


class Cluster:
    """A cluster that is connected.

    Parameters
    ----------
    client : distributed.Client
        Connected to it.
    n_parts : int or None
        Parts of graphs; None for as many as the workers have threads.
    """

    def __init__(self, client: Any, n_parts: int | None) -> None:
        self._client = client
        self.n_threads = sum(client.nthreads().values())
        self.n_parts = n_parts or max(self.n_threads, 1)

    def cut(self, graph: Graph, kind: Any, tell: Callable[[str], None]) -> DistributedLaplacian:
        """Return the Laplacian of a graph in parts on the cluster; while it filters, ``tell`` hears how far it is."""
        from cayleygsp.distributed import DistributedLaplacian

        with input_errors():
            return _told(DistributedLaplacian.from_graph(graph, self.n_parts, kind, client=self._client), tell)

    def open(self, folder: str, kind: Any, tell: Callable[[str], None]) -> DistributedLaplacian:
        """Return the Laplacian of a graph whose parts are in a folder, which all workers see."""
        from cayleygsp.distributed import DistributedLaplacian

        with input_errors():
            return _told(DistributedLaplacian.from_folder(folder, kind, client=self._client), tell)


def _told(dL: DistributedLaplacian, tell: Callable[[str], None]) -> DistributedLaplacian:
    dL.progress = lambda degree, of: tell(f"degree {degree} of {of}")
    return dL


def is_parts(name: str, options: ClusterOptions) -> bool:
    """Return whether a graph is a folder of parts; reject one without a cluster, or with another number of parts."""
    if not os.path.isfile(Path(name, "manifest.json")):  # Path.is_file raises for a name that is too long
        return False
    if options.cluster is None and options.workers is None:
        raise BadInput(f"{quoted(Path(name))} is a folder of parts: give --cluster or --workers")
    if options.parts is not None:
        raise BadInput(f"--parts is for graphs in one piece, and {quoted(Path(name))} is a folder of parts")
    return True


@contextmanager
def connected(options: ClusterOptions, quiet: bool) -> Iterator[Cluster | None]:
    """Yield the cluster that a user named, None if there is no such; its dashboard is printed.

    Parameters
    ----------
    options : ClusterOptions
        What the user asked for.
    quiet : bool
        Whether to print nothing.

    Raises
    ------
    BadInput
        If options do not go together, or no scheduler answers.
    """
    if options.cluster is None and options.workers is None:
        if options.parts is not None:
            raise BadInput("--parts goes with --cluster or --workers")
        yield None
        return
    if options.cluster is not None and options.workers is not None:
        raise BadInput("--cluster and --workers must not both be given")
    with input_errors():
        try:
            from distributed import Client, LocalCluster

            from cayleygsp.distributed.executor import connect
        except ImportError:
            raise BadInput("--cluster and --workers need dask: install the extra 'distributed'") from None
        if options.cluster is not None:
            own, client = None, connect(options.cluster)
        else:
            own = LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
            client = Client(own)
        cluster = Cluster(client, options.parts)
    try:
        if not quiet:
            _say(f"cluster: {counted(cluster.n_threads, 'thread')} of workers, dashboard {client.dashboard_link}")
        yield cluster
    finally:
        client.close()
        if own is not None:
            own.close()


def _say(text: str) -> None:
    with suppress(OSError):
        print(printable(text), file=sys.stderr)
