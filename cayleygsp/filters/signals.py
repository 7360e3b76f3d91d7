"""Signals as one real block, and the way back to what the caller gave."""

from __future__ import annotations

import numpy as np

from cayleygsp._typing import Array, FloatArray
from cayleygsp.methods.base import FilterMethod, column_norms, over

# Rows whose rounding is measured at once.
_ROWS = 2**16


class SignalBlock:
    """Signals as one real block, and the way back to the caller's shape and kind of numbers."""

    def __init__(self, signals: Array, method: FilterMethod) -> None:
        self.shape = signals.shape
        self.dtype = signals.dtype
        self.is_complex = signals.dtype.kind == "c"
        columns = signals.reshape(signals.shape[0], -1)
        real_dtype = signals.real.dtype
        if self.is_complex:
            columns = np.ascontiguousarray(columns).view(real_dtype)
        # squares of extreme numbers leave the range of floating point: such columns are scaled by a power of two
        peaks = np.maximum(columns.max(axis=0, initial=0.0), -columns.min(axis=0, initial=0.0))
        far = (peaks > 0) & ((peaks < 1e-15) | (peaks > 1e15))
        self.exponents = np.where(far, np.frexp(peaks)[1], 0) if far.any() else None
        if self.exponents is not None:
            columns = np.ldexp(columns, -self.exponents)
        dtype = real_dtype if method.promotes else method.working_dtype(real_dtype)
        self.real = np.ascontiguousarray(columns, dtype=dtype)

    def restore(self, y: Array) -> tuple[Array, FloatArray]:
        """Return one filter's answer as the caller's signals were, and the rounding of that for each column."""
        target = np.finfo(self.dtype).dtype
        cast = y.astype(target, copy=False)
        rounding: FloatArray = np.zeros(y.shape[1])
        if cast.dtype != y.dtype:
            rows = (slice(first, first + _ROWS) for first in range(0, y.shape[0], _ROWS))
            lost = np.sqrt(sum(column_norms(y[part] - cast[part]) ** 2 for part in rows))
            rounding = over(lost, column_norms(self.real))
        if self.exponents is not None:
            cast = np.ldexp(cast, self.exponents)
        if self.is_complex:
            cast = np.ascontiguousarray(cast).view(self.dtype)
        return cast.reshape(self.shape), rounding

    def bound(self, bounds: FloatArray) -> float | FloatArray:
        """Turn a bound for each real column into one number or one a signal."""
        if self.is_complex:
            bounds = bounds.reshape(-1, 2).max(axis=1)
        return float(bounds[0]) if len(self.shape) == 1 else bounds
