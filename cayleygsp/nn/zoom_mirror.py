"""The zoom of a layer on another device, followed without waiting."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

# How far beyond the last value seen the zoom may have moved on a device that is not waited for.
_HINT_MARGIN = 1.5


class ZoomMirror:
    """The largest zoom of a layer on another device, as far as it is known here without waiting for that device.

    The degree of the series must be known on the host. A copy is sent off when the parameter has changed and read when
    it has arrived; until then the last value is used. It is given with a margin, as the zoom may have moved since.
    """

    def __init__(self) -> None:
        self.value: float | None = None
        self.version = -1
        self.arriving: tuple[Tensor, Any] | None = None

    def upper_bound(self, log_zoom: Tensor) -> float:
        """Return a bound of the zoom, which may have moved since its last copy arrived."""
        if not torch.compiler.is_compiling():
            self.refresh(log_zoom.detach())
        assert self.value is not None, "the layer must be called once before it is compiled for this device"
        return _HINT_MARGIN * math.exp(self.value)

    def refresh(self, log_zoom: Tensor) -> None:
        """Read a copy that has arrived, and send one off if the parameter has changed."""
        if self.value is None:
            self.value = float(log_zoom.max())  # the only time that is waited for
            self.version = log_zoom._version
        if self.arriving is not None and (self.arriving[1] is None or self.arriving[1].query()):
            self.value, self.arriving = float(self.arriving[0].max()), None
        if self.arriving is None and log_zoom._version != self.version:
            self.version = log_zoom._version
            self.arriving = _send_to_host(log_zoom)


def _send_to_host(log_zoom: Tensor) -> tuple[Tensor, Any]:
    """Start a copy to the host; return where it arrives and the event that tells when."""
    on_cuda = log_zoom.device.type == "cuda"
    target = torch.empty(log_zoom.shape, dtype=log_zoom.dtype, pin_memory=on_cuda)
    target.copy_(log_zoom, non_blocking=on_cuda)
    event = None
    if on_cuda:
        event = torch.cuda.Event()
        event.record()
    return target, event
