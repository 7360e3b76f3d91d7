"""Tensors that are kept beyond a call under ``torch.inference_mode``."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch


def outside_inference() -> AbstractContextManager[Any]:
    """Return a context in which tensors that are kept can be used in training later, even under inference_mode."""
    if torch.compiler.is_compiling() or not torch.is_inference_mode_enabled():
        return nullcontext()
    return torch.inference_mode(False)
