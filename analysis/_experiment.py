"""What the experiments share: runs that survive being killed, worker processes, training, figures beside the paper's.

An experiment is a list of runs, each a setting and a seed, and a function that turns one of them into numbers. A
finished run is a file and is never computed again; an unfinished one goes on from its last checkpoint and ends with the
same numbers. The folder of a run carries a hash of the configuration in its name, so that nothing is mixed.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import fcntl
import hashlib
import json
import math
import multiprocessing
import os
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from io import BytesIO
from multiprocessing import connection
from pathlib import Path
from typing import Any, Generic, TypeVar

import numba
import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from torch import Tensor, nn

from analysis import _results
from analysis._results import Document
from cayleygsp._files import write_files

Config = TypeVar("Config")

# Raised when the numbers of a run change for the same configuration, so that old files are not taken for new ones.
_FORMAT = 1

_LINE_SECONDS = 60.0
_CHECKPOINT_SECONDS = 20.0
_HASH_DIGITS = 12


# ------------------------------------------------------------------------------------------------- runs


@dataclasses.dataclass(frozen=True)
class Run:
    """One training: a setting, by names and values that JSON knows, and a seed."""

    setting: Mapping[str, Any]
    seed: int

    @property
    def key(self) -> str:
        """A name for files, different for every run of an experiment."""
        said = "-".join(f"{name}={value}" for name, value in self.setting.items())
        return f"{said}-seed={self.seed}".replace("/", "_").replace(" ", "_")


Train = Callable[[Any, Run, "Checkpoint", torch.device], dict[str, Any]]


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


class Checkpoint:
    """The file in which an unfinished run says how far it is.

    Parameters
    ----------
    path : pathlib.Path
        Written all or nothing.
    seconds : float
        Least time between two writings; what was computed since the last one is computed again after a kill.
    """

    def __init__(self, path: Path, seconds: float = _CHECKPOINT_SECONDS) -> None:
        self.path, self.seconds = path, seconds
        self._last = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """Return what was saved, None if nothing was."""
        if not self.path.exists():
            return None
        return torch.load(self.path, weights_only=True, map_location="cpu")

    @property
    def is_due(self) -> bool:
        """Whether enough time has gone by since the last writing."""
        return time.monotonic() - self._last >= self.seconds

    def save(self, state: Mapping[str, Any]) -> None:
        """Write tensors, numbers, and dicts and lists of them."""
        content = BytesIO()
        torch.save(dict(state), content)
        write_files(self.path.parent, {self.path.name: content.getvalue()})
        self._last = time.monotonic()

    def remove(self) -> None:
        """Forget it."""
        self.path.unlink(missing_ok=True)


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
    folder = work / (experiment.folder_name if device == "cpu" else f"{experiment.folder_name}-{device}")
    with _locked(folder):
        for left in folder.glob(".writing-*"):
            shutil.rmtree(left)  # of a process that was killed while it wrote
        config = json.dumps(dataclasses.asdict(experiment.config), indent=2) + "\n"
        write_files(folder, {"config.json": config.encode()})
        missing = [run for run in experiment.runs if not (folder / f"{run.key}.json").exists()]
        n_done = len(experiment.runs) - len(missing)
        with _progress(experiment.name, len(experiment.runs), n_done, quiet) as advance:
            if workers == 1:
                with _one_thread():
                    for run in missing:
                        _compute_one(experiment, run, folder, device)
                        advance()
            else:
                _compute_by_workers(experiment, missing, folder, workers, device, advance)
    return [json.loads((folder / f"{run.key}.json").read_text(encoding="utf-8")) for run in experiment.runs]


def _compute_one(experiment: Experiment[Any], run: Run, folder: Path, device: str) -> None:
    checkpoint = Checkpoint(folder / f"{run.key}.pt")
    try:
        numbers = experiment.train(experiment.config, run, checkpoint, torch.device(device))
    except FloatingPointError as error:
        raise FloatingPointError(f"{run.key}: {error}") from error
    timing = numbers.pop("timing", {})
    result = {"setting": dict(run.setting), "seed": run.seed, "numbers": numbers, "timing": timing}
    result["made"] = {"date": _results.now(), "device": device, "versions": _results.package_versions()}
    text = json.dumps(result, indent=2, allow_nan=False) + "\n"
    write_files(folder, {f"{run.key}.json": text.encode()})
    checkpoint.remove()


def _compute_by_workers(
    experiment: Experiment[Any],
    runs: Sequence[Run],
    folder: Path,
    workers: int,
    device: str,
    advance: Callable[[], None],
) -> None:
    # spawned, not forked: torch and numba have threads of their own that a fork would not copy
    context = multiprocessing.get_context("spawn")
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


def _start_worker() -> None:
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    """End this process when the one that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute with one thread, as worker processes do: sums come out the same, and small ones faster."""
    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        numba.set_num_threads(before[1])


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep others out of a folder; the system lets them in again when this process ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RuntimeError(f"another process computes in {folder}: wait for it, or give another --work") from error
        yield


# --------------------------------------------------------------------------------------------- progress


@contextmanager
def _progress(name: str, n_runs: int, n_done: int, quiet: bool) -> Iterator[Callable[[], None]]:
    """Say how many runs are done: a bar on a terminal, elsewhere a line a minute on stderr."""
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
    """Write a line a minute from a thread, as the work itself has no time for it."""
    start, stop, done = time.monotonic(), threading.Event(), [n_done]

    def say() -> None:
        while not stop.wait(_LINE_SECONDS):
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


# --------------------------------------------------------------------------------------------- training


@dataclasses.dataclass
class Fit:
    """How a model is trained and chosen.

    Attributes
    ----------
    model : nn.Module
        Left with the parameters that were best on the validation data, and not in training mode.
    optimizer : torch.optim.Optimizer
        Over the parameters of the model.
    loss : callable
        ``loss(indices)`` of a minibatch, a tensor that has a gradient.
    evaluate : callable
        ``evaluate()`` returns a number on the validation data, the larger the better; the first of equals is kept.
    n_samples, batch, epochs : int
        Training data, minibatch and passes.
    schedule : callable
        Factor of the learning rates as a function of the share of steps that is done.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    loss: Callable[[Tensor], Tensor]
    evaluate: Callable[[], float]
    n_samples: int
    batch: int
    epochs: int
    schedule: Callable[[float], float] = lambda share: 1.0

    def run(self, seed: int, checkpoint: Checkpoint) -> dict[str, Any]:
        """Train from the start, or from where the checkpoint says, and return the history.

        The order of the data is drawn from the seed and the number of the epoch, and torch's own random numbers are
        part of the checkpoint: a run that was interrupted anywhere ends as if it had not been.

        Returns
        -------
        dict
            ``best_epoch``, ``best_validation``, ``validation`` (one number an epoch), and ``timing``: processor time
            of the whole and of a step, waking time of the whole.
        """
        base = [group["lr"] for group in self.optimizer.param_groups]
        steps = math.ceil(self.n_samples / self.batch)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            state = self._restored(checkpoint)
            clock = _Clock(state["cpu_seconds"], state["seconds"])
            for epoch in range(state["epoch"], self.epochs):
                order = _order(self.n_samples, seed, epoch)
                for step in range(state["step"], steps):
                    share = (epoch * steps + step) / (self.epochs * steps)
                    for group, lr in zip(self.optimizer.param_groups, base, strict=True):
                        group["lr"] = lr * self.schedule(share)
                    self._step(order[step * self.batch : (step + 1) * self.batch])
                    if checkpoint.is_due:
                        self._save(checkpoint, {**state, "epoch": epoch, "step": step + 1}, clock)
                self._close_epoch(state, epoch)
                if checkpoint.is_due:
                    self._save(checkpoint, state, clock)
        self.model.load_state_dict(state["best_model"])
        self.model.eval()
        cpu, waking = clock.read()
        return {
            "best_epoch": state["best_epoch"],
            "best_validation": state["validation"][state["best_epoch"]],
            "validation": state["validation"],
            "timing": {"cpu_seconds": cpu, "seconds": waking, "step_cpu_seconds": cpu / (self.epochs * steps)},
        }

    def _step(self, indices: Tensor) -> None:
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(indices)
        if not bool(torch.isfinite(loss.detach())):
            raise FloatingPointError(f"the loss is {loss.item()}: try a lower learning rate")
        loss.backward()
        self.optimizer.step()

    def _close_epoch(self, state: dict[str, Any], epoch: int) -> None:
        self.model.eval()
        with torch.no_grad():
            found = float(self.evaluate())
        state["validation"] = [*state["validation"], found]
        if state["best_epoch"] < 0 or found > state["validation"][state["best_epoch"]]:
            state["best_epoch"] = epoch
            state["best_model"] = copy.deepcopy(dict(self.model.state_dict()))
        state["epoch"], state["step"] = epoch + 1, 0

    def _restored(self, checkpoint: Checkpoint) -> dict[str, Any]:
        state = checkpoint.load()
        if state is None:
            best = {"best_epoch": -1, "best_model": {}, "validation": []}
            return {"epoch": 0, "step": 0, "cpu_seconds": 0.0, "seconds": 0.0, **best}
        self.model.load_state_dict(state.pop("model"))
        self.optimizer.load_state_dict(state.pop("optimizer"))
        torch.set_rng_state(state.pop("rng"))
        for device, saved in zip(range(torch.cuda.device_count()), state.pop("cuda_rng"), strict=False):
            torch.cuda.set_rng_state(saved, device)
        return state

    def _save(self, checkpoint: Checkpoint, state: Mapping[str, Any], clock: _Clock) -> None:
        cpu, waking = clock.read()
        now = {
            **state,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "rng": torch.get_rng_state(),
            "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
            "cpu_seconds": cpu,
            "seconds": waking,
        }
        checkpoint.save(now)


