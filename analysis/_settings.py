"""Checks of the settings of an experiment, which name the setting and its value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def check_positive_settings(config: Any, names: Iterable[str]) -> None:
    """Reject settings that are not positive; of one that has several numbers, the least number counts."""
    for name in names:
        value = getattr(config, name)
        least = min(value) if isinstance(value, (tuple, list)) else value
        if not least > 0:
            raise ValueError(f"`{name}` must be positive, got {least}")


def check_nonnegative_settings(config: Any, names: Iterable[str]) -> None:
    """Reject negative settings."""
    for name in names:
        if not getattr(config, name) >= 0:
            raise ValueError(f"`{name}` must not be negative, got {getattr(config, name)}")
