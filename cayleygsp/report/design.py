"""The section on a filter designed for the graph."""

from __future__ import annotations

import math
from collections.abc import Mapping

from cayleygsp._html import Picture, Section
from cayleygsp.design import Fit, Target
from cayleygsp.report.design_figure import draw_fits
from cayleygsp.report.design_text import fit_table, ratio_text
from cayleygsp.report.frequencies import Frequencies


def design_section(target: Target, fits: Mapping[str, Fit], frequencies: Frequencies) -> Section:
    """Show a Cayley and a Chebyshev fit with as many parameters."""
    cayley, chebyshev = fits["Cayley"], fits["Chebyshev"]
    text = (
        f"A {target.name} filter{_at_features(target)}, fitted by {cayley.norm.replace('-', ' ')} over the frequencies "
        f"of the graph: by a Cayley polynomial, whose zoom h = {cayley.zoom:.3g} was searched for, and by a Chebyshev "
        f"polynomial with as many parameters. The largest distance is that {cayley.where}"
        + (
            ": no eigenvalues were computed, and what is said holds wherever they are."
            if cayley.over == "interval"
            else "."
        )
    )
    picture = Picture.from_figure(
        "design",
        draw_fits(target, fits, frequencies.density.lmax, frequencies),
        "A step over the logarithm of frequency, and two curves near it.",
        "Target and fits. In the grey band any value will do; marks at the foot are frequencies of the graph.",
    )
    ratio = chebyshev.residual_rms / cayley.residual_rms if cayley.residual_rms else math.inf
    how = ", estimated from the density of the frequencies," if cayley.rms_is_estimated else ""
    closing = (
        f"The root mean square distance from the target{how} is {ratio_text(ratio)} for Chebyshev what it is for "
        "Cayley. "
        + "".join(
            f"The largest response of the {name} polynomial is {fit.peak:.2g}, far above the target's "
            f"{fit.target_peak:.2g}. "
            for name, fit in fits.items()
            if fit.is_far_above
        )
        + "Parameters are not cost: what each takes to apply is another matter."
    )
    return Section("A filter designed for it", [text], [picture], fit_table(fits), [closing])


def _at_features(target: Target) -> str:
    places = [f"{place:.3g}" for place in target.features]
    return f" that changes between λ = {places[0]} and {places[-1]}" if len(places) > 1 else f" at λ = {places[0]}"
