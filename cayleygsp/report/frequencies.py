"""The frequencies of a graph, known or estimated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp.density import SpectralDensity, spectral_density
from cayleygsp.design import Weight
from cayleygsp.laplacians import Laplacian
from cayleygsp.report.facts import DENSE_VERTICES


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
        How many are zero: one for each component.
    """

    density: SpectralDensity
    eigenvalues: FloatArray | None
    n_vertices: int
    n_zero: int

    @property
    def weight(self) -> Weight:
        """What fits for this graph weigh by."""
        return self.density if self.eigenvalues is None else self.eigenvalues

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
        found = float(self.at_shares(zeros + share * (1 - zeros)))
        # estimates of the share of zeros are not sharp
        return max(found, 1e-6 * self.density.lmax)

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
    >>> found = find_frequencies(cg.laplacian(cg.gallery.grid(60)), rng=0)
    >>> found.eigenvalues is None, round(found.at_positive_share(0.5), 1)
    (True, 4.0)
    """
    n_zero = L.n_components
    if L.has_eigenbasis or L.n_vertices <= DENSE_VERTICES:
        lam = np.clip(L.eigenvalues, 0.0, L.lmax)
        return Frequencies(spectral_density(L, method="exact"), lam, L.n_vertices, n_zero)
    # the larger the graph, the less probes differ
    n_probes = 16 if L.n_vertices < 100_000 else 4
    return Frequencies(spectral_density(L, n_probes=n_probes, method="kpm", rng=rng), None, L.n_vertices, n_zero)
