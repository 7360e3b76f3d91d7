"""Runs that survive being killed, in this process or in several.

An experiment is a list of runs, each a setting and a seed, and a function that turns one of them into numbers. A
finished run is a file and is never computed again; an unfinished one goes on from its last checkpoint and ends with the
same numbers. The folder of a run carries a hash of the configuration in its name, so that nothing is mixed.
"""

from __future__ import annotations

import argparse
import dataclasses
import fcntl
import hashlib
import json
import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from multiprocessing import connection
from pathlib import Path
from typing import Any, Generic, TypeVar

import numba
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from analysis._ranks import Ranks
from analysis._script import Document, now, package_versions
from analysis._timing import process_seconds
from analysis._training import Checkpoint
from cayleygsp._files import write_files
from cayleygsp.engine.threads import thread_limit

LINE_SECONDS = 60.0

Config = TypeVar("Config")

# Raised when the numbers of a run change for the same configuration, so that old files are not taken for new ones.
_FORMAT = 2

_HASH_DIGITS = 12


@contextmanager
def run_progress(name: str, n_runs: int, n_done: int, quiet: bool) -> Iterator[Callable[[], None]]:
    """Say how many runs are done: a bar on a terminal, elsewhere one line per minute on stderr."""
    console = Console(stderr=True)
    if quiet:
        yield lambda: None
    elif console.is_terminal:
        columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(name, total=n_runs, completed=n_done)
            yield lambda: bar.advance(task)
    else:
        with _lines(name, n_runs, n_done) as advance:
            yield advance


@contextmanager
def _lines(name: str, n_runs: int, n_done: int) -> Iterator[Callable[[], None]]:
    """Write one line per minute from a thread, as the work itself has no time for it."""
    start, stop, done = time.monotonic(), threading.Event(), [n_done]

    def say() -> None:
        while not stop.wait(LINE_SECONDS):
            minutes = (time.monotonic() - start) / 60
            new = done[0] - n_done
            left = f", about {minutes * (n_runs - done[0]) / new:.0f} left" if new else ""
            print(f"{name}: {done[0]} of {n_runs} runs, {minutes:.0f} minutes{left}", file=sys.stderr, flush=True)

    def advance() -> None:
        done[0] += 1

    thread = threading.Thread(target=say, daemon=True)
    thread.start()
    try:
        yield advance
    finally:
        stop.set()
        thread.join()


@dataclasses.dataclass(frozen=True)
class Run:
    """One training: a setting, by names and values that JSON knows, and a seed."""

    setting: Mapping[str, Any]
    seed: int

    @property
    def key(self) -> str:
        """A name for files, different for every run of an experiment."""
        settings = "-".join(f"{name}={value}" for name, value in self.setting.items())
        return f"{settings}-seed={self.seed}".replace("/", "_").replace(" ", "_")


Train = Callable[[Any, Run, Checkpoint, torch.device], dict[str, Any]]
Advance = Callable[[], None]


@dataclasses.dataclass(frozen=True)
class Experiment(Generic[Config]):
    """What is to be computed.

    Attributes
    ----------
    name : str
        Name of the folder and the files.
    config : dataclass
        Everything that decides the numbers of a run besides its setting and its seed.
    runs : sequence of Run
        In the order in which they are started.
    train : callable
        ``train(config, run, checkpoint, device)`` returns the numbers of a run. A function of a module, so that worker
        processes find it.
    """

    name: str
    config: Config
    runs: Sequence[Run]
    train: Train

    @property
    def folder_name(self) -> str:
        """The name with a hash of the configuration."""
        text = json.dumps([_FORMAT, dataclasses.asdict(self.config)], sort_keys=True)  # type: ignore[call-overload]
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:_HASH_DIGITS]}"


def compute(
    experiment: Experiment[Any], work: Path, *, workers: int, device: str, quiet: bool = False
) -> list[Document]:
    """Compute the runs that are not finished, and return the results of all, in their order.

    Parameters
    ----------
    experiment : Experiment
        What to compute.
    work : pathlib.Path
        Where the folder of the experiment is, or is made.
    workers : int
        Processes; with one, everything is computed in this one.
    device : str
        As torch names it.
    quiet : bool
        Whether to say nothing of the progress.

    Returns
    -------
    list of dict
        ``setting``, ``seed``, ``numbers``, ``timing`` and ``made`` (date, device and versions) of each run.

    Notes
    -----
    Processes that were started together (:mod:`analysis._ranks`) train each run together. The first one alone has the
    folder to itself and writes into it; all others read the checkpoints there.

    Raises
    ------
    ValueError
        If a run is listed twice.
    RuntimeError
        If another process computes in the folder.
    """
    keys = [run.key for run in experiment.runs]
    if len(set(keys)) < len(keys):
        raise ValueError(f"`runs` must differ, got {next(key for key in keys if keys.count(key) > 1)} more than once")
    folder = folder_of(experiment, work, device)
    ranks = Ranks()
    with locked(folder) if ranks.is_first else nullcontext():
        missing = ranks.of_first(_begin(experiment, folder) if ranks.is_first else [])
        n_done = len(experiment.runs) - len(missing)
        quiet = quiet or not ranks.is_first
        with run_progress(experiment.name, len(experiment.runs), n_done, quiet) as advance:
            if workers == 1:
                with one_thread():
                    for run in missing:
                        _compute_one(experiment, run, folder, device)
                        advance()
            else:
                _compute_by_workers(experiment, missing, folder, workers, device, advance)
        ranks.wait()  # until the files of the last run are written
    return [json.loads((folder / f"{run.key}.json").read_text(encoding="utf-8")) for run in experiment.runs]


