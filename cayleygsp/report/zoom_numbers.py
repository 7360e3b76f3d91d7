"""What zooms do to the lowest frequencies, in numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cayleygsp import zoom
from cayleygsp._validation import check_integer
from cayleygsp.report.frequencies import Frequencies, Lowest, certified_text

ZOOM_SHARES = (0.5, 0.1, 0.01)


@dataclass(frozen=True)
class ZoomRow:
    """What one zoom does to the lowest frequencies.

    Attributes
    ----------
    zoom : float
        h.
    n_lowest : int
        How many frequencies count as lowest.
    frequency : float
        The largest of them.
    certificate : {"exact", "at most", "about"}
        What is known of it: computed to rounding, proved not to be larger, or estimated.
    circle_share : float
        Share of the half circle from zero up to it, with the same certificate.
    smallest_gap : float or None
        Share of the half circle between the two of them that are nearest to each other: many may be squeezed together
        in a large share. None where they are not known.
    resolution : float
        dθ/dλ at the largest of them, in radians per unit of frequency.
    best_resolution : float
        What the best zoom for that frequency gives.
    gap_order : int or None
        Order that tells the largest of them from the next frequency; None where frequencies are not known or equal.
    """

    zoom: float
    n_lowest: int
    frequency: float
    certificate: Literal["exact", "at most", "about"]
    circle_share: float
    smallest_gap: float | None
    resolution: float
    best_resolution: float
    gap_order: int | None

    @property
    def frequency_text(self) -> str:
        """The largest frequency with what is known of it; an upper bound is rounded up."""
        return certified_text(self.frequency, self.certificate)


def suggested_zooms(frequencies: Frequencies) -> list[float]:
    """Return zooms that give half of the half circle to the lowest 50, 10 and 1 % of the positive frequencies.

    Parameters
    ----------
    frequencies : Frequencies
        Of a graph with edges.
    """
    zooms = [zoom.best_zoom(0.0, frequencies.at_positive_share(share)) for share in ZOOM_SHARES]
    # on small graphs, and at eigenvalues of high multiplicity, they may be the same but for rounding
    return list({f"{h:.9g}": h for h in zooms}.values())


def zoom_rows(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> list[ZoomRow]:
    """Return what each zoom does to the lowest frequencies.

    Parameters
    ----------
    frequencies : Frequencies
        Of the graph.
    zooms : sequence of float
        Each > 0.
    n_lowest : int
        From 1 to the number of vertices.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.report.frequencies import find_frequencies
    >>> from cayleygsp.report.zoom_numbers import zoom_rows
    >>> frequencies = find_frequencies(cg.laplacian(cg.gallery.communities(rng=0)))
    >>> [round(row.circle_share, 2) for row in zoom_rows(frequencies, [0.1, 1.0, 10.0], n_lowest=15)]
    [0.08, 0.59, 0.95]
    """
    m = check_integer(n_lowest, "n_lowest", at_least=1)
    if m > frequencies.n_vertices:
        raise ValueError(f"`n_lowest` must be at most the number of vertices {frequencies.n_vertices}, got {m}")
    lowest = frequencies.lowest(m)
    lam = lowest.last
    rows = []
    for h in zooms:
        share = float(zoom.angles([lam], h)[0] / np.pi + 1)
        rows.append(
            ZoomRow(
                zoom=float(h),
                n_lowest=m,
                frequency=lam,
                certificate=lowest.certificate,
                circle_share=share,
                smallest_gap=_smallest_gap(lowest, h),
                resolution=float(zoom.resolution(lam, h)),
                best_resolution=1 / lam if lam > 0 else math.inf,
                gap_order=_gap_order(frequencies, m, h),
            )
        )
    return rows


def _smallest_gap(lowest: Lowest, h: float) -> float | None:
    if lowest.values is None or lowest.values.size < 2:
        return None
    return float(np.diff(zoom.angles(lowest.values, h)).min() / np.pi)


def _gap_order(frequencies: Frequencies, m: int, h: float) -> int | None:
    lam = frequencies.eigenvalues
    if lam is None or m == lam.size or lam[m] - lam[m - 1] <= 1e-10 * lam[-1]:
        return None
    return zoom.separation(float(lam[m - 1]), float(lam[m]), h, order=1).least_order
