"""The content that a reader returns, and the request that it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cayleygsp._typing import Array, FloatArray, Symmetrize


@dataclass(frozen=True)
class Request:
    """What is wanted of a file: a variable by name, and a directed graph without its directions."""

    variable: str | None = None
    symmetrize: Symmetrize | None = None


@dataclass(frozen=True, eq=False)
class Content:
    """An adjacency matrix, sparse or dense and not yet checked; names and positions of the vertices."""

    matrix: Any
    labels: Array | None = None
    coords: FloatArray | None = None
