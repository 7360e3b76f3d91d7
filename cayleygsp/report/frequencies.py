"""The section on where the frequencies of a graph lie, known or estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from cayleygsp._format import format_at_most
from cayleygsp._html import Picture, Section, Table, new_figure
from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp.density import SpectralDensity, lowest_frequencies, spectral_density
from cayleygsp.laplacians import Laplacian

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Graphs up to this size are decomposed, larger ones are not.
DENSE_VERTICES = 1000

# The lowest frequencies of graphs up to this size are computed, at most so many; of others they are estimated.
LOWEST_VERTICES, LOWEST_COUNT = 50_000, 100

# Shares of the frequencies that zooms are suggested for.
ZOOM_SHARES = (0.5, 0.1, 0.01)

FrequencyCertificate: TypeAlias = Literal["exact", "at most", "about"]


@dataclass(frozen=True, eq=False)
class Lowest:
    """The lowest frequencies of a graph, or the last of them.

    The certificate says whether the last is computed to rounding, proved not to be larger, or estimated from the
    density, which gives no others.
    """

    last: float
    values: FloatArray | None
    certificate: FrequencyCertificate


def certified_text(value: float, certificate: FrequencyCertificate) -> str:
    """Return a number with four digits and the word for what is known of it; an upper bound is rounded up."""
    if certificate == "at most":
        return f"at most {format_at_most(value, 4)}"
    return f"{value:.4g}" if certificate == "exact" else f"about {value:.4g}"


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The spectrum of a graph as far as it is known: the density, and all eigenvalues where they were computed."""

    laplacian: Laplacian
    density: SpectralDensity
    eigenvalues: FloatArray | None

    @property
    def n_vertices(self) -> int:
        """How many frequencies there are."""
        return self.laplacian.n_vertices

    @property
    def n_zero(self) -> int:
        """How many are zero: one for each component. Counted, not estimated."""
        return self.density.n_zero

    def lowest(self, n_lowest: int) -> Lowest:
        """Return the lowest frequencies, at least one, computed where that is cheap and else estimated."""
        if self.eigenvalues is not None:
            values = self.eigenvalues[:n_lowest]
            return Lowest(float(values[-1]), values, "exact")
        if n_lowest <= self.n_zero:
            return Lowest(0.0, np.zeros(n_lowest), "exact")
        if self.n_vertices <= LOWEST_VERTICES and n_lowest <= LOWEST_COUNT:
            values, _, certificate = lowest_frequencies(self.laplacian, n_lowest, rng=0)
            return Lowest(float(values[-1]), values, certificate)
        return Lowest(float(self.at_shares(n_lowest / self.n_vertices)), None, "about")

    def at_shares(self, shares: ArrayLike) -> FloatArray:
        """Return the frequencies that the given shares of all frequencies do not exceed; estimated for large graphs."""
        q = np.asarray(shares, dtype=np.float64)
        if self.eigenvalues is not None:
            # 0.1 · 30 is 3 but for rounding
            index = np.ceil(q * self.n_vertices * (1 - 1e-12)).astype(np.int64) - 1
            return self.eigenvalues[np.clip(index, 0, self.n_vertices - 1)]
        # the density is the finer the nearer to zero, and so is this grid
        grid = self.density.lmax * np.sin(np.linspace(0, np.pi / 2, 4001)) ** 2
        return np.interp(q, np.maximum.accumulate(self.density.cdf(grid)), grid)

    def at_positive_share(self, share: float) -> float:
        """Return the frequency that a share of the positive frequencies does not exceed."""
        zeros = self.n_zero / self.n_vertices
        # a cutoff is positive, and the estimate may not be
        return max(float(self.at_shares(zeros + share * (1 - zeros))), 1e-6 * self.density.lmax)

    def points(self, n_points: int = 100) -> FloatArray:
        """Return frequencies to draw: all that are known, or one for each of ``n_points`` equal shares."""
        if self.eigenvalues is not None:
            return self.eigenvalues
        return self.at_shares((np.arange(n_points) + 0.5) / n_points)


def find_frequencies(L: Laplacian, rng: np.random.Generator | int | None = None) -> Frequencies:
    """Return the eigenvalues of a small graph, an estimate of their density for others."""
    if L.has_eigenbasis or L.n_vertices <= DENSE_VERTICES:
        density = spectral_density(L, method="exact")
        return Frequencies(L, density, density.nodes)
    # the larger the graph, the less probes differ
    n_probes = 16 if L.n_vertices < 100_000 else 4
    return Frequencies(L, spectral_density(L, n_probes=n_probes, method="kpm", rng=rng), None)


def draw_density(frequencies: Frequencies) -> Figure:
    """Draw the density, and a histogram of the frequencies where they are known."""
    from cayleygsp import plotting

    figure = new_figure(3.5)
    plotting.density(frequencies.density, eigenvalues=frequencies.eigenvalues, ax=figure.subplots())
    return figure


def density_section(frequencies: Frequencies) -> tuple[Section, dict[str, Any]]:
    """Return the section on how many frequencies lie where, and its numbers."""
    density, n = frequencies.density, frequencies.n_vertices
    how = (
        "computed by an eigendecomposition"
        if density.exact
        else f"not computed: their density is estimated by {density.probe_moments.shape[0]} random probes and "
        f"{density.n_moments} moments"
    )
    zeros = "once" if frequencies.n_zero == 1 else f"{frequencies.n_zero:,} times, once for each component"
    text = f"The {'frequency was' if n == 1 else f'{n:,} frequencies were'} {how}. Zero is among them {zeros}."
    picture = Picture.from_figure(
        "density",
        draw_density(frequencies),
        "A curve over frequency: how many eigenvalues there are per unit.",
        "Share of the frequencies per unit of frequency, smoothed; at both ends the curve is cut off.",
    )
    shares = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
    upper = frequencies.at_shares(shares)
    errors = density.standard_error(upper)
    header = [
        "share of frequencies",
        "up to λ" if density.exact else "up to about λ",
        "λ over the bound",
        "standard error of the share",
    ]
    rows = [
        [f"{100 * share:g} %", f"{lam:.4g}", f"{lam / density.lmax:.2g}", "0" if density.exact else f"{error:.1e}"]
        for share, lam, error in zip(shares, upper, errors, strict=True)
    ]
    up_to = frequencies.at_shares(ZOOM_SHARES).tolist()
    numbers = {"exact": density.exact, "shares": list(ZOOM_SHARES), "up_to": up_to}
    return Section("Where its frequencies lie", [text], [picture], Table(header, rows)), {"frequencies": numbers}
