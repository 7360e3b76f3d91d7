"""Helpers of the tests on localization: masses straight from the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

EXPONENTS = st.sampled_from([1.0, 1.5, 2.0, 3.0, 40.0, np.inf])


def brute_force_masses(y, distance, p):
    """Return relative masses outside k hops, straight from the definition."""
    far = int(distance.max())
    outside = [y[(distance > k) | (distance < 0)] for k in range(far + 1)]
    return np.array([scaled_norm(part, p) for part in outside]) / scaled_norm(y, p)


def scaled_norm(y, p):
    """Return the p-norm, computed where powers do not underflow."""
    peak = np.abs(y).max(initial=0.0)
    return peak * np.linalg.norm(y / peak, p) if peak else 0.0
