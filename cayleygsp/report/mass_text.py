"""The decay of a filter about a vertex, as a table and in sentences."""

from __future__ import annotations

import numpy as np

from cayleygsp._format import counted, format_bound, format_measured, format_rate
from cayleygsp._html import Table
from cayleygsp.localization import Decay
from cayleygsp.report.mass_numbers import hops_outside


def decay_table(curve: Decay) -> Table:
    """Put masses and bounds into a table; of many hops some are left out."""
    k = np.unique(np.round(np.linspace(0, curve.hops[-1], min(curve.hops.size, 9))).astype(int))
    header = ["hops", "measured", *(_bound_header(bound.name) for bound in curve.bounds)]
    rows = [
        [f"{hop:,}", _mass_text(curve, hop), *(format_bound(bound.mass[hop]) for bound in curve.bounds)]
        for hop in k.tolist()
    ]
    return Table(header, rows, n_text=0)


def decay_text(curve: Decay) -> str:
    """Return in words how fast the mass falls, and down to where it was measured."""
    return " ".join([_outside_text(curve), _rate_text(curve), _floor_text(curve)]).strip()


def _bound_header(name: str) -> str:
    return "Theorem 4" if name == "theorem 4" else f"at most ({name})"


def _mass_text(curve: Decay, hop: int) -> str:
    mass = float(curve.mass[hop])
    return "0" if curve.resolved[hop] and mass == 0 else format_measured(mass, curve.floor)


def _outside_text(curve: Decay) -> str:
    hops = hops_outside(curve, 0.01)
    if hops is not None:
        return f"Outside {counted(hops, 'hop')} there is at most 1 % of the norm."
    if curve.floor >= 0.01:
        return "The error of the method is too large to tell where 1 % of the norm is left."
    return "However many hops are taken, more than 1 % of the norm is outside."


def _rate_text(curve: Decay) -> str:
    fit, theorem = curve.fit, curve.bound("theorem 4")
    if fit.n_points < 2:
        return "There are too few hops to fit a rate."
    # a line through two points is no measure of anything
    r_squared = "" if fit.n_points == 2 or np.isnan(fit.r_squared) else f"R² = {format_rate(fit.r_squared, 2)}, "
    rate = f"The fitted rate is γ = {format_rate(fit.gamma, 2)} per hop ({r_squared}{fit.n_points} points)"
    if theorem is None or theorem.gamma is None:
        return f"{rate}."
    return f"{rate}; that of Theorem 4 is {format_rate(theorem.gamma)}."


def _floor_text(curve: Decay) -> str:
    if curve.resolved.all():
        return ""
    return (
        f"Masses below {format_bound(curve.floor)} are not measured: that is how far the method and rounding may "
        "be off, by the certificate of the filtered impulse."
    )
