r"""Criteria by which a strength is chosen without knowing the clean signal.

With G the filter, n the number of vertices and noise of standard deviation σ:

- ``gcv``: generalized cross-validation, the least :math:`\frac{\|y - Gy\|^2/n}{(1 - \mathrm{tr}\,G/n)^2}`; needs no σ;
- ``sure``: Stein's unbiased estimate of the mean square error, the least
  :math:`\frac1n\|y - Gy\|^2 - \sigma^2 + \frac2n\sigma^2\,\mathrm{tr}\,G`;
- ``discrepancy``: the largest strength up to which noise explains the residuals. With W the filter of a
  quarter of the strength,
  :math:`\|W^{1/2}(y - Gy)\|^2 \le \sigma^2\,\mathrm{tr}\,W((I - G)^2 + G^2)`: of the noise the filter takes away the
  part :math:`(I - G)^2`, and as much of the signal may be lost as noise stays, :math:`G^2`. Frequencies that W stops
  hold nothing but noise, whose chance variations would hide all else;
- ``morozov``: the discrepancy principle as it stands in textbooks, the largest strength up to which
  :math:`\|y - Gy\|^2 \le n\sigma^2`. It takes the whole residual for noise, so it smooths too much, and by as much as
  the energy of the noise happens to be off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cayleygsp._text import quoted
from cayleygsp._typing import ArrayLike, FloatArray, IntArray, Kernel
from cayleygsp._validation import check_coefficients
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.analytic import Heat
from cayleygsp.responses.base import Response
from cayleygsp.responses.function import as_response
from cayleygsp.responses.rational import Tikhonov
from cayleygsp.responses.steps import LowPass
from cayleygsp.tasks.traces import Polynomial, Traces, plain, squared_complement

SELECTORS = ("gcv", "sure", "discrepancy", "morozov")

#: Those that need the noise level.
NEED_SIGMA = ("sure", "discrepancy", "morozov")

#: Those that take the largest strength up to which noise explains the residual; their curves have no unit.
BY_RESIDUAL = ("discrepancy", "morozov")

# The strength of the weight of the discrepancy, relative to that of the filter.
_WEIGHT = 0.25

# Shares of residual degrees of freedom below this are rounding.
_LEAST_FREEDOM = 1e-9


@dataclass(frozen=True, eq=False)
class Criterion:
    """A criterion over strengths, shape (n_strengths, n_choices), how far it may be off, and which strength is chosen.

    It is infinite where nothing can be said: the filter changes less than the estimated trace tells. It is off by the
    standard errors of the traces and by the allowed error of the filters.
    """

    values: FloatArray
    errors: FloatArray
    chosen: IntArray


def residual_forms(
    select: str, make: Callable[[float], Response], strengths: FloatArray, responses: Sequence[Response]
) -> tuple[list[Polynomial], list[Polynomial]]:
    """Return the polynomials whose forms are the residuals, and those whose traces say what noise explains."""
    if select != "discrepancy":
        return [squared_complement(g) for g in responses], [plain(g) for g in responses]
    weights = [make(_WEIGHT * float(s)) for s in strengths]
    pairs = list(zip(weights, responses, strict=True))
    residuals = [Polynomial(lambda w, g: w * (1 - g) ** 2, pair, (1, 2)) for pair in pairs]
    noise = [Polynomial(lambda w, g: w * ((1 - g) ** 2 + g**2), pair, (1, 2)) for pair in pairs]
    return residuals, noise


def form_errors(select: str, forms: FloatArray, norms: FloatArray, series_errors: FloatArray) -> FloatArray:
    """Bound how far the residuals of signals with the given norms are off if responses are off by as much as given."""
    off = series_errors[:, None] * norms
    if select == "discrepancy":  # the weight counts as it is
        return 3 * off * norms * (1 + series_errors[:, None]) ** 2
    # of a square, twice the root times the error of the root
    return off * (2 * np.sqrt(forms) + off)


def evaluate_criterion(
    select: str, residuals: FloatArray, residual_errors: FloatArray, traces: Traces, n: int, sigma: FloatArray | None
) -> Criterion:
    """Return a criterion from the forms that are residuals, how far these are off, and the traces of the others.

    The noise level, one for each choice, is for the criteria that need it.
    """
    trace, trace_error = traces.values[:, None], traces.standard_errors[:, None]
    R, off = residuals / n, residual_errors / n
    if select == "gcv":
        freedom = 1 - trace / n
        chance = (traces.standard_errors - traces.left_out)[:, None]
        usable = freedom > np.maximum(4 * chance / n, _LEAST_FREEDOM)
        safe = np.where(usable, freedom, 1.0)
        values = np.where(usable, R / safe**2, np.inf)
        least = safe - trace_error / n
        known = least > 0
        errors = np.where(known, (R + off) / np.where(known, least, 1.0) ** 2 - R / safe**2, np.inf)
        return Criterion(values, errors, np.argmin(values, axis=0))
    assert sigma is not None
    variance = sigma**2
    if select == "sure":
        values = R - variance + 2 * variance * trace / n
        return Criterion(values, off + 2 * variance * trace_error / n, np.argmin(values, axis=0))
    if select == "morozov":
        values, errors = R / variance, off / variance
    else:
        explained = variance * np.maximum(trace, _LEAST_FREEDOM) / n
        values = R / explained
        errors = (off + values * variance * trace_error / n) / explained
    beyond = values > 1
    # the strength before the first that noise does not explain: beyond, a weight may have lost the signal from sight
    chosen = np.where(beyond.any(axis=0), np.argmax(beyond, axis=0) - 1, values.shape[0] - 1)
    return Criterion(values, errors, np.maximum(chosen, 0))


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
    n = round(_PER_DECADE * np.log10(last / FIRST_RANGE[0])) + 1
    return np.geomspace(FIRST_RANGE[0], last, n) / L.lmax
