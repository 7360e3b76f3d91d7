"""The file in which an unfinished run says how far it is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import torch

from cayleygsp._files import write_files

_CHECKPOINT_SECONDS = 20.0


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
