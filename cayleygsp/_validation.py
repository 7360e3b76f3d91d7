"""Checks of arguments, made once at the public boundary; inner functions trust what they get."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray


def check_positive(value: Any, name: str) -> float:
    """Return ``value`` as a float if it is a finite number above zero."""
    number = check_real(value, name)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"`{name}` must be positive and finite, got {value!r}")
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
    """Return frequencies as a real floating-point array of the same shape."""
    lam = np.asarray(eigenvalues)
    if lam.dtype.kind not in "biuf":
        raise TypeError(f"`eigenvalues` must be real numbers, got dtype {lam.dtype}")
    return lam if lam.dtype.kind == "f" else lam.astype(np.float64)


def check_coefficients(coeffs: ArrayLike, name: str = "coeffs") -> Array:
    """Return finite one-dimensional coefficients, real or complex."""
    try:
        c = np.asarray(coeffs)
    except ValueError:
        raise ValueError(f"`{name}` must be one-dimensional, got {coeffs!r}") from None
    if c.dtype.kind not in "biufc":
        raise TypeError(f"`{name}` must be numbers, got dtype {c.dtype}")
    if c.ndim != 1:
        raise ValueError(f"`{name}` must be one-dimensional, got shape {c.shape}")
    if not np.isfinite(c).all():
        first = int(np.flatnonzero(~np.isfinite(c))[0])
        raise ValueError(f"`{name}` must be finite, got {c[first]} at position {first}")
    return c


def check_signals(signals: ArrayLike, n_vertices: int, name: str = "signals") -> Array:
    """Return signals of shape (n,) or (n, m) as floating-point numbers, real or complex, all finite.

    Whole numbers and booleans become float64; single and double precision stay what they are.
    """
    if np.ma.isMaskedArray(signals):
        raise TypeError(f"`{name}` must be a dense array without a mask, got a masked array: fill it first")
    f = np.asarray(signals)
    if f.dtype.kind in "biu":
        f = f.astype(np.float64)
    if f.dtype.char not in "fdFD":
        raise TypeError(
            f"`{name}` must be a dense array of real or complex numbers in single or double precision, "
            f"got {type(signals).__name__} with dtype {f.dtype}"
        )
    if f.ndim not in (1, 2) or f.shape[0] != n_vertices:
        raise ValueError(f"`{name}` must have shape ({n_vertices},) or ({n_vertices}, n_signals), got {f.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(f.sum())  # one pass without a temporary array
    if suspicious and not np.isfinite(f).all():
        first = tuple(int(i) for i in np.argwhere(~np.isfinite(f))[0])
        raise ValueError(f"`{name}` must be finite, got {f[first]} at {list(first)}")
    return f
