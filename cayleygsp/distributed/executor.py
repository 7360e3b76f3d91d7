"""Executors of the work on parts: this process, or the workers of a Dask cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cayleygsp._typing import Array

#: What stands for a result: the result itself, or where a cluster has it.
Handle = Any

#: Told how many degrees are done, and of how many.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Kept:
    """States that are kept in two places.

    Attributes
    ----------
    degree : int
        That they have reached.
    states : list of Handle
        One per part, there when all of them are safe.
    safe : list of Handle
        There when all of them are safe.
    originals, holding : list of Handle
        The states themselves, and what holds those before.
    """

    degree: int = 0
    states: list[Handle] = field(default_factory=list)
    safe: list[Handle] = field(default_factory=list)
    originals: list[Handle] = field(default_factory=list)
    holding: list[Handle] = field(default_factory=list)


class Executor(ABC):
    """Calls functions on parts; the functions change nothing that they are given.

    Attributes
    ----------
    task_bytes : float
        What a core can read from memory in the time that a task costs beside its work.
    wire_bytes : float
        What a core can read from memory while one byte goes from part to part.
    words : str
        What it is.
    n_threads : int or None
        Threads of a part; None for as many as are useful.
    """

    task_bytes: float
    wire_bytes: float
    words: str
    n_threads: int | None = 1

    @property
    def copies_states(self) -> bool:
        """Whether states that are kept are copied."""
        return False

    @abstractmethod
    def call(self, p: int, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Let a function be called where part p is; handles among the arguments stand for their results."""

    @abstractmethod
    def put(self, p: int, array: Array) -> Handle:
        """Bring an array to where part p is."""

    @abstractmethod
    def commit(self, handles: Sequence[Handle]) -> list[Handle]:
        """Begin with what was called, and keep these results; results of other calls are dropped when they are used."""

    @abstractmethod
    def values(self, handles: Sequence[Handle]) -> list[Any]:
        """Return results."""

    def keep(self, degree: int, states: Sequence[Handle], before: Kept) -> Kept:
        """Keep states in two places.

        Parameters
        ----------
        degree : int
            That they have reached.
        states : sequence of Handle
            One per part; they have been committed.
        before : Kept
            What was kept before, which is let go when these are safe.
        """
        return Kept(degree, list(states))

    def hold(self, before: Kept, after: Sequence[Handle]) -> list[Handle]:
        """Hold what was kept until other results are there; return handles that do."""
        return []

    def wait(self, handles: Sequence[Handle]) -> None:
        """Return when results are there; raise what calls have raised."""
        return

    def close(self) -> None:
        """Let go of what was put."""
        return


class Synchronous(Executor):
    """Everything at once in this process, one part after the other."""

    task_bytes = 2e5
    wire_bytes = 2.0
    words = "one after the other"
    n_threads = None

    def call(self, p: int, function: Callable[..., Any], *arguments: Any) -> Handle:
        """Call the function."""
        return function(*arguments)

    def put(self, p: int, array: Array) -> Handle:
        """Return the array."""
        return array

    def commit(self, handles: Sequence[Handle]) -> list[Handle]:
        """Return the results, which are there."""
        return list(handles)

    def values(self, handles: Sequence[Handle]) -> list[Any]:
        """Return the results, which are there."""
        return list(handles)
