"""Executors of the work on parts: this process, or the workers of a Dask cluster."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from cayleygsp._typing import Array

if TYPE_CHECKING:  # and imported where they are used: graphs in parts in this process need no Dask
    from dask._task_spec import Task
    from distributed import Client, Future

# Seconds that a scheduler may take to answer, and the first of its workers to come.
CONNECT_SECONDS = 5.0
WORKER_SECONDS = 30.0

# Arrays up to this size travel with the tasks that need them.
_SMALL_BYTES = 2**16

# Seconds between questions whether the scheduler has taken a graph.
_MOMENT, _LONGEST_MOMENT = 1e-3, 0.1

# Seconds between looks for tasks that wait for workers which are gone.
_PATIENCE = 2.0

# Arrays for workers that are threads of this process.
_ARRAYS: dict[str, Array] = {}

#: What stands for a result: the result itself, or where a cluster has it.
Handle = Any

#: Told how many degrees are done, and of how many.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Kept:
    """States of a degree that are kept in two places.

    ``states``, one per part, and ``safe`` are there when all copies are; ``originals`` are the states themselves, and
    ``holding`` holds those of the degree before.
    """

    degree: int = 0
    states: list[Handle] = field(default_factory=list)
    safe: list[Handle] = field(default_factory=list)
    originals: list[Handle] = field(default_factory=list)
    holding: list[Handle] = field(default_factory=list)


class Executor:
    """Calls functions on parts: at once in this process, one part after the other, or where a subclass says.

    The functions change nothing that they are given. ``task_bytes`` are what a core can read from memory in the time
    that a task costs beside its work, ``wire_bytes`` while one byte goes from part to part.
    """

    task_bytes = 2e5
    wire_bytes = 2.0
    n_threads: int | None = None  # of a part; None for as many as are useful

    @property
    def copies_states(self) -> bool:
        """Whether states that are kept are copied."""
        return False

    @property
    def words(self) -> str:
        """How it does that, for messages."""
        return "one after the other"

    def call(self, p: int, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Let a function be called where part p is; handles among the arguments stand for their results."""
        return function(*arguments)

    def put(self, p: int, array: Array) -> Handle:
        """Bring an array to where part p is."""
        return array

    def commit(self, handles: Sequence[Handle]) -> list[Handle]:
        """Begin with what was called, and keep these results; results of other calls are dropped when they are used."""
        return list(handles)

    def values(self, handles: Sequence[Handle]) -> list[Any]:
        """Return results, of calls that were begun or not."""
        return list(handles)

    def wait(self, handles: Sequence[Handle]) -> None:
        """Return when results are there; raise what calls have raised."""

    def keep(self, degree: int, states: Sequence[Handle], before: Kept) -> Kept:
        """Keep states, one per part, in two places, and let go what was kept before when they are safe."""
        return Kept(degree, list(states))

    def hold(self, before: Kept, after: Sequence[Handle]) -> list[Handle]:
        """Hold what was kept until other results are there; return handles that do."""
        return []

    def parts_folder(self) -> Path | None:
        """Return a temporary folder for parts; None if they can be read from the memory of this process."""
        return None

    def check_seen(self, file: Path) -> None:
        """Raise FileNotFoundError if not all who work on parts see a file in their folder."""

    def close(self) -> None:
        """Let go of what was put."""


