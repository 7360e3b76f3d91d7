"""The section on the error of Jacobi sweeps and of the series: proved bounds, measured errors, and what they take."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cayleygsp import bounds
from cayleygsp._format import counted, format_at_least, format_bound, format_measured, format_rate, format_tol
from cayleygsp._html import Picture, Section, Table, new_figure
from cayleygsp._typing import FloatArray
from cayleygsp.bounds.contraction import jacobi_decay
from cayleygsp.bounds.result import BOUND_KINDS
from cayleygsp.bounds.series import series_tails
from cayleygsp.filters import CayleyFilter, ConvergenceWarning
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import filter_gain
from cayleygsp.report.application import timed_filter
from cayleygsp.responses.cayley import CayleyPolynomial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SWEEPS = (1, 5, 9, 13)
MORE_SWEEPS = (40, 80)

# The error of the filter that Jacobi's are measured against.
REFERENCE_TOL = 1e-10

# Sums of a row's entries differ by about as much from what they should be.
KAPPA_ROUNDING = 1e-12


@dataclass(frozen=True)
class BoundRow:
    """Error of K Jacobi sweeps, relative to the norm of the signal, and bounds of it in exact arithmetic."""

    n_iter: int
    n_matvecs: int
    # Distance from a reference for one signal, and how far that may be off: an error not above it is not resolved.
    measured: float | None
    reference_bound: float | None
    # See `cayleygsp.bounds.jacobi_bound`; what rounding may add to them.
    paper: float
    safe: float
    sharp: float
    paper_valid: bool
    rounding: float
    # Of the Chebyshev series with as many products; None where it has millions of terms.
    series: float | None
    # sup|g|: a bound above it is empty, as the signal 0 is never off by more.
    gain: float


@dataclass(frozen=True)
class Needs:
    """What it takes to keep an error, relative to the norm of the signal."""

    atol: float
    # Jacobi sweeps by each bound; None if no number is known to be enough.
    paper: int | None
    safe: int | None
    sharp: int | None
    # Products of the Chebyshev series; None if there are millions.
    series_degree: int | None
    # The largest zoom at which so many sweeps keep the error, by the sharp bound; it may be infinite.
    n_iter: int
    affordable_zoom: float | None
    every_zoom: bool


def bound_rows(
    L: Laplacian, polynomial: CayleyPolynomial, sweeps: Sequence[int], signal: FloatArray | None = None
) -> list[BoundRow]:
    """Bound the error of the Jacobi scheme, and measure it on a signal if one is given.

    Measured errors are distances from the filter with a certified error of 1e-10 of its gain.
    """
    r, gain = polynomial.order, filter_gain(L, polynomial)
    reference, reference_bound = None, None
    if signal is not None:
        reference, info, *_ = timed_filter(L, polynomial, signal, tol=REFERENCE_TOL)
        reference_bound = float(np.max(info.error_bound))
    try:
        tails = series_tails(L, polynomial, r * (max(sweeps) + 1) + 1)[0]
    except ValueError:  # millions of terms
        tails = None
    sharp, safe = (jacobi_decay(L, polynomial.zoom, kind) for kind in ("sharp", "safe"))
    rows = []
    for K in sweeps:
        measured = None
        if signal is not None and reference is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                y = CayleyFilter(L, polynomial, method="jacobi", n_iter=K) @ signal
            measured = float(np.linalg.norm(y - reference) / np.linalg.norm(signal))
        paper = bounds.jacobi_bound(L, polynomial, K, "paper")
        rows.append(
            BoundRow(
                n_iter=K,
                n_matvecs=r * (K + 1),
                measured=measured,
                reference_bound=reference_bound,
                paper=paper.value,
                safe=safe.error(polynomial, K),
                sharp=sharp.error(polynomial, K),
                paper_valid=paper.valid,
                rounding=bounds.jacobi_rounding(L, polynomial, K),
                series=None if tails is None else float(tails[r * (K + 1)]),
                gain=gain,
            )
        )
    return rows


def kappa_gap(L: Laplacian, zoom: float) -> float:
    r"""Return :math:`1 - \kappa`, to all its digits where κ itself rounds to 1.

    For the combinatorial Laplacian κ = x/E with x = hd, E = √(x² + 1) and d the largest degree, so that
    :math:`1 - \kappa = 1/(E(E + x))`.

    It is negative where κ is above 1. For a normalized Laplacian it is the difference of floating-point numbers, 0
    where these do not tell κ from 1.
    """
    if L.kind == "combinatorial":
        x = zoom * float(L.diagonal.max())
        E = float(np.hypot(x, 1.0))
        return 1 / E / (E + x)
    gap = 1 - bounds.kappa(L, zoom)
    return gap if abs(gap) > KAPPA_ROUNDING else 0.0


def needs(L: Laplacian, polynomial: CayleyPolynomial, atol: float, n_iter: int) -> Needs:
    """Return what it takes to keep the error within ``atol``, and the zoom that ``n_iter`` sweeps can serve."""
    sweeps = {kind: bounds.jacobi_sweeps(L, polynomial, atol, kind) for kind in BOUND_KINDS}
    try:
        degree = bounds.series_degree(L, polynomial, atol)
    except ValueError:  # millions of terms
        degree = None
    zoom = bounds.affordable_zoom(L, polynomial, n_iter, atol)
    return Needs(atol, **sweeps, series_degree=degree, n_iter=n_iter, affordable_zoom=zoom, every_zoom=zoom == np.inf)


def draw_bounds(rows: Sequence[BoundRow]) -> Figure:
    """Draw measured errors and bounds over the number of sweeps; all rows must be measured."""
    from cayleygsp import plotting

    figure = new_figure(3.9)
    plotting.bounds(
        [row.n_iter for row in rows],
        [float("nan") if row.measured is None else row.measured for row in rows],
        {kind: [getattr(row, kind) for row in rows] for kind in BOUND_KINDS},
        rounding=[row.rounding + (row.reference_bound or 0.0) for row in rows],
        floor=max(row.reference_bound or 0.0 for row in rows),
        gain=rows[0].gain,
        ax=figure.subplots(),
    )
    return figure


def bound_table(rows: Sequence[BoundRow]) -> Table:
    """Put the rows into a table."""
    header = ["sweeps K", "products", "measured", "sharp", "safe", "paper", "paper proved", "series, as many products"]
    cells = [
        [
            f"{row.n_iter:,}",
            f"{row.n_matvecs:,}",
            "–" if row.measured is None else format_measured(row.measured, row.reference_bound or 0.0),
            format_bound(row.sharp),
            format_bound(row.safe),
            f"{row.paper:.1e}",
            "yes" if row.paper_valid else "no",
            "–" if row.series is None else format_bound(row.series),
        ]
        for row in rows
    ]
    return Table(header, cells, n_text=0)


def kappa_text(L: Laplacian, zoom: float) -> str:
    """Return the paper's κ; one below 1 never reads as 1."""
    gap = kappa_gap(L, zoom)
    return "1 within rounding" if gap == 0 else format_rate(bounds.kappa(L, zoom), gap=gap)


