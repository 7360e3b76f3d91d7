"""Signals as one real block in a safe range, and the way back to what the caller gave."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp._validation import seems_finite
from cayleygsp.methods.base import FilterMethod, column_norms, over

# Sizes of signals that are filtered as they are; squares of others, or their answers, may leave the range of numbers.
_SAFE_SIZES = {np.dtype(np.float32): (1e-10, 1e10), np.dtype(np.float64): (1e-15, 1e15)}

# Gains between which signals need no other scale than their own.
_SAFE_GAINS = (1e-100, 1e100)

# The smallest positive number of each precision.
_SMALLEST = {np.dtype(one): float(np.finfo(one).smallest_subnormal) for one in (np.float32, np.float64)}
_DOUBLE: Any = np.dtype(np.float64)

# Operations behind one number of an answer, each of which may lose a subnormal number.
_OPERATIONS = 2.0**34

# Numbers that are looked at or rounded at once: few enough to take no memory beside the signals.
_NUMBERS = 2**14

# Rows are put side by side up to so many numbers where columns are reduced: numpy is slow on short rows.
_WIDE_ROW = 2**11


class Restored(NamedTuple):
    """An answer in the shape and type of the caller's signals.

    For each real column ``rounding`` bounds what was lost on the way back, relative to the norm of the signal; infinite
    where the answer is not finite. Of it ``lost`` was measured; the rest is the same for all vertices together.
    """

    signals: Array
    rounding: FloatArray
    overflows: bool
    lost: FloatArray


class Whole(NamedTuple):
    """What is known of all vertices where a block holds some of them: sizes and norms of each real column."""

    n_vertices: int
    peaks: FloatArray
    norms: FloatArray | None = None


def n_columns(signals: Array, *, by_filter: bool = False) -> int:
    """Return the real columns of a block of signals, or of one for each filter: a complex one stands as two."""
    shape = signals.shape[1 + by_filter :]
    return math.prod(shape) * (2 if signals.dtype.kind == "c" else 1)


def signal_block(signals: Any, method: FilterMethod, gain: float, *, by_filter: bool = False) -> SignalBlock:
    """Return signals as a block that a method filters; those in parts know their own form of it."""
    if isinstance(signals, np.ndarray):
        return SignalBlock(signals, method, gain, by_filter=by_filter)
    apart: SignalsApart = signals
    return apart.as_block(method, gain, by_filter=by_filter)


class SignalsApart(ABC):
    """Signals of shape (n,) or (n, m) that are not in the memory of this process, on a graph that is not either."""

    shape: tuple[int, ...]
    dtype: Any

    @abstractmethod
    def as_block(self, method: FilterMethod, gain: float, *, by_filter: bool = False) -> SignalBlock:
        """Return them as a block that a method filters."""


class SignalBlock:
    """Signals as one real block in a safe range, and the way back to the caller's shape and type of numbers.

    Extreme columns are scaled by a power of two, which changes no digit. With ``by_filter`` there is a block for each
    filter, in front, and a column has one scale for all of them. ``gain`` is the largest of the filters, and ``whole``
    what is known of all vertices if these are some of them.

    Attributes
    ----------
    real : numpy.ndarray, shape (n, m) or (n_filters, n, m)
        What the method filters, in the precision that it decides; a complex column stands as two real ones.
    """

    def __init__(
        self,
        signals: Array,
        method: FilterMethod,
        gain: float,
        *,
        by_filter: bool = False,
        whole: Whole | None = None,
    ) -> None:
        self.whole = whole
        self.shape = signals.shape[1:] if by_filter else signals.shape
        self.dtype = signals.dtype
        self.gain = gain
        self.is_complex = signals.dtype.kind == "c"
        self.real_dtype = real_dtype = signals.real.dtype
        columns = signals[..., None] if len(self.shape) == 1 else signals
        if self.is_complex or by_filter:  # blocks by filter are mostly views of an array with the filters last
            columns = np.ascontiguousarray(columns)
        if self.is_complex:
            columns = columns.view(real_dtype)
        working = np.dtype(method.working_dtype(real_dtype))
        if whole is not None:
            self.peaks = whole.peaks
        else:
            self.peaks = np.maximum.reduce(find_peaks(columns), axis=0) if by_filter else find_peaks(columns)
        self.exponents = _exponents(self.peaks, working, gain)
        if self.exponents is not None:
            columns = np.ldexp(columns.astype(working, copy=False), -self.exponents)
        # a method that promotes takes signals in their own precision, a few at a time
        as_given = method.promotes and self.exponents is None
        self.real: Array = np.ascontiguousarray(columns, dtype=real_dtype if as_given else working)

    @cached_property
    def norms(self) -> FloatArray:
        """The norm of each real column as it is filtered, all blocks of it together."""
        if self.whole is not None and self.whole.norms is not None:
            return self.whole.norms
        if self.real.ndim == 2:
            return column_norms(self.real)
        return np.sqrt(sum(column_norms(block) ** 2 for block in self.real))

    def restore(self, y: Array) -> Restored:
        """Return one filter's answer of shape (n, m) as the caller's signals were, with what was lost by that."""
        result, rounding, overflows = y, self._underflow(y.dtype), False
        lost: FloatArray = np.zeros(rounding.shape)
        if y.dtype != self.real_dtype or self.exponents is not None:
            result, lost = self._round(y, self.real_dtype)
            rounding = rounding + lost
            overflows = bool(np.isinf(rounding).any())
        elif not seems_finite(y):
            beyond = ~np.isfinite(y).all(axis=0)
            lost, overflows = np.where(beyond, np.inf, 0.0), bool(beyond.any())
            rounding = rounding + lost
        if self.is_complex:
            result = np.ascontiguousarray(result).view(self.dtype)
        return Restored(result.reshape(self.shape), rounding, overflows, lost)

    def _round(self, y: Array, target: Any) -> tuple[Array, FloatArray]:
        """Scale back and round to the caller's type; the distance is measured, overflow and underflow included."""
        result = np.empty(y.shape, target)
        lost_norms = np.zeros(y.shape[1])
        n_rows = max(_NUMBERS // max(y.shape[1], 1), 1)
        for first in range(0, y.shape[0], n_rows):
            part = y[first : first + n_rows]
            # on the scale of the numbers themselves, squares neither overflow nor lose what matters
            unit = -np.frexp(np.abs(part).max(axis=0))[1]
            rounded = result[first : first + n_rows]
            with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                rounded[:] = part if self.exponents is None else np.ldexp(part, self.exponents)
                back = rounded.astype(np.float64)
                if self.exponents is not None:
                    back = np.ldexp(back, -self.exponents)
                lost = np.ldexp(part - back, unit)
                lost_norms = np.hypot(lost_norms, np.ldexp(np.sqrt(np.einsum("ij,ij->j", lost, lost)), -unit))
        return result, np.where(np.isfinite(lost_norms), over(lost_norms, self.norms), np.inf)

    def _underflow(self, dtype: Any) -> FloatArray:
        """Bound what subnormal numbers lose inside the computation and in the response, relative to the signal."""
        if self.gain == 0:
            return np.zeros_like(self.peaks)
        peaks = self.peaks if self.exponents is None else np.ldexp(self.peaks, -self.exponents)
        n_vertices = self.real.shape[-2] if self.whole is None else self.whole.n_vertices
        lost = _OPERATIONS * _SMALLEST[dtype] * math.sqrt(n_vertices)
        of_response = _OPERATIONS * _SMALLEST[_DOUBLE]
        if 0.0 in peaks.tolist():  # a signal of zeros loses nothing
            return np.where(peaks > 0, lost / np.where(peaks > 0, peaks, np.inf) + of_response, 0.0)
        return lost / peaks + of_response

    def bound(self, bounds: FloatArray) -> float | FloatArray:
        """Turn a bound for each real column into one number or one per signal."""
        if self.is_complex:
            bounds = bounds.reshape(-1, 2).max(axis=1)
        return float(bounds[0]) if len(self.shape) == 1 else bounds


def find_peaks(columns: Array) -> FloatArray:
    """Return the largest absolute value of each column, as float64."""
    if columns.size <= _NUMBERS:
        return np.maximum.reduce(np.abs(columns), axis=-2, initial=0.0).astype(np.float64, copy=False)
    if columns.ndim == 3:
        return np.stack([find_peaks(block) for block in columns])
    largest = np.maximum(_reduce_columns(np.maximum, columns), -_reduce_columns(np.minimum, columns))
    return largest.astype(np.float64, copy=False)


def _reduce_columns(extreme: np.ufunc, columns: Array) -> Array:
    """Return the largest or the smallest number of each column, and of zero."""
    n, m = columns.shape
    side_by_side = max(_WIDE_ROW // m, 1)
    folded = n - n % side_by_side if columns.flags.c_contiguous else 0
    wide = extreme.reduce(columns[:folded].reshape(-1, side_by_side * m), axis=0, initial=0.0)
    rest = extreme.reduce(columns[folded:], axis=0, initial=0.0)
    found: Array = extreme(extreme.reduce(wide.reshape(-1, m), axis=0), rest)
    return found


def _exponents(peaks: FloatArray, dtype: Any, gain: float) -> IntArray | None:
    """Return the powers of two by which the columns are divided, None if all stay as they are.

    An extreme gain is met halfway: a third of its exponent is taken from the signal, so that neither squares of the
    signal nor the answer leave the range of numbers.
    """
    low, high = _SAFE_SIZES[dtype]
    ordinary = gain == 0 or _SAFE_GAINS[0] <= gain <= _SAFE_GAINS[1]
    sizes = peaks.tolist()
    if ordinary and low <= min(sizes, default=low) and max(sizes, default=low) <= high:
        return None
    shift = 0 if ordinary else -int(np.frexp(gain)[1]) // 3
    far = (peaks > 0) & ((peaks < low) | (peaks > high) | (shift != 0))
    return np.where(far, np.frexp(peaks)[1] - shift, 0) if far.any() else None
