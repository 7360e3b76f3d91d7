"""What every filter and bank makes sure of: a response within the range of numbers, and a word where a bound fails."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

import numpy as np

from cayleygsp._format import format_at_most
from cayleygsp._typing import FloatArray
from cayleygsp.filters.info import ConvergenceWarning
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import filter_gain
from cayleygsp.responses.base import Response

# Larger responses leave no room for sums of them.
_LARGEST_GAIN = 1e305

# Squares of larger numbers are not finite.
_LARGEST_ZOOM = 1e150


def check_gain(L: Laplacian, response: Response, name: str) -> None:
    """Reject a response on a graph if it is not known on all of the spectrum, or too large to compute with."""
    zoom = 0.0 if response.cayley_form is None else response.cayley_form.zoom
    if zoom > _LARGEST_ZOOM / max(L.lmax, 1.0):
        raise ValueError(
            f"`{name}` must have a zoom of at most {_LARGEST_ZOOM:g}, also where it is multiplied by the bound "
            f"{L.lmax:.3g} of the spectrum, got {zoom:.3g}"
        )
    if L.lmax_bound > response.highest_frequency * (1 + 1e-12):
        raise ValueError(
            f"`{name}` must be known on all of the spectrum, which may reach up to {L.lmax_bound:.12g}, got "
            f"{response!r} that was made for frequencies up to {response.highest_frequency:.12g}"
        )
    if response.lowest_frequency > 0:
        raise ValueError(
            f"`{name}` must be known on all of the spectrum, which begins at 0, got {response!r} that was made for "
            f"frequencies from {response.lowest_frequency:.12g} on"
        )
    gain = filter_gain(L, response)
    if not gain <= _LARGEST_GAIN:
        raise ValueError(
            f"`{name}` must have responses of at most {_LARGEST_GAIN:g} on the spectrum, as larger ones leave the "
            f"range of numbers, got {gain:.3g}; scale the coefficients down"
        )


def total_bounds(error_bound: float | FloatArray, rounding: FloatArray) -> FloatArray:
    """Add the rounding of the way back to a method's bound; what is not a number counts as infinite."""
    bounds: FloatArray = np.asarray(error_bound) + rounding
    return np.where(np.isnan(bounds), np.inf, bounds) if math.isnan(sum(bounds.ravel().tolist())) else bounds


def warn_of_error(
    who: str, tol: float | None, bound: float, gain: float, overflows: bool, dtype: Any, whose: str = "the error"
) -> None:
    """Warn, at the line that called this package, that the tolerance was not certified or the result overflows.

    Parameters
    ----------
    who : str
        What could not certify the tolerance.
    tol : float or None
        The tolerance.
    bound, gain : float
        What was reached, and the gain that it is compared with.
    overflows : bool
        Whether the result is not finite.
    dtype : dtype
        Type of the result.
    whose : str
        The name of what is bounded.
    """
    if overflows:
        text = f"the result overflows: it holds numbers beyond the range of {np.dtype(dtype)}; no bound is certified"
    else:
        wanted = "any accuracy" if tol is None else f"tol={tol:.3g}"
        largest = format_at_most(bound / gain if gain else bound, 3)
        reached = f"{largest} of the gain" if gain else f"{largest}, and the gain is zero"
        text = (
            f"{who} could not certify {wanted}: {whose} is at most {reached} (zoom, size and precision of the signals "
            "and tolerance decide what rounding and underflow allow)"
        )
    warnings.warn(text, ConvergenceWarning, stacklevel=_depth_of_caller())


def _depth_of_caller() -> int:
    """Return the `stacklevel` of the first frame outside this package and scipy's operators."""
    frame, depth = sys._getframe(2), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("cayleygsp.", "scipy.")):
        frame, depth = frame.f_back, depth + 1
    return depth
