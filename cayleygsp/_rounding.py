"""Units of rounding."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from cayleygsp._typing import FloatArray

Number = TypeVar("Number", float, FloatArray)


def unit_roundoff(dtype: Any) -> float:
    """Return u, half the distance from 1 to the next number."""
    return float(np.finfo(dtype).eps) / 2


def rounded_up(ratio: Number, longest_row: int) -> Number:
    """Return ratios of Collatz and Wielandt, (Qx)_i / x_i, with what rounding may have taken from them.

    They are of double precision, from entries that are not negative, ``longest_row`` in a row at most.
    """
    return ratio * (1 + (longest_row + 8) * float(np.finfo(np.float64).eps))
