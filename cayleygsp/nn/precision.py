"""The precision that is computed in: without autocast, and double where single would not do."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from cayleygsp.nn.coefficients import zoom_of

# Largest h λ_max of a recurrence in single precision.
SINGLE_LIMIT = 1e3


def full_precision(x: Tensor) -> AbstractContextManager[Any]:
    """Return a context without autocast on the device of x."""
    kind = x.device.type
    if not torch.amp.is_autocast_available(kind):
        return nullcontext()
    if not torch.compiler.is_compiling() and not torch.is_autocast_enabled(kind):
        return nullcontext()
    return torch.autocast(kind, enabled=False)


def recurrence_dtype(
    dtype: torch.dtype, log_zoom: Tensor | None, bound: float | None, hint: float | None
) -> torch.dtype:
    """Return the precision that a recurrence runs in: double where rounding in single would spoil the zoom's gradient.

    That gradient is of size 1 / (hλ) where hλ is large, and rounding in a recurrence grows with its length.
    """
    if dtype != torch.float32 or log_zoom is None or bound is None or log_zoom.device.type in ("meta", "mps"):
        return dtype
    zoom = hint if hint is not None else zoom_of(log_zoom.detach().max())
    return torch.float64 if zoom * bound > SINGLE_LIMIT else dtype
