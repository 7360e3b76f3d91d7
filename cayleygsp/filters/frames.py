r"""Banks as frames: proved frame bounds, and the signal back from its coefficients.

The analysis of a bank followed by its synthesis is :math:`S = \sum_i g_i(\Delta)^2`, a filter with the response
:math:`s = \sum_i g_i^2`. If :math:`A \le s \le B` on the spectrum, with A > 0, then S can be inverted, and
:math:`\|x - \hat x\| \le \|S\hat x - b\| / A`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.base import ProductResponse, Response, SumResponse
from cayleygsp.responses.series import ChebyshevSeries, chebyshev_nodes

# Points per degree at which a series is looked at for its extremes: between them it is at most 1/cos(π/64) times as far
# from the middle of its range, which is 0.12 percent.
_POINTS_PER_DEGREE = 32


def frame_response(responses: Sequence[Response]) -> SumResponse:
    """Return the response of the frame operator, the sum of the squares.

    Parameters
    ----------
    responses : sequence of Response
        Those of the bank.
    """
    return SumResponse([ProductResponse([g, g]) for g in responses], [1.0] * len(responses))


def frame_bounds(L: Laplacian, responses: Sequence[Response], tol: float) -> tuple[float, float]:
    """Return numbers A and B between which the sum of the squared responses lies on the whole spectral interval.

    Parameters
    ----------
    L : Laplacian
        Gives the interval.
    responses : sequence of Response
        Those of the bank.
    tol : float
        How sharp the bounds are, relative to the largest sum.
    """
    s = frame_response(responses)
    points = chebyshev_nodes(256, L.lmax_bound, L.lmin)
    scale = max(float(np.abs(s(np.maximum(points, 0.0))).max()), 1e-300)
    low, high = series_range(s.series(L.lmax_bound, tol * scale, lmin=L.lmin))
    return max(low, 0.0), high


def series_range(series: ChebyshevSeries) -> tuple[float, float]:
    r"""Return an interval that holds all that the response of a series is on its interval.

    A polynomial of degree K is nowhere larger than :math:`1/\cos(\pi K/2N)` times its maximum on N Chebyshev points
    (Ehlich and Zeller, 1964); this is used about the middle of the values that are seen.
    """
    if series.length == 0 or series.degree == 0:
        return float(series.coeffs[0]) - series.error, float(series.coeffs[0]) + series.error
    values = series(chebyshev_nodes(_POINTS_PER_DEGREE * series.degree, series.lmax, series.lmin))
    middle = (float(values.max()) + float(values.min())) / 2
    rounding = 2**-50 * (series.degree + 4) * series.size
    reach = (float(np.abs(values - middle).max()) + rounding) / np.cos(np.pi / (2 * _POINTS_PER_DEGREE))
    return middle - reach - rounding - series.error, middle + reach + rounding + series.error
