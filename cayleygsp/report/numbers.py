"""Numbers ready for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def finite_numbers(value: Any) -> Any:
    """Return numbers ready for JSON, with None for what it has no number for.

    Examples
    --------
    >>> from cayleygsp.report.numbers import finite_numbers
    >>> finite_numbers({"a": [1.0, float("inf")], "b": True})
    {'a': [1.0, None], 'b': True}
    """
    if isinstance(value, Mapping):
        return {key: finite_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_numbers(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
