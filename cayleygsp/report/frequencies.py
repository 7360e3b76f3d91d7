"""The frequencies of a graph, known or estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cayleygsp._format import format_at_most
from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp.density import SpectralDensity, spectral_density
from cayleygsp.design import Weight
from cayleygsp.laplacians import Laplacian
from cayleygsp.lowest import lowest_frequencies
from cayleygsp.report.facts import DENSE_VERTICES

# The lowest frequencies of graphs up to this size are computed, at most so many; of others they are estimated.
LOWEST_VERTICES, LOWEST_COUNT = 50_000, 100


@dataclass(frozen=True, eq=False)
class Lowest:
    """The lowest frequencies of a graph, or the last of them.

    Attributes
    ----------
    last : float
        The m-th lowest frequency.
    values : numpy.ndarray, shape (m,), or None
        All of them, where they were computed.
    certificate : {"exact", "at most", "about"}
        Whether the last is computed to rounding, proved not to be larger, or estimated from the density.
    """

    last: float
    values: FloatArray | None
    certificate: Literal["exact", "at most", "about"]

    @property
    def text(self) -> str:
        """The last frequency in words."""
        return certified_text(self.last, self.certificate)


def certified_text(value: float, certificate: Literal["exact", "at most", "about"]) -> str:
    """Return a number with four digits and the word for what is known of it; an upper bound is rounded up.

    Parameters
    ----------
    value : float
        Not negative.
    certificate : {"exact", "at most", "about"}
        What is known of it.

    Examples
    --------
    >>> from cayleygsp.report.frequencies import certified_text
    >>> certified_text(0.0150512, "at most"), certified_text(0.0150512, "about"), certified_text(2.0, "exact")
    ('at most 0.01506', 'about 0.01505', '2')
    """
    if certificate == "at most":
        return f"at most {format_at_most(value, 4)}"
    return f"{value:.4g}" if certificate == "exact" else f"about {value:.4g}"


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The spectrum of a graph as far as it is known.

    Attributes
    ----------
    density : SpectralDensity
        Where the frequencies lie.
    eigenvalues : numpy.ndarray, shape (n,), or None
        All of them, ascending, where they were computed.
    n_vertices : int
        How many there are.
    n_zero : int
        How many are zero: one for each component. Counted, not estimated.
    laplacian : Laplacian
        Whose frequencies they are.
    """

    density: SpectralDensity
    eigenvalues: FloatArray | None
    n_vertices: int
    n_zero: int
    laplacian: Laplacian

    @property
    def weight(self) -> Weight:
        """What fits for this graph weigh by."""
        return self.density

    def lowest(self, n_lowest: int) -> Lowest:
        """Return the lowest frequencies, computed where that is cheap and else estimated.

        Parameters
        ----------
        n_lowest : int
            From 1 to the number of vertices.
        """
        if self.eigenvalues is not None:
            values = self.eigenvalues[:n_lowest]
            return Lowest(float(values[-1]), values, "exact")
        if n_lowest <= self.n_zero:
            return Lowest(0.0, np.zeros(n_lowest), "exact")
        if self.n_vertices <= LOWEST_VERTICES and n_lowest <= LOWEST_COUNT:
            computed = lowest_frequencies(self.laplacian, n_lowest, rng=0)
            return Lowest(float(computed.values[-1]), computed.values, computed.certificate)
        return Lowest(float(self.at_shares(n_lowest / self.n_vertices)), None, "about")

    def at_shares(self, shares: ArrayLike) -> FloatArray:
        """Return the frequencies that the given shares of all frequencies do not exceed; estimated for large graphs.

        Parameters
        ----------
        shares : array_like
            Numbers above 0 and up to 1.
        """
        q = np.asarray(shares, dtype=np.float64)
        if self.eigenvalues is not None:
            # 0.1 · 30 is 3 but for rounding
            index = np.ceil(q * self.n_vertices * (1 - 1e-12)).astype(np.int64) - 1
            return self.eigenvalues[np.clip(index, 0, self.n_vertices - 1)]
        # the density is the finer the nearer to zero, and so is this grid
        grid = self.density.lmax * np.sin(np.linspace(0, np.pi / 2, 4001)) ** 2
        return np.interp(q, np.maximum.accumulate(self.density.cdf(grid)), grid)

    def at_positive_share(self, share: float) -> float:
        """Return the frequency that a share of the positive frequencies does not exceed.

        Parameters
        ----------
        share : float
            Above 0 and up to 1.
        """
        zeros = self.n_zero / self.n_vertices
        # a cutoff is positive, and the estimate may not be
        return max(float(self.at_shares(zeros + share * (1 - zeros))), 1e-6 * self.density.lmax)

    def points(self, n_points: int = 100) -> FloatArray:
        """Return frequencies to draw: all that are known, or one for each of ``n_points`` equal shares.

        Parameters
        ----------
        n_points : int
            For an estimated spectrum.
        """
        if self.eigenvalues is not None:
            return self.eigenvalues
        return self.at_shares((np.arange(n_points) + 0.5) / n_points)


def find_frequencies(L: Laplacian, rng: np.random.Generator | int | None = None) -> Frequencies:
    """Return the eigenvalues of a small graph, an estimate of their density for others.

    Parameters
    ----------
    L : Laplacian
        The graph.
    rng : numpy.random.Generator or int, optional
        For the probes of the estimate.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.report.frequencies import find_frequencies
    >>> frequencies = find_frequencies(cg.laplacian(cg.gallery.grid(60)), rng=0)
    >>> frequencies.eigenvalues is None, frequencies.n_zero, round(frequencies.at_positive_share(0.5))
    (True, 1, 4)
    """
    if L.has_eigenbasis or L.n_vertices <= DENSE_VERTICES:
        density = spectral_density(L, method="exact")
        return Frequencies(density, density.nodes, L.n_vertices, density.n_zero, L)
    # the larger the graph, the less probes differ
    n_probes = 16 if L.n_vertices < 100_000 else 4
    density = spectral_density(L, n_probes=n_probes, method="kpm", rng=rng)
    return Frequencies(density, None, L.n_vertices, density.n_zero, L)
