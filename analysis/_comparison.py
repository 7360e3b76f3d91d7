"""Rows that compare two ways to do the same: errors first, then times in turns, beside a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis import _timing
from analysis._script import Columns, Document, format_error, format_seconds
from analysis._timing import Samples
from cayleygsp._typing import Array


def _shown(value: Document, unit: str) -> str:
    """Write a measurement with its spread."""
    low, high = format_number(value["low"]), format_number(value["high"])
    return f"{format_number(value['median'])} {unit} ({low}–{high})"


def _errors(row: Document) -> str:
    errors = [side["error"] for side in (row["ours"], row["peer"]) if side is not None and side["error"] is not None]
    return ", ".join(map(format_error, errors)) + ("" if row["correct"] else " WRONG")


def side_text(side: Document | None, rate: Callable[[float], str] = lambda rate: f"{rate / 1e9:.3g} GB/s") -> str:
    """Write the name of a side with its time, or with its rate."""
    if side is None:
        return ""
    return f"{side['name']}: " + (
        rate(side["rate"]["median"]) if "rate" in side else format_seconds(side["seconds"]["median"])
    )


COLUMNS: Columns = {
    "work": "{work}",
    "ours": lambda row: side_text(row["ours"]),
    "peer": lambda row: side_text(row["peer"]),
    "ratio (spread)": lambda row: ("≥ " if row["lower_bound"] else "") + _shown(row["value"], row["unit"]),
    "target": lambda row: (
        "" if row["target"] is None else f"{'≤' if row['at_most'] else '≥'} {row['target']:g} {row['unit']}"
    ),
    "met": lambda row: "" if row["target"] is None else {True: "yes", False: "no", None: "open"}[row["met"]],
    "errors: ours, peer": _errors,
}


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
    error_of : callable, optional
        Error of its result, if it is another one than for all sides.
    """

    name: str
    call: Callable[[], Array]
    error_limit: float
    samples: Samples = field(default_factory=list)
    error_of: Callable[[Array], float] | None = None


def compare(
    work: str,
    sides: Sequence[Side],
    error_of: Callable[[Array], float] | None,
    pairs: Sequence[tuple[int, int, float | None]],
    repeats: int,
    *,
    budget: float = 60.0,
    shortest: float | None = None,
    lower_bound: bool = False,
    at_most: bool = False,
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
        Error of a result, for sides that have no function of their own.
    pairs : sequence of (int, int, float or None)
        Which side is ours, which the peer, and the ratio to reach.
    repeats, budget, shortest
        See :func:`analysis._timing.interleave`.
    lower_bound : bool
        Whether the peer was stopped before it was done.
    at_most : bool
        Whether our time over the peer's is told, with the most that it may be, in the place of the peer's over ours.
    note : str
        Stands in every row.
    """
    errors = []
    for side in sides:
        own = side.error_of or error_of
        assert own is not None
        errors.append(own(side.call()))
    calls = {str(k): side.call for k, side in enumerate(sides) if not side.samples}
    measured = _timing.interleave(calls, repeats, budget=budget, shortest=shortest)
    samples = [side.samples or measured[str(k)] for k, side in enumerate(sides)]
    rows = []
    for ours, peer, target in pairs:
        ours_row, peer_row = (side_of(sides[k], errors[k], samples[k]) for k in (ours, peer))
        slow, fast = (ours, peer) if at_most else (peer, ours)
        value = _timing.summary(_timing.ratios(samples[slow], samples[fast]))
        unit = "times" if at_most else "×"
        rows.append(
            make_row(work, ours_row, peer_row, unit, value, target, at_most=at_most, lower_bound=lower_bound, note=note)
        )
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


def format_number(value: float) -> str:
    """Write a ratio, a time or a share with about three digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def notes(document: Document) -> list[str]:
    """Return what the rows say beside their numbers."""
    return [f"{row['work']}: {row['note']}" for row in document["rows"] if row["note"]]
