"""Slopes of what is missing to a tight frame."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cayleygsp.responses import Heat, LowPass, MexicanHat, Tikhonov
from cayleygsp.responses.complement import ComplementResponse
from cayleygsp.responses.function import KernelResponse


@settings(max_examples=30)
@given(log_scale=st.floats(-2, 1), log_size=st.floats(-30, 30), room=st.floats(1e-3, 2))
def test_no_slope_of_a_complement_is_above_its_bound(log_scale, log_size, room):
    scale, size = 10**log_scale, 10**log_size
    parts = [size * Heat(scale), size * MexicanHat(scale), size * Tikhonov(scale)]
    lam = np.linspace(0, 8, 20_001)
    g = ComplementResponse(parts, (1 + room) * sum(part(lam) ** 2 for part in parts).max())
    slopes = np.abs(np.diff(g(lam))) / np.diff(lam)
    bound = g.lipschitz_bound(0.0, 8.0)
    # values are rounded, and the steps small
    assert slopes.max() <= bound + 1e-10 * g.bound**0.5
    assert bound <= 1e3 * scale * g.bound**0.5


@pytest.mark.parametrize("part", [KernelResponse(np.cos), LowPass(1.0, 1e-12)])
def test_a_complement_whose_slope_is_not_known_says_so(part):
    assert ComplementResponse([part], 2.0).lipschitz_bound(0.0, 4.0) is None


def test_a_complement_without_room_has_no_slope():
    assert ComplementResponse([Heat(1.0)], 1.0).lipschitz_bound(0.0, 4.0) is None
