"""Resolve a `client` argument to an executor, and place the parts where it reads them."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cayleygsp.distributed.executor import Executor, Synchronous
from cayleygsp.distributed.folder import FolderStore, write_parts
from cayleygsp.distributed.parts import MemoryStore, Part, Store

if TYPE_CHECKING:
    from distributed import Client

# Seconds that a scheduler may take to answer, and the first of its workers to come.
CONNECT_SECONDS = 5.0
WORKER_SECONDS = 30.0


def place_parts(parts: Sequence[Part], client: Any, folder: str | Path | None) -> tuple[Store, Executor]:
    """Put parts where an executor can read them.

    Parameters
    ----------
    parts : sequence of Part
        The parts.
    client : distributed.Client, str or None
        As for :meth:`cayleygsp.distributed.DistributedLaplacian.from_graph`.
    folder : str or pathlib.Path, optional
        Where to write them; by default nowhere if they can be read from the memory of this process, and else a
        temporary folder.
    """
    executor = executor_of(client, len(parts))
    if folder is not None:
        write_parts(folder, parts)
        return seen_store(folder, executor), executor
    if isinstance(executor, Synchronous) or executor.in_process:  # type: ignore[attr-defined]
        return MemoryStore(parts), executor
    place = executor.folder() / "parts"  # type: ignore[attr-defined]
    write_parts(place, parts)
    return seen_store(place, executor), executor


def seen_store(folder: str | Path, executor: Executor) -> FolderStore:
    """Return the parts in a folder, if all who work on them see it."""
    store = FolderStore(folder)
    if not isinstance(executor, Synchronous):
        manifest = str(Path(folder).absolute() / "manifest.json")
        blind = [address for address, sees in executor.client.run(os.path.exists, manifest).items() if not sees]  # type: ignore[attr-defined]
        if blind:
            raise FileNotFoundError(
                f"`folder` must be on a file system that all workers see: {blind[0]} does not see '{folder}'"
            )
        executor.shared = store.folder.parent  # type: ignore[attr-defined]
    return store


def executor_of(client: Any, n_parts: int) -> Executor:
    """Return the executor for a `client` argument."""
    if isinstance(client, str) and client == "synchronous":
        return Synchronous()
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "graphs in parts need dask.distributed: install the extra 'distributed', or take client='synchronous'"
        ) from None
    from cayleygsp.distributed.cluster import ClusterExecutor

    connected = connect(client)
    try:
        connected.wait_for_workers(1, timeout=WORKER_SECONDS)
    except distributed.TimeoutError:
        raise ConnectionError(
            f"the scheduler at {connected.scheduler.address} has no workers, and none came in {WORKER_SECONDS:g} s"
        ) from None
    return ClusterExecutor(connected, n_parts)


def connect(client: Any) -> Client:
    """Return a client of a cluster.

    Parameters
    ----------
    client : distributed.Client, str or None
        A client; the address of a scheduler; or None for the current client, or a cluster of threads inside this
        process where there is none.

    Raises
    ------
    ConnectionError
        If no scheduler answers.
    TypeError
        If it is something else.
    """
    from distributed import Client, LocalCluster, default_client

    if client is None:
        try:
            return default_client()
        except ValueError:
            n_workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            cluster = LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                processes=False,
                memory_limit=0,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            )
            return Client(cluster)
    if isinstance(client, Client):
        if client.status != "running":
            raise ConnectionError(f"`client` must be connected to a scheduler, got one that is {client.status}")
        return client
    if not isinstance(client, str):
        raise TypeError(
            "`client` must be a distributed.Client, the address of a scheduler, 'synchronous' or None, got "
            f"{type(client).__name__}"
        )
    return _at_address(client)


def _at_address(address: str) -> Client:
    from distributed import Client
    from distributed import TimeoutError as WaitedTooLong

    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)  # the error says it
    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, WaitedTooLong, ValueError) as error:
        raise ConnectionError(
            f"no scheduler answers at {address!r} within {CONNECT_SECONDS:g} s: is it running, and is the address "
            f"right (such as tcp://host:8786)? ({type(error).__name__})"
        ) from None
    finally:
        log.setLevel(level)