class _Clock:
    """Processor and waking time of a run, over interruptions."""

    def __init__(self, cpu: float, waking: float) -> None:
        self._cpu, self._waking = cpu - time.process_time(), waking - time.monotonic()

    def read(self) -> tuple[float, float]:
        return self._cpu + time.process_time(), self._waking + time.monotonic()


def _order(n: int, seed: int, epoch: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng((seed, epoch)).permutation(n))


def cosine(share: float) -> float:
    """Return a factor that goes from 1 to 0 as half a cosine.

    Examples
    --------
    >>> from analysis._experiment import cosine
    >>> cosine(0.0), round(cosine(0.5), 12), cosine(1.0)
    (1.0, 0.5, 0.0)
    """
    return (1 + math.cos(math.pi * share)) / 2


# ------------------------------------------------------------------------------------------ command line


def add_arguments(parser: argparse.ArgumentParser, config: Any, quick: Any, *, runs: int, quick_runs: int) -> None:
    """Add what all experiments understand, and an option for every number of the configuration.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser to extend.
    config, quick : dataclass
        The configuration in full and in its small form; fields are numbers, texts or tuples of them.
    runs, quick_runs : int
        How many seeds, in both forms.
    """
    _results.add_arguments(parser)
    parser.add_argument("--runs", type=int, help=f"seeds, counted from --seed (default: {runs}, quick: {quick_runs})")
    parser.add_argument("--workers", type=int, help="processes, each with one thread (default: one a core)")
    parser.add_argument("--device", choices=("cpu", "cuda", "auto"), default="auto", help="where to compute")
    parser.add_argument(
        "--work", type=Path, default=Path("out"), metavar="DIR", help="folder of finished runs and checkpoints"
    )
    group = parser.add_argument_group("configuration", "a changed one is computed in a folder of its own")
    for field in dataclasses.fields(config):
        value, small = getattr(config, field.name), getattr(quick, field.name)
        many = isinstance(value, tuple)
        said = f"default: {_said(value)}" + (f", quick: {_said(small)}" if small != value else "")
        group.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type(value[0]) if many else type(value),
            nargs="+" if many else None,
            help=said,
        )
    parser.set_defaults(_configs=(config, quick), _runs=(runs, quick_runs))


