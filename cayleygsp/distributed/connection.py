"""From what a user calls a cluster to who does the work, and where the parts are put for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cayleygsp.distributed.executor import Executor, Synchronous
from cayleygsp.distributed.parts import MemoryStore, Part, Store


def place_parts(parts: Sequence[Part], client: Any, folder: str | Path | None) -> tuple[Store, Executor]:
    """Put parts where those who work on them can read them."""
    if isinstance(client, str) and client == "synchronous":
        return MemoryStore(parts), Synchronous()
    raise NotImplementedError
