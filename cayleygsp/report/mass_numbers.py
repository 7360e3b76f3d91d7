"""The decay of a filter about a vertex, in numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from cayleygsp.localization import Decay


def decay_numbers(curve: Decay) -> dict[str, Any]:
    """Return a decay curve as numbers; a mass that is not above the floor is None.

    Parameters
    ----------
    curve : Decay
        From :func:`cayleygsp.localization.decay_curve`.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.report.mass_numbers import decay_numbers
    >>> g = cg.CayleyFilter(cg.gallery.ring(128), cg.CayleyPolynomial([0.5, -0.25], zoom=0.1))
    >>> numbers = decay_numbers(cg.localization.decay_curve(g, 0))
    >>> numbers["mass"][40] is None, numbers["below_floor"][40]
    (True, True)
    """
    return {
        "hops": curve.hops.tolist(),
        "mass": _measured(curve),
        "below_floor": (~curve.resolved).tolist(),
        "floor": curve.floor,
        "fit": asdict(curve.fit),
        "bounds": {
            bound.name: {"mass": bound.mass.tolist(), "valid": bound.valid.tolist(), "gamma": bound.gamma}
            for bound in curve.bounds
        },
    }


def decay_columns(curve: Decay) -> dict[str, list[Any]]:
    """Return the columns of a file with a decay curve.

    Where the mass is not above what the method may be off by, ``mass`` is empty and ``below`` holds that number.
    """
    return {
        "hops": curve.hops.tolist(),
        "mass": _measured(curve),
        "below": [None if known else curve.floor for known in curve.resolved],
        **{bound.name.replace(" ", "_"): bound.mass.tolist() for bound in curve.bounds},
    }


def hops_outside(curve: Decay, share: float) -> int | None:
    """Return the least number of hops outside which no more than a share of the norm is left, error added.

    None if there is no such number, or the error of the method is too large to tell.
    """
    least = np.flatnonzero(np.where(curve.resolved & (curve.mass == 0), 0.0, curve.mass + curve.floor) <= share)
    return int(least[0]) if least.size else None


def _measured(curve: Decay) -> list[float | None]:
    return [mass if known else None for mass, known in zip(curve.mass.tolist(), curve.resolved, strict=True)]