def _said(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> Any:
    """Refuse what cannot be, fill in what was not given, and return the configuration."""
    _results.check_arguments(parser, args)
    if args.runs is None:
        args.runs = args._runs[args.quick]
    if args.workers is None:
        args.workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name in ("runs", "workers"):
        if getattr(args, name) < 1:
            parser.error(f"--{name} must be 1 or more, got {getattr(args, name)}")
    if args.work.exists() and not args.work.is_dir():
        parser.error(f"--work must be a folder, got the file {args.work}")
    if args.device == "auto":
        args.device = "cuda" if torch.cuda.is_available() else "cpu"
    if args.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device must be cpu or auto on this machine, got cuda")
    base = args._configs[args.quick]
    given = {field.name: getattr(args, field.name) for field in dataclasses.fields(base)}
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items() if v is not None}
    try:
        return dataclasses.replace(base, **given)
    except ValueError as error:
        parser.error(str(error))


def new_document(module: str, argv: Sequence[str], args: argparse.Namespace, config: Any) -> Document:
    """Return the part of a result that says how it came about, the configuration included."""
    return _results.new_document(module, argv, args) | {
        "config": dataclasses.asdict(config),
        "n_runs": args.runs,
        "workers": args.workers,
        "device": args.device,
    }


# ------------------------------------------------------------------------------------------------ tables