class ClusterExecutor(Executor):
    """Tasks of a Dask cluster: functions without side effects, so that Dask does again what a lost worker had done.

    Tasks prefer the worker of their part and may go to any other. States that are kept have a copy on a second worker,
    which Dask's memory manager leaves alone as long as two tasks wait for it: until the next states are kept. Only if
    this process takes longer to send an interval than the workers to do it, the manager may drop a copy before that.
    """

    # about a millisecond and a half per task, at 4 GB/s; some 0.7 GB/s between processes
    task_bytes = 6e6
    wire_bytes = 6.0
    n_threads = 1

    def __init__(self, client: Client, n_parts: int) -> None:
        self.client = client
        self.n_parts = n_parts
        self.in_process = client.scheduler.address.startswith("inproc://")
        self._names = count()
        self._token = uuid4().hex[:12]
        self._tasks: dict[str, Task] = {}
        self._where: dict[str, tuple[int, bool]] = {}
        self._needed: dict[str, list[Future]] = {}  # by tasks that were not sent yet
        self._put: list[str] = []
        self._folder: Path | None = None
        self._shared: Path | None = None  # a folder that workers are known to see

    @property
    def words(self) -> str:
        """Where the tasks are, for messages."""
        n_workers = len(self.workers())
        return f"on {n_workers} worker{'s' if n_workers != 1 else ''}"

    def workers(self) -> list[str]:
        """Return the addresses of the workers, in a fixed order."""
        return sorted(self.client.nthreads())

    def folder(self) -> Path:
        """Return a folder for this executor's files, which goes with it; all workers see it.

        It is in the folder for temporary files, that of Dask if it has one, or else beside the parts.
        """
        if self._folder is None:
            import dask

            places = [dask.config.get("temporary-directory", None), *([self._shared] if self._shared else [])]
            self._folder = next((folder for folder in map(self._seen_folder, places) if folder), None)
        if self._folder is None:
            raise FileNotFoundError(
                "`folder` must be on a file system that all workers see, or the temporary-directory of Dask's "
                "configuration must be: workers do not see the temporary files of this process"
            )
        return self._folder

    def parts_folder(self) -> Path | None:
        """Return a temporary folder for parts; None if the workers are threads of this process."""
        return None if self.in_process else self.folder() / "parts"

    def check_seen(self, file: Path) -> None:
        """Raise FileNotFoundError if a worker does not see a file in the folder of the parts."""
        seen = self.client.run(os.path.exists, str(file))
        blind = [address for address, sees in seen.items() if not sees]
        if blind:
            raise FileNotFoundError(
                f"`folder` must be on a file system that all workers see: {blind[0]} does not see '{file.parent}'"
            )
        self._shared = file.parent.parent

    def _seen_folder(self, place: str | Path | None) -> Path | None:
        """Return a new folder at some place, None if it cannot be made or not all workers see it."""
        try:
            folder = Path(tempfile.mkdtemp(prefix="cayleygsp-", dir=place))
        except OSError:
            return None
        if all(self.client.run(os.path.exists, str(folder)).values()):
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            return folder
        folder.rmdir()
        return None

    def call(self, p: int, function: Callable[..., Any], *arguments: Any, away: bool = False) -> Handle:
        """Add a task; with ``away``, for the worker that has the copy of the part's state."""
        from dask._task_spec import Task, TaskRef
        from distributed import Future

        key = f"cayleygsp-{function.__name__.strip('_')}-{self._token}-{next(self._names)}"
        self._tasks[key] = Task(key, function, *arguments)
        self._where[key] = (p, away)
        self._needed[key] = [one for one in arguments if isinstance(one, Future)]
        return TaskRef(key)

    def put(self, p: int, array: Array) -> Handle:
        """Bring an array to the worker of a part; a worker that is lost can have it again."""
        if array.nbytes <= _SMALL_BYTES:
            return self.call(p, np.ascontiguousarray, array)
        if self.in_process:
            name = f"{self._token}-{next(self._names)}"
            _ARRAYS[name] = array
            self._put.append(name)
            return self.call(p, _from_memory, name)
        file = self.folder() / f"signals-{next(self._names)}.npy"
        np.save(file, array, allow_pickle=False)
        self._put.append(str(file))
        return self.call(p, np.load, str(file))

    def commit(self, handles: Sequence[Handle]) -> list[Handle]:
        """Send the tasks behind some results, and keep these; other tasks wait until they are needed."""
        wanted = [handle.key for handle in handles if handle.key in self._tasks]
        futures: dict[str, Future] = {}
        if wanted:
            tasks = self._take(wanted)
            needed = [one for task in tasks for one in self._needed.pop(task, ())]
            futures = dict(zip(wanted, self._send(tasks, wanted), strict=True))
            self._settle(futures[wanted[0]])
            del needed
        return [futures.get(handle.key, handle) for handle in handles]

    def _take(self, wanted: list[str]) -> dict[str, Task]:
        """Take tasks and all that they need from those that wait."""
        taken, ahead = {}, list(wanted)
        while ahead:
            key = ahead.pop()
            if key in self._tasks:
                taken[key] = self._tasks.pop(key)
                ahead += taken[key].dependencies
        return taken

    def _send(self, tasks: dict[str, Task], wanted: list[str]) -> list[Future]:
        from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

        workers = self.workers()
        places = {key: self.place(*self._where.pop(key), len(workers)) for key in tasks}
        annotations = {"workers": lambda key: workers[places[key]], "allow_other_workers": True}
        layer = MaterializedLayer(tasks, annotations=annotations if workers else None)
        graph = HighLevelGraph({"cayleygsp": layer}, {"cayleygsp": set()})
        return self.client.get(graph, wanted, sync=False)

    def place(self, p: int, away: bool, n_workers: int) -> int:
        """Return which of the workers a part belongs to, or its copy: another one if there are two."""
        own = p % self.n_parts * n_workers // self.n_parts
        return (own + max(n_workers // 2, 1)) % max(n_workers, 1) if away else own

    def _settle(self, future: Future) -> None:
        """Return when the scheduler knows tasks that were sent: only then what they need may be let go."""
        pause = _MOMENT
        while future.status == "pending" and self.client.status == "running":
            states = self.client.sync(self.client.scheduler.get_task_status, keys=[future.key])
            if states[future.key] is not None:
                return
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_MOMENT)

    def values(self, handles: Sequence[Handle]) -> list[Any]:
        """Bring results to this process."""
        futures = self.commit(handles)
        self.wait(futures)
        return self.client.gather(futures)

    def wait(self, handles: Sequence[Handle]) -> None:
        """Return when results are there; raise what tasks have raised."""
        from distributed import TimeoutError as WaitedTooLong
        from distributed import wait

        pending = list(handles)
        while pending:
            # another class than the built-in one before Python 3.11; and the client need not be the current one
            with suppress(WaitedTooLong), self.client.as_current():
                wait(pending, timeout=_PATIENCE)
            pending = [future for future in pending if future.status == "pending"]
            if pending:
                self.client.run_on_scheduler(_free_tasks, token=self._token)
        for future in handles:
            if future.status != "finished":
                future.result()

    def keep(self, degree: int, states: Sequence[Handle], before: Kept) -> Kept:
        """Let each state have a copy on a second worker; those that go on from it wait for all copies."""
        if not self.copies_states:
            return Kept(degree, list(states), list(states))
        gate = self.call(0, _touch, *self._touch_twice(states))
        gate, *holding = self.commit([gate, *self._touch_twice(before.originals, gate)])
        onward = [self.call(p, _when_safe, state, gate) for p, state in enumerate(states)]
        return Kept(degree, onward, [gate], list(states), holding)

    @property
    def copies_states(self) -> bool:
        """Whether there is a second worker for copies of states."""
        return len(self.workers()) > 1

    def _touch_twice(self, states: Sequence[Handle], *after: Handle) -> list[Handle]:
        """Need each state on its own worker and on that of its copy: Dask may have moved the part to either."""
        return [
            self.call(p, _touch, state, *after, away=away) for p, state in enumerate(states) for away in (False, True)
        ]

    def hold(self, before: Kept, after: Sequence[Handle]) -> list[Handle]:
        """Hold states and their copies until other results are there: two tasks for each state wait for that."""
        if not before.originals:
            return []
        # each result is needed where it is, so that it does not move
        gate = self.call(0, _touch, *(self.call(p, _touch, one) for p, one in enumerate(after)))
        return self.commit(self._touch_twice(before.originals, gate))

    def close(self) -> None:
        """Let go of arrays that were put."""
        for name in self._put:
            if _ARRAYS.pop(name, None) is None:
                Path(name).unlink(missing_ok=True)
        self._put = []


def _free_tasks(token: str, dask_scheduler: Any) -> None:
    """Let tasks go to any worker whose own workers are all gone.

    Dask does this when it first looks for a worker; not for tasks that found none at all, because all workers were
    lost together, when new ones come.
    """
    stuck = [
        task
        for task in dask_scheduler.unrunnable
        if token in str(task.key) and not any(one in dask_scheduler.workers for one in task.worker_restrictions or ())
    ]
    for task in stuck:
        task.worker_restrictions = set()
    if stuck and dask_scheduler.running:
        dask_scheduler.transitions({task.key: "processing" for task in stuck}, stimulus_id=f"cayleygsp-{token}")


def _from_memory(name: str) -> Array:
    return _ARRAYS[name]


def _touch(*values: Any) -> None:
    """Take values as arguments, so that Dask brings them to this worker."""


def _when_safe(state: Any, gate: None) -> Any:
    return state


def executor_of(client: Any, n_parts: int) -> Executor:
    """Return the executor for a `client` argument."""
    if isinstance(client, str) and client == "synchronous":
        return Executor()
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "graphs in parts need dask.distributed: install the extra 'distributed', or take client='synchronous'"
        ) from None
    connected = connect(client)
    try:
        connected.wait_for_workers(1, timeout=WORKER_SECONDS)
    except distributed.TimeoutError:
        raise ConnectionError(
            f"the scheduler at {connected.scheduler.address} has no workers, and none came in {WORKER_SECONDS:g} s"
        ) from None
    return ClusterExecutor(connected, n_parts)


def connect(client: Any) -> Client:
    """Return a client of a cluster: the one that is given, or a new one for the address of a scheduler.

    For None it is the current client, and where there is none that of a cluster of threads inside this process.
    """
    from distributed import Client, LocalCluster, default_client
    from distributed import TimeoutError as WaitedTooLong

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
    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)  # the error says it
    try:
        return Client(client, timeout=CONNECT_SECONDS)
    except (OSError, WaitedTooLong, ValueError) as error:
        raise ConnectionError(
            f"no scheduler answers at {client!r} within {CONNECT_SECONDS:g} s: is it running, and is the address "
            f"right (such as tcp://host:8786)? ({type(error).__name__})"
        ) from None
    finally:
        log.setLevel(level)
