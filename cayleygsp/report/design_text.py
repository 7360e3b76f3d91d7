"""A filter designed for a graph, as a table and in words."""

from __future__ import annotations

from collections.abc import Mapping

from cayleygsp._format import format_at_most
from cayleygsp._html import Table
from cayleygsp.design import Fit


def fit_table(fits: Mapping[str, Fit]) -> Table:
    """Put orders, parameters and residuals of fits into a table."""
    first = next(iter(fits.values()))
    rms = "distance, rms (estimated)" if first.rms_is_estimated else "distance, rms"
    header = [
        "polynomial",
        "order",
        "zoom",
        "parameters",
        rms,
        "distance, at most",
        "response, at most",
    ]
    rows = [
        [
            name,
            str(fit.polynomial.order),
            "–" if fit.zoom is None else f"{fit.zoom:.4g}",
            str(fit.n_parameters),
            f"{fit.residual_rms:.2g}",
            format_at_most(fit.residual_max, 2),
            format_at_most(fit.peak, 3),
        ]
        for name, fit in fits.items()
    ]
    return Table(header, rows)


def ratio_text(value: float) -> str:
    """Return a ratio in words."""
    return f"{value:.2g} times" if value < 1e6 else "more than a million times"