def config_lines(document: Document) -> list[str]:
    """Say the configuration in Markdown."""
    said = ", ".join(f"{name.replace('_', ' ')} {_said(value)}" for name, value in document["config"].items())
    return [
        f"- Configuration: {said}",
        f"- Runs of each setting: {document['n_runs']}, by {document['workers']} processes on {document['device']}",
    ]


def grouped(results: Sequence[Document], number: str) -> list[Document]:
    """Return mean and deviation of a number over the runs of each setting, settings in the order they came in.

    Returns
    -------
    list of dict
        ``setting``, ``mean``, ``sd`` (that of the population, as the paper has it), ``n`` and the ``values``.

    Examples
    --------
    >>> from analysis._experiment import grouped
    >>> runs = [{"setting": {"r": 1}, "numbers": {"accuracy": a}} for a in (0.5, 0.75)]
    >>> grouped(runs, "accuracy")
    [{'setting': {'r': 1}, 'mean': 0.625, 'sd': 0.125, 'n': 2, 'values': [0.5, 0.75]}]
    """
    by_setting: dict[str, list[Document]] = {}
    for result in results:
        by_setting.setdefault(json.dumps(result["setting"]), []).append(result)
    rows = []
    for same in by_setting.values():
        values = [result["numbers"][number] for result in same]
        mean, sd = statistics.fmean(values), statistics.pstdev(values)
        rows.append({"setting": same[0]["setting"], "mean": mean, "sd": sd, "n": len(values), "values": values})
    return rows


def beside(mean: float, sd: float, paper: float | None, digits: int = 2) -> str:
    """Write a mean with its deviation, and in brackets the paper's figure and the difference.

    Examples
    --------
    >>> from analysis._experiment import beside
    >>> beside(97.512, 0.4, 96.23)
    '97.51 ± 0.40 (96.23, +1.28)'
    >>> beside(97.512, 0.4, None)
    '97.51 ± 0.40'
    """
    ours = f"{mean:.{digits}f} ± {sd:.{digits}f}"
    return ours if paper is None else f"{ours} ({paper:.{digits}f}, {mean - paper:+.{digits}f})"
