"""The zoom of another device, followed without waiting."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cayleygsp.nn import (
    CayleyConv,
)
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
    from cayleygsp.nn.zoom_mirror import ZoomMirror

    mirror, log_zoom = ZoomMirror(), torch.tensor([0.0, -2.0])
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5)
    log_zoom.add_(1.0)
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5)  # sent off, not yet read
    assert mirror.upper_bound(log_zoom) == pytest.approx(1.5 * np.e)
