"""The section on how far a filter reaches: its decay about a vertex, as numbers, a table, words and a picture."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from cayleygsp._format import counted, format_bound, format_measured, format_rate
from cayleygsp._html import Picture, Section, Table, new_figure
from cayleygsp.filters import CayleyFilter
from cayleygsp.laplacians import Laplacian
from cayleygsp.localization import Decay, decay_curve
from cayleygsp.responses.cayley import CayleyPolynomial

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def typical_vertex(L: Laplacian) -> int:
    """Return a vertex of the largest component whose degree is the median there."""
    inside = np.flatnonzero(L.components == np.argmax(np.bincount(L.components)))
    order = np.argsort(L.degrees[inside], kind="stable")
    return int(inside[order[inside.size // 2]])


def filter_decay(L: Laplacian, polynomial: CayleyPolynomial, vertex: int) -> Decay:
    """Return the decay of a filter about a vertex, measured to 1e-10 of the gain."""
    return decay_curve(CayleyFilter(L, polynomial, tol=1e-10), vertex)


def decay_numbers(curve: Decay) -> dict[str, Any]:
    """Return a decay curve as numbers; a mass that is not above the floor is None."""
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


def draw_decay(curve: Decay) -> Figure:
    """Draw masses outside k hops, measured, fitted and proved."""
    from cayleygsp import plotting

    figure = new_figure(4.1)
    plotting.decay(curve, ax=figure.subplots())
    return figure


def decay_table(curve: Decay) -> Table:
    """Put masses and bounds into a table; of many hops some are left out."""
    k = np.unique(np.round(np.linspace(0, curve.hops[-1], min(curve.hops.size, 9))).astype(int))
    names = ["Theorem 4" if bound.name == "theorem 4" else f"at most ({bound.name})" for bound in curve.bounds]
    rows = []
    for hop in k.tolist():
        mass = "0" if curve.resolved[hop] and curve.mass[hop] == 0 else format_measured(curve.mass[hop], curve.floor)
        rows.append([f"{hop:,}", mass, *(format_bound(bound.mass[hop]) for bound in curve.bounds)])
    return Table(["hops", "measured", *names], rows, n_text=0)


def decay_text(curve: Decay) -> str:
    """Return in words how fast the mass falls, and down to where it was measured."""
    hops = hops_outside(curve, 0.01)
    if hops is not None:
        outside = f"Outside {counted(hops, 'hop')} there is at most 1 % of the norm."
    elif curve.floor >= 0.01:
        outside = "The error of the method is too large to tell where 1 % of the norm is left."
    else:
        outside = "However many hops are taken, more than 1 % of the norm is outside."
    unmeasured = (
        f" Masses below {format_bound(curve.floor)} are not measured: that is how far the method and rounding may "
        "be off, by the certificate of the filtered impulse."
    )
    return f"{outside} {_rate_text(curve)}{'' if curve.resolved.all() else unmeasured}"


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


def decay_section(L: Laplacian, polynomial: CayleyPolynomial) -> tuple[Section, dict[str, Any]]:
    """Return the section on the decay of the filter about a typical vertex, and its numbers."""
    vertex = typical_vertex(L)
    curve = filter_decay(L, polynomial, vertex)
    text = (
        f"The filter seen from vertex {vertex:,}: how much of the 2-norm of its response to a unit impulse there is "
        "more than k hops away. A Cayley filter can reach every vertex of the component."
    )
    picture = Picture.from_figure(
        "decay",
        draw_decay(curve),
        "Dots that fall with the number of hops, a line through them, and curves above them that are proved.",
        "Relative mass outside k hops: measured, fitted by an exponential, and bounded. No relative mass is above 1: "
        "bounds above the line there are empty.",
    )
    section = Section("How far the filter reaches", [text], [picture], decay_table(curve), [decay_text(curve)])
    return section, {"decay": decay_numbers(curve) | {"vertex": vertex}}
