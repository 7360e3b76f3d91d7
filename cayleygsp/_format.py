"""Numbers as text, rounded so that no claim gets stronger."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

# Entries of an array that a result shows when it is printed.
_MOST_SHOWN = 6


def counted(n: int, one: str, many: str | None = None) -> str:
    """Return a number of things in words; many are called one with an s by default.

    Examples
    --------
    >>> from cayleygsp._format import counted
    >>> counted(1, "vertex", "vertices"), counted(2000, "edge")
    ('1 vertex', '2,000 edges')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def format_tol(tol: float, decimals: int = 2) -> str:
    """Write a tolerance: 1e-3 and 1e-6, not 0.001 and 1e-06.

    Examples
    --------
    >>> from cayleygsp._format import format_tol
    >>> format_tol(1e-3), format_tol(2.5e-10)
    ('1e-3', '2.5e-10')
    """
    mantissa, exponent = f"{tol:.{decimals}e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def format_rate(value: float, digits: int = 4, *, gap: float | None = None) -> str:
    """Write a rate so that one below 1 never reads as 1; ``gap`` is 1 less the rate, where it is known more precisely.

    Examples
    --------
    >>> from cayleygsp._format import format_rate
    >>> format_rate(0.70710678), format_rate(0.99999977), format_rate(1.0, gap=5e-17), format_rate(2.8284271)
    ('0.7071', '1 − 2.3e-7', '1 − 5e-17', '2.828')
    """
    missing = 1 - value if gap is None else gap
    text = f"{value:.{digits}g}"
    if missing > 0 and float(text) >= 1:
        return f"1 − {format_tol(missing, 1)}"
    if missing < 0 and float(text) <= 1:
        return f"1 + {format_tol(-missing, 1)}"
    return text


def format_measured(value: float, floor: float) -> str:
    """Write a measured number; one that is not above its own error reads as "below" that.

    Examples
    --------
    >>> from cayleygsp._format import format_measured
    >>> format_measured(3.2e-4, 1e-15), format_measured(5e-29, 2.03e-15)
    ('3.2e-04', 'below 2.1e-15')
    """
    return f"{value:.1e}" if value > floor else f"below {format_bound(floor)}"


def format_bound(value: float) -> str:
    """Write an upper bound with two digits, rounded up so that it stays one.

    Examples
    --------
    >>> from cayleygsp._format import format_bound
    >>> format_bound(1.41e-4), format_bound(0.0), format_bound(float("inf"))
    ('1.5e-04', '0', 'inf')
    """
    return f"{_rounded(value, 2, ROUND_CEILING):.1e}" if value else "0"


def format_at_most(value: float, digits: int = 4) -> str:
    """Write an upper limit, rounded up.

    Examples
    --------
    >>> from cayleygsp._format import format_at_least, format_at_most
    >>> format_at_most(7.06812), format_at_most(0.1), format_at_least(6.87968)
    ('7.069', '0.1', '6.879')
    """
    return f"{_rounded(value, digits, ROUND_CEILING):.{digits}g}"


def format_at_least(value: float, digits: int = 4) -> str:
    """Write a lower limit, rounded down."""
    return f"{_rounded(value, digits, ROUND_FLOOR):.{digits}g}"


def _rounded(value: float, digits: int, rounding: str) -> float:
    if not math.isfinite(value) or float(f"{value:.{digits}g}") == value:  # 0.1 has more digits than these, all binary
        return value
    return float(Context(prec=digits, rounding=rounding).create_decimal(Decimal(value)))


class ShortRepr:
    """A base of dataclasses that hold arrays: of a long array only the shape is printed.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from cayleygsp._format import ShortRepr
    >>> @dataclass(repr=False)
    ... class Result(ShortRepr):
    ...     signals: np.ndarray
    ...     bound: float
    >>> Result(np.zeros((100, 3)), 1e-6)
    Result(signals=<array of shape (100, 3)>, bound=1e-06)
    """

    def __repr__(self) -> str:
        parts = [f"{field.name}={_shown(getattr(self, field.name))}" for field in fields(self) if field.repr]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(parts)})"


def _shown(value: object) -> str:
    """Write a value, an array or a tuple of more than some entries by its size."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and math.prod(shape) > _MOST_SHOWN:
        return f"<array of shape {shape}>"
    if isinstance(value, tuple) and len(value) > _MOST_SHOWN:
        return f"<tuple of {len(value):,}>"
    return repr(value)


def finite_numbers(value: Any) -> Any:
    """Return numbers ready for JSON, with None for what it has no number for."""
    if isinstance(value, Mapping):
        return {key: finite_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_numbers(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
