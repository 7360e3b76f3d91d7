r"""Banks as frames: proved frame bounds, and the signal back from its coefficients.

The analysis of a bank followed by its synthesis is :math:`S = \sum_i g_i(\Delta)^2`, a filter with the response
:math:`s = \sum_i g_i^2`. If :math:`A \le s \le B` on the spectrum, with A > 0, then S can be inverted, and
:math:`\|x - \hat x\| \le \|S\hat x - b\| / A`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayleygsp._typing import Array
from cayleygsp.filters.base import GraphFilter
from cayleygsp.filters.info import FilterInfo
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import over
from cayleygsp.methods.conjugate_gradients import block_cg
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
    # known eigenvalues may end before the bound of the spectrum, as the kernels of some banks do
    top = float(L.eigenvalues[-1]) + L.eigenbasis.residual if L.has_eigenbasis else L.lmax_bound
    points = chebyshev_nodes(256, top, L.lmin)
    scale = max(float(np.abs(s(np.maximum(points, 0.0))).max()), 1e-300)
    low, high = series_range(s.series(top, tol * scale, lmin=L.lmin))
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
    reach = float(reach) + rounding + series.error
    return middle - reach, middle + reach


def invert_frame(
    S: GraphFilter, right: Array, info: FilterInfo, coefficients: Array, A: float, tol: float
) -> tuple[Array, FilterInfo]:
    """Solve S x = b by conjugate gradients and bound the error by the residual over A.

    Parameters
    ----------
    S : GraphFilter
        The frame operator, itself with a certified error.
    right : numpy.ndarray, shape (n,) or (n, m)
        The synthesis of the coefficients.
    info : FilterInfo
        What is known of it.
    coefficients : numpy.ndarray
        What it was made of.
    A : float
        Lower frame bound, > 0.
    tol : float
        Error allowed, relative to the norm of the coefficients over the root of A.
    """
    is_complex = right.dtype.kind == "c"
    wide = np.complex128 if is_complex else np.float64
    # real and imaginary parts are signals of their own
    b = np.ascontiguousarray(right.reshape(right.shape[0], -1), dtype=wide).view(np.float64)
    n_signals = b.shape[1] // (1 + is_complex)
    squares = np.abs(coefficients.reshape(right.shape[0], n_signals, -1)) ** 2
    norms = np.repeat(np.sqrt(squares.sum(axis=(0, 2))), 1 + is_complex)
    x, history = block_cg(S.filter, np.copy, b, 0.3 * tol * np.sqrt(A) * norms)
    Sx, applied = S.filter(x, return_info=True)
    # of the residual, of S and of the right-hand side, all over A
    residual = np.linalg.norm(b - Sx, axis=0) + np.asarray(applied.error_bound) * np.linalg.norm(x, axis=0)
    bounds = over(residual, norms).reshape(n_signals, -1).sum(axis=1) / A + np.asarray(info.error_bound) / A
    signals = np.ascontiguousarray(x).view(wide).astype(right.dtype, copy=False).reshape(right.shape)
    gain = 1 / np.sqrt(A)
    return signals, FilterInfo(
        method=S.method,
        error_bound=float(bounds[0]) if right.ndim == 1 else bounds,
        converged=bool((bounds <= tol * gain).all()),
        n_matvecs=(len(history) + 1) * applied.n_matvecs,
        tol=tol,
        gain=gain,
        certificate="proved" if {info.certificate, applied.certificate} == {"proved"} else "sampled",
        reason="conjugate gradients on the frame operator",
        residuals=(history,),
    )
