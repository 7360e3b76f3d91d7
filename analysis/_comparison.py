"""Rows that compare two ways to do the same: errors first, then times in turns, beside a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis import _timing
from analysis._script import Document, format_error, format_seconds
from analysis._timing import Samples
from cayleygsp._typing import Array

HEADER = ("work", "ours", "peer", "ratio (spread)", "target", "met", "errors: ours, peer")


@dataclass(frozen=True)
class Side:
    """One of two ways to do the same.

    Attributes
    ----------
    name : str
        What it is called in the table.
    call : callable
        Does the work and returns the result.
    error_limit : float
        Largest error, relative to gain times signal, with which speed is compared at all.
    samples : list of float
        Times measured already; if there are any, none is measured.
    """

    name: str
    call: Callable[[], Array]
    error_limit: float
    samples: Samples = field(default_factory=list)


def compare(
    work: str,
    sides: Sequence[Side],
    error_of: Callable[[Array], float],
    pairs: Sequence[tuple[int, int, float | None]],
    repeats: int,
    *,
    budget: float = 60.0,
    shortest: float | None = None,
    lower_bound: bool = False,
    note: str = "",
) -> list[Document]:
    """Measure the errors of all sides, then their times in turns, and return a row for each pair.

    Parameters
    ----------
    work : str
        What is done.
    sides : sequence of Side
        All that do it.
    error_of : callable
        Error of a result.
    pairs : sequence of (int, int, float or None)
        Which side is ours, which the peer, and the ratio to reach.
    repeats, budget, shortest
        See :func:`analysis._timing.interleave`.
    lower_bound : bool
        Whether the peer was stopped before it was done.
    note : str
        Stands in every row.
    """
    errors = [error_of(side.call()) for side in sides]
    calls = {str(k): side.call for k, side in enumerate(sides) if not side.samples}
    measured = _timing.interleave(calls, repeats, budget=budget, shortest=shortest)
    samples = [side.samples or measured[str(k)] for k, side in enumerate(sides)]
    rows = []
    for ours, peer, target in pairs:
        pair = [side_of(sides[k], errors[k], samples[k]) for k in (ours, peer)]
        value = _timing.summary(_timing.ratios(samples[peer], samples[ours]))
        rows.append(make_row(work, pair[0], pair[1], "×", value, target, note=note, lower_bound=lower_bound))
    return rows


def side_of(side: Side, error: float, samples: Samples) -> Document:
    """Return what a row says of one side."""
    return {
        "name": side.name,
        "seconds": _timing.summary(samples),
        "error": error,
        "error_limit": side.error_limit,
    }


def make_row(
    work: str,
    ours: Document,
    peer: Document | None,
    unit: str,
    value: Document,
    target: float | None,
    *,
    at_most: bool = False,
    lower_bound: bool = False,
    note: str = "",
    **more: Any,
) -> Document:
    """Put a row together; a wrong result meets no target, and a lower bound below the target leaves it open."""
    checked = [ours] if peer is None or peer["error"] is None or lower_bound else [ours, peer]
    correct = all(side["error"] <= side["error_limit"] for side in checked)
    reached = None if target is None else value["median"] <= target if at_most else value["median"] >= target
    return {
        "work": work,
        "ours": ours,
        "peer": peer,
        "unit": unit,
        "value": value,
        "lower_bound": lower_bound,
        "target": target,
        "at_most": at_most,
        "correct": correct,
        "met": None if reached is None or (lower_bound and not reached) else bool(reached and correct),
        "note": note,
        **more,
    }


def table_cells(row: Document) -> list[str]:
    """Return the cells of one row."""
    value, unit, peer = row["value"], row["unit"], row["peer"]
    number = f"{format_number(value['median'])} {unit} ({format_number(value['low'])}–{format_number(value['high'])})"
    sign = "≤" if row["at_most"] else "≥"
    errors = [side["error"] for side in (row["ours"], peer) if side is not None and side["error"] is not None]
    return [
        row["work"],
        _side(row["ours"]),
        "" if peer is None else _side(peer),
        f"≥ {number}" if row["lower_bound"] else number,
        "" if row["target"] is None else f"{sign} {row['target']:g} {unit}",
        "" if row["target"] is None else {True: "yes", False: "no", None: "open"}[row["met"]],
        ", ".join(map(format_error, errors)) + ("" if row["correct"] else " WRONG"),
    ]


def _side(side: Document) -> str:
    if "rate" in side:
        return f"{side['name']}: {side['rate']['median'] / 1e9:.3g} GB/s"
    return f"{side['name']}: {format_seconds(side['seconds']['median'])}"


def format_number(value: float) -> str:
    """Write a ratio, a time or a share with about three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def notes(document: Document) -> list[str]:
    """Return what the rows say beside their numbers."""
    return [f"{row['work']}: {row['note']}" for row in document["rows"] if row["note"]]
