"""The zoom of another device, followed without waiting."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cayleygsp.nn import (
    CayleyConv,
)
from cayleygsp.nn.layers.cayley_conv import ZoomElsewhere
from tests.nn.helpers import (
    random_graph,
    signals,
)

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="only a graphics card can be waited for")
def test_forward_does_not_wait_for_the_graphics_card():
    layer = CayleyConv(1, 8, order=3).cuda()
    laplacian = random_graph()[1].cuda()
    x = signals(4, 13, 1, dtype=torch.float32).cuda()
    layer(x, laplacian)  # the first call may look at the zoom
    torch.cuda.set_sync_debug_mode("error")
    try:
        y = layer(x, laplacian)  # raises if the host waits
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert y.device.type == "cuda"
    assert bool(torch.isfinite(y).all())


def test_zoom_of_another_device_is_followed_without_waiting():
    mirror, log_zoom = ZoomElsewhere(), torch.tensor([0.0, -2.0])
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5)
    log_zoom.add_(0.25)
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5)  # sent off, not yet read
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5 * np.exp(0.25))


def test_a_zoom_that_the_host_does_not_know_of_is_an_error_or_read():
    mirror, log_zoom = ZoomElsewhere(), torch.tensor(0.0)
    mirror.upper_bound(log_zoom)
    log_zoom.data.fill_(3.0)  # behind torch's back
    with pytest.raises(RuntimeError, match=r"grown by more than 1\.5 since the host read 1:"):
        mirror.upper_bound(log_zoom)
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5 * np.exp(3.0))  # a copy has arrived
    other = torch.tensor(5.0)  # another tensor, as functional_call passes it
    assert mirror.upper_bound(other) == pytest.approx(1.5 * np.exp(5.0))
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5 * np.exp(3.0))
    log_zoom.fill_(torch.nan)
    with pytest.raises(RuntimeError, match="grown by more than"):
        mirror.upper_bound(log_zoom)
