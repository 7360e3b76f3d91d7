"""Checks of arguments, made once at the public boundary; inner functions trust what they get."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray

# Arrays up to this size are looked at by a product with themselves, which is quicker and needs no thread.
_FEW_NUMBERS = 4096


def check_positive(value: Any, name: str) -> float:
    """Return ``value`` as a float if it is a finite number above zero."""
    number = check_real(value, name)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"`{name}` must be positive and finite, got {value!r}")
    return number


def check_not_negative(value: Any, name: str) -> float:
    """Return ``value`` as a float if it is a finite number that is not below zero."""
    number = check_real(value, name)
    if not (np.isfinite(number) and number >= 0):
        raise ValueError(f"`{name}` must be at least 0 and finite, got {value!r}")
    return number


def check_real(value: Any, name: str) -> float:
    """Return ``value`` as a float if it is one real number."""
    array = np.asarray(value)
    if array.ndim != 0 or array.dtype.kind not in "biuf":
        raise TypeError(f"`{name}` must be a real number, got {value!r}")
    return float(array)


def check_integer(value: Any, name: str, *, at_least: int) -> int:
    """Return ``value`` as an int if it is a whole number not below ``at_least``."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"`{name}` must be an integer, got {value!r}") from None
    if number < at_least:
        raise ValueError(f"`{name}` must be at least {at_least}, got {number}")
    return number


def check_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """Return ``value`` if it is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"`{name}` must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def check_vertex(vertex: Any, n_vertices: int) -> int:
    """Return ``vertex`` as an int if the graph has it."""
    index = check_integer(vertex, "vertex", at_least=0)
    if index >= n_vertices:
        raise ValueError(f"`vertex` must be below the number of vertices {n_vertices}, got {index}")
    return index


def check_eigenvalues(eigenvalues: ArrayLike) -> FloatArray:
    """Return frequencies as a real floating-point array of the same shape, in native byte order.

    Whole numbers, booleans and half precision become float64; other precisions stay what they are.
    """
    lam = np.asarray(eigenvalues)
    if lam.dtype.kind not in "biuf":
        raise TypeError(f"`eigenvalues` must be real numbers, got dtype {lam.dtype}")
    wide = lam.dtype.kind == "f" and lam.dtype.itemsize > 2
    return lam.astype(lam.dtype.newbyteorder("=") if wide else np.float64, copy=False)


def check_coefficients(coeffs: ArrayLike, name: str = "coeffs") -> Array:
    """Return finite one-dimensional coefficients, float64 or complex128."""
    try:
        c = np.asarray(coeffs)
    except ValueError:
        raise ValueError(f"`{name}` must be one-dimensional, got {coeffs!r}") from None
    if c.dtype.kind not in "biufc":
        raise TypeError(f"`{name}` must be numbers, got dtype {c.dtype}")
    if c.ndim != 1:
        raise ValueError(f"`{name}` must be one-dimensional, got shape {c.shape}")
    with np.errstate(over="ignore"):  # numbers of extended precision may be too large
        numbers = c.astype(np.complex128 if c.dtype.kind == "c" else np.float64, copy=False)
    if not np.isfinite(numbers).all():
        first = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"`{name}` must be finite, got {c[first]!s} at position {first}")
    return numbers


def check_signals(signals: ArrayLike, n_vertices: int, name: str = "signals") -> Array:
    """Return signals of shape (n,) or (n, m) as numbers that can be filtered, see :func:`check_numbers`."""
    f = check_numbers(signals, name)
    if f.ndim not in (1, 2) or f.shape[0] != n_vertices:
        raise ValueError(f"`{name}` must have shape ({n_vertices},) or ({n_vertices}, n_signals), got {f.shape}")
    return f


def check_numbers(values: ArrayLike, name: str) -> Array:
    """Return an array of float32, float64, complex64 or complex128 in native byte order, all finite.

    Single and double precision, real or complex, stay what they are. Half precision becomes float32; whole numbers and
    booleans become float64, in which those beyond 2⁵³ are rounded. Extended precision is rejected: its digits would be
    lost, and no bound would tell.
    """
    if np.ma.isMaskedArray(values):
        raise TypeError(f"`{name}` must be a dense array without a mask, got a masked array: fill it first")
    try:
        array = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"`{name}` must be one array of numbers: {error}") from None
    target = _number_type(array.dtype)
    if target is None:
        raise TypeError(
            f"`{name}` must be a dense array of real or complex numbers in half, single or double precision, "
            f"got {type(values).__name__} with dtype {array.dtype}"
        )
    numbers = array.astype(target, copy=False)
    if not seems_finite(numbers) and not np.isfinite(numbers).all():
        first = tuple(int(i) for i in np.argwhere(~np.isfinite(numbers))[0])
        raise ValueError(f"`{name}` must be finite, got {numbers[first]} at {list(first)}")
    return numbers


def seems_finite(numbers: Array) -> bool:
    """Return whether a sum over floating-point numbers is finite; where it is, so are all of them.

    One pass without a temporary array. False does not say that a number is not finite: the sum may overflow.
    """
    if numbers.size <= _FEW_NUMBERS and numbers.flags.c_contiguous:
        return math.isfinite(np.vdot(numbers, numbers).real)
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(numbers.sum()))


@lru_cache(maxsize=64)
def _number_type(dtype: np.dtype[Any]) -> Any:
    """Return the native type in which numbers of the given type are filtered, None if there is no such."""
    if dtype.kind in "biu":
        return np.float64
    if dtype.kind == "f":
        return {2: np.float32, 4: np.float32, 8: np.float64}.get(dtype.itemsize)
    return {8: np.complex64, 16: np.complex128}.get(dtype.itemsize) if dtype.kind == "c" else None
