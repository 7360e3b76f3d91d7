"""The section on where the frequencies lie."""

from __future__ import annotations

from matplotlib.figure import Figure

from cayleygsp import plotting
from cayleygsp._html import Picture, Section, Table
from cayleygsp.report.figures import WIDTH
from cayleygsp.report.frequencies import Frequencies


def density_section(frequencies: Frequencies) -> Section:
    """Return how many frequencies lie where."""
    density = frequencies.density
    how = (
        "computed by an eigendecomposition"
        if density.exact
        else f"not computed: their density is estimated by {density.probe_moments.shape[0]} random probes and "
        f"{density.n_moments} moments"
    )
    shares = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
    upper = frequencies.at_shares(shares)
    errors = density.standard_error(upper)
    zeros = "once" if frequencies.n_zero == 1 else f"{frequencies.n_zero:,} times, once for each component"
    n = frequencies.n_vertices
    text = f"The {'frequency was' if n == 1 else f'{n:,} frequencies were'} {how}. Zero is among them {zeros}."
    rows = [
        [f"{100 * share:g} %", f"{lam:.4g}", f"{lam / density.lmax:.2g}", "0" if density.exact else f"{error:.1e}"]
        for share, lam, error in zip(shares, upper, errors, strict=True)
    ]
    header = [
        "share of frequencies",
        "up to λ" if density.exact else "up to about λ",
        "λ over the bound",
        "standard error of the share",
    ]
    return Section("Where its frequencies lie", [text], [_density_picture(frequencies)], Table(header, rows))


def _density_picture(frequencies: Frequencies) -> Picture:
    return Picture.from_figure(
        "density",
        draw_density(frequencies),
        "A curve over frequency: how many eigenvalues there are per unit.",
        "Share of the frequencies per unit of frequency, smoothed; at both ends the curve is cut off.",
    )


def draw_density(frequencies: Frequencies) -> Figure:
    """Draw the density, and a histogram of the frequencies where they are known."""
    figure = Figure(figsize=(WIDTH, 3.5), layout="constrained")
    plotting.density(frequencies.density, eigenvalues=frequencies.eigenvalues, ax=figure.subplots())
    return figure
