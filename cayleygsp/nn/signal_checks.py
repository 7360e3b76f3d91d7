"""Checks of the signals that layers are given."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor


def check_floating(x: Any) -> None:
    """Reject signals that are no tensor of real floating point numbers."""
    if not isinstance(x, Tensor):
        raise TypeError(f"`x` must be a tensor, got {type(x).__name__}")
    if not x.is_floating_point():
        raise TypeError(f"`x` must hold floating point numbers, got dtype {x.dtype}")


def check_finite(x: Tensor) -> None:
    """Reject signals that are not finite; on the CPU alone, where nobody has to wait for a device.

    Under torch.compile and within transforms of functions such as vmap there are no numbers to look at.
    """
    if x.device.type != "cpu" or torch.compiler.is_compiling() or torch._C._functorch.is_functorch_wrapped_tensor(x):
        return
    values = x.detach() if x.layout == torch.strided else _stored_values(x.detach())
    total = float(values.sum())
    if not math.isfinite(total) and not bool(torch.isfinite(values).all()):
        first = (~torch.isfinite(values)).nonzero()[0].tolist()
        raise ValueError(f"`x` must be finite, got {values[tuple(first)].item()} at {first}")


def _stored_values(x: Tensor) -> Tensor:
    """Return the numbers that a sparse tensor holds."""
    return x._values() if x.layout == torch.sparse_coo else x.values()
