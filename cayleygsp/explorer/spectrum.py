"""The frequencies that a page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg

from cayleygsp._typing import FloatArray
from cayleygsp.laplacians import Laplacian
from cayleygsp.lowest import lowest_frequencies
from cayleygsp.report.frequencies import find_frequencies

# All frequencies of graphs up to this size are computed, in time that grows with its cube: some seconds.
MOST_DENSE = 3000

# How many of the lowest frequencies stand out on the page; the first is zero.
_MARKED = 15

# Of others, so many of the lowest, and points for equal shares of the rest.
_LOWEST, _POINTS = 40, 960


@dataclass(frozen=True, eq=False)
class ShownFrequencies:
    """Frequencies to draw.

    Attributes
    ----------
    values : numpy.ndarray
        Ascending, not negative.
    certificate : {"exact", "estimated"}
        Whether they are all eigenvalues, or the lowest ones and then one for each of equal shares of the others,
        estimated from the spectral density.
    start_zoom : float
        The zoom that gives half of the half circle to the lowest 15 frequencies, or to half of them if they are few.
    """

    values: FloatArray
    certificate: Literal["exact", "estimated"]
    start_zoom: float


def shown_frequencies(L: Laplacian, rng: np.random.Generator | int | None = None) -> ShownFrequencies:
    """Return the eigenvalues of a small graph, an estimate of those of another.

    Parameters
    ----------
    L : Laplacian
        The graph.
    rng : numpy.random.Generator or int, optional
        For the probes of the estimate.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.explorer.spectrum import shown_frequencies
    >>> shown_frequencies(cg.laplacian(cg.gallery.ring(8))).values.round(2)
    array([0.  , 0.59, 0.59, 2.  , 2.  , 3.41, 3.41, 4.  ])
    """
    if L.has_eigenbasis or L.n_vertices <= MOST_DENSE:
        # eigenvalues alone take a fraction of the time of the basis
        lam = L.eigenvalues if L.has_eigenbasis else linalg.eigvalsh(L.matrix.toarray(), overwrite_a=True)
        lam = np.maximum(lam, 0.0)
    else:
        frequencies = find_frequencies(L, rng)
        lowest = lowest_frequencies(L, _LOWEST, rng).values
        shares = (_LOWEST + (np.arange(_POINTS) + 0.5) * (L.n_vertices - _LOWEST) / _POINTS) / L.n_vertices
        lam = np.append(lowest, np.maximum(frequencies.at_shares(shares), lowest[-1]))
    return ShownFrequencies(lam, "exact" if lam.size == L.n_vertices else "estimated", _start_zoom(lam, L.lmax))


def _start_zoom(lam: FloatArray, lmax: float) -> float:
    positive = lam[lam > 1e-9 * lmax]
    return 1 / float(positive[min(_MARKED - 2, positive.size // 2)]) if positive.size else 1.0
