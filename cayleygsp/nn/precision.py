"""Computing without autocast."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor


def full_precision(x: Tensor) -> AbstractContextManager[Any]:
    """Return a context without autocast on the device of x."""
    kind = x.device.type
    if not torch.amp.is_autocast_available(kind):
        return nullcontext()
    if not torch.compiler.is_compiling() and not torch.is_autocast_enabled(kind):
        return nullcontext()
    return torch.autocast(kind, enabled=False)
