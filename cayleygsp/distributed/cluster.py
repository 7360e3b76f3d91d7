"""The workers of a Dask cluster as those who do the work of the parts."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask
import numpy as np
from dask._task_spec import Task, TaskRef
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Client, Future, wait

from cayleygsp._typing import Array
from cayleygsp.distributed.executor import Executor, Handle, Kept

# Arrays up to this size travel with the tasks that need them.
_SMALL_BYTES = 2**16

# Seconds between questions whether the scheduler has taken a graph.
_MOMENT, _LONGEST_MOMENT = 1e-3, 0.1

# Arrays for workers that are threads of this process.
_ARRAYS: dict[str, Array] = {}


class ClusterExecutor(Executor):
    """Tasks of a Dask cluster: functions without side effects, so that Dask does again what a lost worker had done.

    Tasks prefer the worker of their part and may go to any other. States that are kept have a copy on a second worker,
    which Dask's memory manager leaves alone as long as two tasks wait for it: until the next states are kept. Only if
    this process takes longer to send an interval than the workers to do it, the manager may drop a copy before that.

    Parameters
    ----------
    client : distributed.Client
        A client with workers.
    n_parts : int
        Number of parts.
    """

    # about a millisecond and a half per task, at 4 GB/s; some 0.7 GB/s between processes
    task_bytes = 6e6
    wire_bytes = 6.0

    def __init__(self, client: Client, n_parts: int) -> None:
        self.client = client
        self.n_parts = n_parts
        self.in_process = client.scheduler.address.startswith("inproc://")
        self._names = count()
        self._token = uuid4().hex[:12]
        self._tasks: dict[str, Task] = {}
        self._where: dict[str, int] = {}
        self._needed: dict[str, list[Future]] = {}  # by tasks that were not sent yet
        self._put: list[str] = []
        self._folder: Path | None = None

    @property
    def words(self) -> str:  # type: ignore[override]
        """Where they are."""
        n_workers = len(self.workers())
        return f"on {n_workers} worker{'s' if n_workers != 1 else ''}"

    def workers(self) -> list[str]:
        """Return the addresses of the workers, in a fixed order."""
        return sorted(self.client.nthreads())

    def folder(self) -> Path:
        """Return a folder for this executor's files, which goes with it."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="cayleygsp-", dir=dask.config.get("temporary-directory", None)))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def call(self, p: int, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Add a task."""
        key = f"cayleygsp-{function.__name__.strip('_')}-{self._token}-{next(self._names)}"
        self._tasks[key] = Task(key, function, *arguments)
        self._where[key] = p
        self._needed[key] = [one for one in arguments if isinstance(one, Future)]
        return TaskRef(key)

    def put(self, p: int, array: Array) -> Handle:
        """Bring an array to the worker of a part; a worker that is lost can have it again."""
        if array.nbytes <= _SMALL_BYTES:
            return self.call(p, _same, np.ascontiguousarray(array))
        if self.in_process:
            name = f"{self._token}-{next(self._names)}"
            _ARRAYS[name] = array
            self._put.append(name)
            return self.call(p, _from_memory, name)
        file = self.folder() / f"signals-{next(self._names)}.npy"
        np.save(file, array, allow_pickle=False)
        self._put.append(str(file))
        return self.call(p, _from_file, str(file))

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
        workers = self.workers() or [""]
        parts = {key: self._where.pop(key) % self.n_parts for key in tasks}
        places = {key: workers[p * len(workers) // self.n_parts] for key, p in parts.items()}
        annotations = {"workers": places.__getitem__, "allow_other_workers": True}
        layer = MaterializedLayer(tasks, annotations=annotations if workers[0] else None)
        graph = HighLevelGraph({"cayleygsp": layer}, {"cayleygsp": set()})
        return self.client.get(graph, wanted, sync=False)

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
        return self.client.gather(list(handles))

    def wait(self, handles: Sequence[Handle]) -> None:
        """Return when results are there; raise what tasks have raised."""
        futures = list(handles)
        wait(futures)
        for future in futures:
            if future.status != "finished":
                future.result()

    def keep(self, degree: int, states: Sequence[Handle], before: Kept) -> Kept:
        """Let each state have a copy on a second worker; those that go on from it wait for all copies."""
        if len(self.workers()) < 2:
            return Kept(degree, list(states), list(states))
        # its own worker, and that of half of all parts on: Dask may have moved the part to either
        away = max(self.n_parts // 2, 1)
        copies = [self.call(p + q, _touch, state) for p, state in enumerate(states) for q in (0, away)]
        gate, *holding = self.hold(before, copies)
        onward = [self.call(p, _when_safe, state, gate) for p, state in enumerate(states)]
        return Kept(degree, onward, [gate], list(states), holding)

    def hold(self, before: Kept, after: Sequence[Handle]) -> list[Handle]:
        """Hold states and their copies until other results are there: two tasks for each state wait for that."""
        gate = self.call(0, _touch, *after)
        holds = [self.call(p + q, _touch, state, gate) for p, state in enumerate(before.originals) for q in range(2)]
        return self.commit([gate, *holds])

    def close(self) -> None:
        """Let go of arrays that were put."""
        for name in self._put:
            if _ARRAYS.pop(name, None) is None:
                Path(name).unlink(missing_ok=True)
        self._put = []


def _same(array: Array) -> Array:
    return array


def _from_memory(name: str) -> Array:
    return _ARRAYS[name]


def _from_file(file: str) -> Array:
    return np.load(file, allow_pickle=False)


def _touch(*values: Any) -> None:
    """Need values, which brings them here."""


def _when_safe(state: Any, gate: None) -> Any:
    return state
