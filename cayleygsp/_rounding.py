"""Units of rounding."""

from __future__ import annotations

from typing import Any

import numpy as np


def unit_roundoff(dtype: Any) -> float:
    """Return u, half the distance from 1 to the next number."""
    return float(np.finfo(dtype).eps) / 2
