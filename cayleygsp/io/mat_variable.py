"""A variable of a MATLAB file of any version, known by its shape before it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# How deep structs may be nested; SuiteSparse has Problem.aux.coord.
MOST_LEVELS = 4


@dataclass(frozen=True, eq=False)
class MatVariable:
    """Shape of a matrix of numbers, none for anything else, and a function that reads it."""

    shape: tuple[int, ...] | None = None
    read: Callable[[], Any] = lambda: None

    @property
    def is_square(self) -> bool:
        """Whether it could be the adjacency matrix of at least two vertices."""
        return self.shape is not None and len(self.shape) == 2 and self.shape[0] == self.shape[1] > 1