def gain_text(rows: Sequence[BoundRow]) -> str:
    """Return a sentence on which bounds say something: those below the gain."""
    gain = rows[0].gain
    counts = {kind: sum(getattr(row, kind) < gain for row in rows) for kind in ("sharp", "safe", "paper")}
    below = ", ".join(f"{kind} in {count}" for kind, count in counts.items())
    which = f"of {len(rows)} rows, {below}" if any(counts.values()) else "none in any row"
    return (
        f"The gain sup|g| of the filter is {gain:.4g}. A bound above it is empty, as the signal 0 is never off by "
        f"more. Bounds below it: {which}."
    )


def needs_text(needed: Needs) -> str:
    """Return in words the sweeps, products and zooms that keep an error."""
    names = {"sharp": needed.sharp, "safe": needed.safe, "paper": needed.paper}
    parts = [f"{'no known number' if K is None else f'{K:,}'} by the {kind} bound" for kind, K in names.items()]
    sweeps = f"To keep an error of {format_tol(needed.atol)}, sweeps per power: {', '.join(parts)}."
    degree = (
        "A Chebyshev series would have millions of terms."
        if needed.series_degree is None
        else f"A Chebyshev series takes {counted(needed.series_degree, 'product')} for all powers."
    )
    zoom = needed.affordable_zoom
    if zoom is None:
        served = "no zoom is"
    else:  # larger ones are not proved
        served = "every zoom is" if needed.every_zoom else f"zooms up to {format_at_least(zoom, 3)} are"
    return f"{sweeps} {degree} With {counted(needed.n_iter, 'sweep')} {served} proved to keep it."


def bounds_section(
    L: Laplacian, polynomial: CayleyPolynomial, signal: FloatArray, sweeps: Sequence[int], n_iter: int
) -> tuple[Section, dict[str, Any]]:
    """Return the section on the Jacobi scheme: proved bounds, measured errors, and the sweeps that keep an error.

    Rows are those of ``sweeps``; looked for is the zoom that ``n_iter`` of them can serve.
    """
    rows = bound_rows(L, polynomial, sweeps, signal)
    needed = needs(L, polynomial, 1e-6, n_iter)
    kappa = kappa_text(L, polynomial.zoom)
    text = (
        "The paper applies a Cayley filter by K Jacobi sweeps per power. For this filter and zoom "
        f"κ {'is' if kappa[-1].isalpha() else '='} {kappa}. Errors are ‖Gf − y‖/‖f‖, measured on one signal against a "
        "reference whose own error is certified; what is below that error reads “below”. “Paper” is Proposition 1 as "
        "printed, which is not always true; “safe” is what its proof proves; “sharp” holds on every graph and needs no "
        "√n. All bounds are of exact arithmetic."
    )
    picture = Picture.from_figure(
        "bounds",
        draw_bounds(rows),
        "Measured errors as dots below curves of the bounds, over the number of sweeps; a line at the gain.",
        "Error of the Jacobi scheme and bounds of it, over the number of sweeps. Bounds above the line at the gain are "
        "empty; triangles at the upper edge stand for values off the scale.",
    )
    within = sum(
        row.measured is not None and row.measured <= row.sharp + row.rounding + (row.reference_bound or 0.0)
        for row in rows
    )
    closing = (
        f"The measured error is within the sharp bound, rounding and the error of the reference added, in {within} of "
        f"{len(rows)} rows. {gain_text(rows)}"
    )
    section = Section("Error of Jacobi sweeps", [text], [picture], bound_table(rows), [closing, needs_text(needed)])
    numbers = {
        "kappa": bounds.kappa(L, polynomial.zoom),
        "one_minus_kappa": kappa_gap(L, polynomial.zoom),
        "rows": [asdict(row) for row in rows],
    }
    return section, {"bounds": numbers, "needs": asdict(needed)}