def _begin(experiment: Experiment[Any], folder: Path) -> list[Run]:
    """Make the folder ready, and return the runs that are not finished."""
    for left in folder.glob(".writing-*"):
        shutil.rmtree(left)  # of a process that was killed while it wrote
    config = json.dumps(dataclasses.asdict(experiment.config), indent=2) + "\n"
    write_files(folder, {"config.json": config.encode()})
    return [run for run in experiment.runs if not (folder / f"{run.key}.json").exists()]


def folder_of(experiment: Experiment[Any], work: Path, device: str) -> Path:
    """Return where results and checkpoints of an experiment are."""
    return work / (experiment.folder_name if device == "cpu" else f"{experiment.folder_name}-{device}")


def compute_or_read(
    experiment: Experiment[Any], args: argparse.Namespace, recorded: Sequence[Document] = ()
) -> list[Document]:
    """Compute the runs that are not finished as the options of an experiment say, and return the results in order.

    Runs that an earlier result has, ``recorded``, are taken from there. With ``--finished``, compute nothing and return
    those that are there, while another process may compute more.
    """
    by_key = {_key_of(result): result for result in recorded}
    missing = dataclasses.replace(experiment, runs=[run for run in experiment.runs if run.key not in by_key])
    by_key |= {_key_of(result): result for result in _compute_or_read_all(missing, args)}
    return [by_key[run.key] for run in experiment.runs if run.key in by_key]


def _key_of(result: Document) -> str:
    return Run(result["setting"], result["seed"]).key


def _compute_or_read_all(experiment: Experiment[Any], args: argparse.Namespace) -> list[Document]:
    if args.finished:
        folder = folder_of(experiment, args.work, args.device)
        paths = (folder / f"{run.key}.json" for run in experiment.runs)
        return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    if not experiment.runs:
        return []
    return compute(experiment, args.work, workers=args.workers, device=args.device, quiet=args.quiet)


def _compute_one(experiment: Experiment[Any], run: Run, folder: Path, device: str) -> None:
    checkpoint = Checkpoint(folder / f"{run.key}.pt")
    try:
        numbers = experiment.train(experiment.config, run, checkpoint, torch.device(device))
    except FloatingPointError as error:
        raise FloatingPointError(f"{run.key}: {error}") from error
    if not Ranks().is_first:
        return
    timing = numbers.pop("timing", {})
    result = {"setting": dict(run.setting), "seed": run.seed, "numbers": numbers, "timing": timing}
    result["made"] = {"date": now(), "device": device, "versions": package_versions()}
    text = json.dumps(result, indent=2, allow_nan=False) + "\n"
    write_files(folder, {f"{run.key}.json": text.encode()})
    checkpoint.remove()


def _compute_by_workers(
    experiment: Experiment[Any], runs: Sequence[Run], folder: Path, workers: int, device: str, advance: Advance
) -> None:
    context = worker_context()
    pool = ProcessPoolExecutor(min(workers, max(len(runs), 1)), context, initializer=_start_worker)
    with pool:
        waiting: set[Future[None]] = {pool.submit(_compute_one, experiment, run, folder, device) for run in runs}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                    advance()
        except BaseException:
            # runs that have begun are waited for: nobody may write into the folder when it is let go
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def worker_context() -> multiprocessing.context.BaseContext:
    """Return how workers are started: forked from a process that has loaded all they need and computed nothing.

    This one has threads of torch and numba that a fork would not copy, and a new process loads for seconds.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "torch._dynamo"])  # the latter is what optimisers load
    return context


def _start_worker() -> None:
    _set_threads(1, 1)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    """End this process when the one that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, as worker processes do: sums come out the same, and small ones faster."""
    before = torch.get_num_threads(), thread_limit()
    _set_threads(1, 1)
    try:
        yield
    finally:
        _set_threads(*before)


def seconds_in_turns(calls: Mapping[str, tuple[Callable[[], object], Callable[[], object]]], rounds: int) -> Document:
    """Return the processor times of training steps and tests of networks, each a pair of calls, taken in turns.

    Medians of so many rounds: ``step_seconds`` and ``test_seconds`` of each network.
    """
    times = [process_seconds({model: pair[k] for model, pair in calls.items()}, rounds) for k in range(2)]
    return {model: {"step_seconds": times[0][model], "test_seconds": times[1][model]} for model in calls}


def _set_threads(of_torch: int, of_loops: int) -> None:
    """Set the numbers of threads; torch's last, as numba's pool changes it when it starts."""
    numba.set_num_threads(of_loops)
    torch.set_num_threads(of_torch)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep others out of a folder; the system lets them in again when this process ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RuntimeError(f"another process computes in {folder}: wait for it, or give another --work") from error
        yield
