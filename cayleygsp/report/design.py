"""The section on a filter designed for the graph."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cayleygsp._format import format_at_most
from cayleygsp._html import Picture, Section, Table, new_figure
from cayleygsp._typing import Kernel
from cayleygsp.design import Fit, LowPass, fit_cayley, fit_chebyshev
from cayleygsp.design.problem import Norm, Weight
from cayleygsp.design.target import response_name
from cayleygsp.report.frequencies import Frequencies

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The share of the positive frequencies that "low" means in a report.
LOW_SHARE = 0.1


def low_pass(frequencies: Frequencies) -> LowPass:
    """Return the target that passes the lowest tenth of the positive frequencies; half the cutoff is transition."""
    cutoff = frequencies.at_positive_share(LOW_SHARE)
    return LowPass(cutoff, transition=cutoff / 2)


def compare_fits(
    target: Kernel | str,
    order: int,
    lmax: float,
    weight: Weight = None,
    *,
    zoom: float | Literal["auto"] = "auto",
    norm: Norm = "least-squares",
) -> dict[str, Fit]:
    """Fit a Cayley polynomial of order r, and the Chebyshev polynomial with as many parameters, of order 2r + 1."""
    cayley = fit_cayley(target, order, lmax, zoom, weight, norm=norm)
    chebyshev = fit_chebyshev(target, 2 * order + 1, lmax, weight, norm=norm)
    return {"Cayley": cayley, "Chebyshev": chebyshev}


def fit_numbers(fit: Fit) -> dict[str, Any]:
    """Return a fit as numbers."""
    c = fit.polynomial.coeffs
    return {
        "order": fit.polynomial.order,
        "zoom": fit.zoom,
        "n_parameters": fit.n_parameters,
        "residual_rms": fit.residual_rms,
        "rms_is_estimated": fit.rms_is_estimated,
        "residual_max": fit.residual_max,
        "residual_max_over": fit.over,
        "residual_max_where": fit.where,
        "certificate": fit.certificate,
        "peak": fit.peak,
        "coeff_norm": fit.coeff_norm,
        "coeffs_real": np.real(c).tolist(),
        "coeffs_imag": np.imag(c).tolist(),
    }


def fit_table(fits: Mapping[str, Fit]) -> Table:
    """Put orders, parameters and residuals of fits into a table."""
    first = next(iter(fits.values()))
    rms = "distance, rms (estimated)" if first.rms_is_estimated else "distance, rms"
    header = ["polynomial", "order", "zoom", "parameters", rms, "distance, at most", "response, at most"]
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


def draw_fits(fits: Mapping[str, Fit], frequencies: Frequencies | None) -> Figure:
    """Draw a target and the responses fitted to it over the logarithm of frequency."""
    from cayleygsp import plotting

    figure, first = new_figure(3.2), next(iter(fits.values()))
    points = None if frequencies is None else frequencies.points()
    named = {f"{name}, order {fit.polynomial.order}": fit for name, fit in fits.items()}
    plotting.fit(first.target, named, first.lmax, eigenvalues=points, log=True, ax=figure.subplots())
    return figure


def design_section(fits: Mapping[str, Fit], frequencies: Frequencies) -> tuple[Section, dict[str, Any]]:
    """Return the section on a Cayley and a Chebyshev fit of a named target, and its numbers."""
    cayley, chebyshev = fits["Cayley"], fits["Chebyshev"]
    kind, places = response_name(cayley.target.response), [f"{place:.3g}" for place in cayley.target.features]
    where = f"that changes between λ = {places[0]} and {places[-1]}" if len(places) > 1 else f"at λ = {places[0]}"
    rests = ": no eigenvalues were computed, and what is said holds wherever they are."
    text = (
        f"A {kind} filter {where}, fitted by {cayley.norm.replace('-', ' ')} over the frequencies "
        f"of the graph: by a Cayley polynomial, whose zoom h = {cayley.zoom:.3g} was searched for, and by a Chebyshev "
        f"polynomial with as many parameters. The largest distance is that {cayley.where}"
        f"{rests if cayley.over == 'interval' else '.'}"
    )
    picture = Picture.from_figure(
        "design",
        draw_fits(fits, frequencies),
        "A step over the logarithm of frequency, and two curves near it.",
        "Target and fits. In the grey band any value will do; marks at the foot are frequencies of the graph.",
    )
    ratio = chebyshev.residual_rms / cayley.residual_rms if cayley.residual_rms else math.inf
    times = f"{ratio:.2g} times" if ratio < 1e6 else "more than a million times"
    how = ", estimated from the density of the frequencies," if cayley.rms_is_estimated else ""
    closing = [
        f"The root mean square distance from the target{how} is {times} as large for Chebyshev as for Cayley.",
        *(
            f"The largest response of the {name} polynomial is {fit.peak:.2g}, far above the target's "
            f"{fit.target_peak:.2g}."
            for name, fit in fits.items()
            if fit.is_far_above
        ),
        "The number of parameters is not the cost: what it takes to apply each of them is another question.",
    ]
    section = Section("A filter designed for it", [text], [picture], fit_table(fits), [" ".join(closing)])
    return section, {"design": {name: fit_numbers(fit) for name, fit in fits.items()}}
