"""The zoom of a layer on another device, followed without waiting."""

from __future__ import annotations

import math
import weakref
from typing import Any

import torch
from torch import Tensor

from cayleygsp.nn.graph.build import assert_async

# How far beyond the last value seen the zoom may have moved on a device that is not waited for.
_HINT_MARGIN = 1.5


class ZoomMirror:
    """The largest zoom of a layer on another device, as far as it is known here without waiting for that device.

    The degree of the series must be known on the host. A copy is sent off at every call and read when it has arrived;
    until then the last value is used. It is given with a margin, as the zoom may have moved since. Should it have moved
    further, by a large step or behind torch's back, the device finds out: an error is then raised where the host next
    waits for it. Another tensor in the place of the parameter is waited for.
    """

    def __init__(self) -> None:
        self.value: float | None = None
        self.source: weakref.ref[Tensor] | None = None
        self.arriving: tuple[Tensor, Any] | None = None

    def upper_bound(self, log_zoom: Tensor) -> float:
        """Return a bound of the zoom, which may have moved since its last copy arrived; the device checks it."""
        if not torch.compiler.is_compiling():
            self.refresh(log_zoom)
        assert self.value is not None, "the layer must be called once before it is compiled for this device"
        guard(log_zoom, self.value)
        return _HINT_MARGIN * math.exp(self.value)

    def refresh(self, log_zoom: Tensor) -> None:
        """Read a copy that has arrived, and send another one off."""
        if self.source is None or self.source() is not log_zoom:
            self.value, self.arriving = float(log_zoom.detach().max()), None  # the only time that is waited for
            self.source = weakref.ref(log_zoom)
        if self.arriving is not None and (self.arriving[1] is None or self.arriving[1].query()):
            self.value, self.arriving = float(self.arriving[0].max()), None
        if self.arriving is None:
            self.arriving = _send_to_host(log_zoom.detach())


def guard(log_zoom: Tensor, known: float) -> None:
    """Have the device check that the zoom is within the margin of what the host knows; nobody waits for it."""
    assert_async(
        (log_zoom.detach() <= known + math.log(_HINT_MARGIN)).all(),
        f"the zoom of a CayleyConv on another device has grown by more than {_HINT_MARGIN} since the host read "
        f"{math.exp(known):.4g}: the degree of the series is too low for it. Take smaller steps, or write to "
        "`log_zoom` by `copy_` under torch.no_grad() and synchronize before the next call",
    )


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
