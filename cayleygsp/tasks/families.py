"""Families of smoothing filters with one parameter, the strength."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from cayleygsp._text import quoted
from cayleygsp._typing import ArrayLike, FloatArray, Kernel
from cayleygsp._validation import check_coefficients
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.analytic import Heat
from cayleygsp.responses.base import Response
from cayleygsp.responses.function import as_response
from cayleygsp.responses.rational import Tikhonov
from cayleygsp.responses.steps import LowPass

Family: TypeAlias = str | Callable[[float], Response | Kernel]

FAMILIES: dict[str, Callable[[float], Response]] = {
    "tikhonov": Tikhonov,
    "heat": Heat,
    "low": lambda strength: LowPass(1 / strength),
}

#: Strengths times λ_max that are tried first where none are given, and how far up the search may go.
FIRST_RANGE = (1e-2, 1e4)
LAST_STRENGTH = 1e6

_PER_DECADE = 8


def check_family(family: Any) -> tuple[str, Callable[[float], Response]]:
    """Return the name of a family and what makes its responses."""
    if isinstance(family, str) and family in FAMILIES:
        return family, FAMILIES[family]
    if callable(family):
        name = getattr(family, "__name__", type(family).__name__)
        return name, lambda strength: as_response(family(strength), name="family(strength)")
    known = ", ".join(map(repr, FAMILIES))
    shown = quoted(family, 40) if isinstance(family, str) else type(family).__name__
    raise ValueError(f"`family` must be one of {known}, or a function that makes a response of a strength, got {shown}")


def check_strengths(strengths: ArrayLike) -> FloatArray:
    """Return given strengths, ascending and each once."""
    array = check_coefficients(np.atleast_1d(np.asarray(strengths)), "strengths")
    if array.dtype.kind == "c":
        raise TypeError(f"`strengths` must be real numbers, got dtype {array.dtype}")
    if array.size == 0:
        raise ValueError("`strengths` must hold at least one strength, got none")
    if not (array > 0).all():
        raise ValueError(f"`strengths` must be positive, got {array.min():g}")
    return np.unique(array)


def default_strengths(L: Laplacian, last: float) -> FloatArray:
    """Return strengths on a logarithmic scale, eight per factor of ten, up to ``last`` over the largest frequency."""
    first = FIRST_RANGE[0]
    n = round(_PER_DECADE * np.log10(last / first)) + 1
    return np.geomspace(first, last, n) / L.lmax
