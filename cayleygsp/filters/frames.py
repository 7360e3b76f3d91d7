r"""Banks as frames: proved frame bounds, and the signal back from its coefficients.

The analysis of a bank followed by its synthesis is :math:`S = \sum_i g_i(\Delta)^2`, a filter with the response
:math:`s = \sum_i g_i^2`. If :math:`A \le s \le B` on the spectrum, with A > 0, then S can be inverted, and
:math:`\|x - \hat x\| \le \|S\hat x - b\| / A`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from cayleygsp._typing import Array, FloatArray
from cayleygsp._validation import check_positive
from cayleygsp.filters.application import FilterInfo
from cayleygsp.filters.base import GraphFilter
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import over, weakest
from cayleygsp.methods.solvers import block_cg
from cayleygsp.responses.base import ProductResponse, Response, SumResponse
from cayleygsp.responses.complement import ComplementResponse

# How much more than the squared responses add up to a tight frame has at least, and has by default.
_LEAST_ROOM = 1e-3
_ROOM = 0.1

# Frame bounds beyond this and below one over it leave no room for squares.
LARGEST_BOUND = 1e100


def frame_response(responses: Sequence[Response]) -> SumResponse:
    """Return the response of the frame operator, the sum of the squares."""
    return SumResponse([ProductResponse([g, g]) for g in responses], [1.0] * len(responses))


def frame_bounds(L: Laplacian, responses: Sequence[Response], *, tol: float) -> tuple[float, float]:
    """Return numbers A and B between which the sum of the squared responses lies on the whole spectral interval.

    They are as sharp as ``tol``, relative to the largest sum.
    """
    s = frame_response(responses)
    if L.has_eigenbasis:  # the kernels of a bank may end where the frequencies do
        top = float(L.eigenvalues[-1]) + L.eigenbasis.residual
    else:  # of samples nothing is known beyond where Lanczos steps see the end of the spectrum
        top = L.lmax_bound if s.certificate == "proved" else min(L.lanczos_upper, L.lmax_bound)
    scale = max(s.gain(L.lmin, top), 1e-300)
    if not scale <= LARGEST_BOUND:
        raise ValueError(f"`responses` must have squares that sum up to at most {LARGEST_BOUND:g}, got {scale:.3g}")
    low, high = s.series(top, tol * scale, lmin=L.lmin).range()
    return max(low, 0.0), high


def complement_of(L: Laplacian, responses: Sequence[Response], bound: float | None) -> ComplementResponse:
    """Return the response that makes a tight frame of a bank: with it the squares add up to ``bound``."""
    top = max(L.lmax, L.lmax_bound)
    s = frame_response(responses)
    upper = s.series(top, 1e-6 * max(s.gain(L.lmin, top), 1e-300), lmin=L.lmin).range()[1]
    least = upper * (1 + _LEAST_ROOM)
    if bound is None:
        bound = upper * (1 + _ROOM)
    elif check_positive(bound, "bound") > LARGEST_BOUND:
        raise ValueError(f"`bound` must be at most {LARGEST_BOUND:g}, got {bound:g}")
    elif bound < least:
        raise ValueError(
            f"`bound` must be at least {least:.6g}, 1.001 times the largest sum of the squared responses, got "
            f"{bound:g}: closer to the sum the complement is not smooth"
        )
    return ComplementResponse(responses, bound)


def invert_tight_frame(
    synthesize: Callable[..., tuple[Array, FilterInfo]], c: Array, bound: float, *, tol: float
) -> tuple[Array, FilterInfo]:
    """Return the synthesis of checked coefficients over the one frame bound, which inverts the analysis.

    The tolerance is relative to the norm of the coefficients over the root of the bound.
    """
    # a synthesis is as large as the root of the bound, which may be beyond the range of single precision
    scaled = _Scaled(c)
    sums, info = synthesize(scaled.blocks, return_info=True)
    gain = 1 / math.sqrt(bound)
    bounds = np.asarray(info.error_bound) / bound + np.finfo(np.float64).eps * gain
    info = replace(info, gain=gain, tol=tol, reason=f"synthesis by a tight frame; {info.reason}")
    return scaled.finish(np.ascontiguousarray(sums / bound).view(np.float64), bounds, info)


def invert_frame(
    S: GraphFilter, synthesize: Callable[..., tuple[Array, FilterInfo]], c: Array, A: float, *, tol: float
) -> tuple[Array, FilterInfo]:
    """Solve S x = b by conjugate gradients, b the synthesis of checked coefficients, and bound the error.

    S is the frame operator, itself with a certified error, and A > 0 the lower frame bound; the tolerance is relative
    to the norm of the coefficients over the root of A.
    """
    scaled = _Scaled(c)
    right, synthesis = synthesize(scaled.blocks, return_info=True)
    # real and imaginary parts are signals of their own
    b = np.ascontiguousarray(right).view(np.float64)
    wide = np.repeat(scaled.norms, scaled.n_parts)
    x, history = block_cg(S.filter, np.copy, b, 0.3 * tol * np.sqrt(A) * wide)
    Sx, applied = S.filter(x, return_info=True)
    # of the residual and of S, over A
    residual = np.linalg.norm(b - Sx, axis=0) + np.asarray(applied.error_bound) * np.linalg.norm(x, axis=0)
    bounds = scaled.sum_of_parts(over(residual / A, wide)) + np.asarray(synthesis.error_bound) / A
    info = FilterInfo(
        method=S.method,
        error_bound=bounds,
        converged=False,
        n_matvecs=(len(history) + 1) * applied.n_matvecs,
        tol=tol,
        gain=1 / math.sqrt(A),
        certificate=weakest([synthesis.certificate, applied.certificate]),
        reason="conjugate gradients on the frame operator",
        residuals=(history,),
    )
    return scaled.finish(x, bounds, info)


class _Scaled:
    """Coefficients in double precision, each signal's at size one, and the way back to the caller's size and type.

    ``blocks``, of shape (n, n_signals, n_filters), are the coefficients times powers of two, ``norms`` theirs for each
    signal; a signal has ``n_parts`` real columns, two if it is complex.
    """

    def __init__(self, c: Array) -> None:
        self._dtype, self._shape = c.dtype, c.shape[:-1]
        self.n_parts = 2 if c.dtype.kind == "c" else 1
        wide = np.ascontiguousarray(c, np.result_type(c.dtype, np.float64))
        parts = wide.view(np.float64).reshape(c.shape[0], -1, c.shape[-1] * self.n_parts)
        peaks = np.abs(parts).max(axis=(0, 2))
        self._scale = np.where(peaks > 0, np.frexp(peaks)[1], 0)
        self.blocks = np.ldexp(parts, -self._scale[:, None]).view(wide.dtype)
        self.norms = np.sqrt((np.abs(self.blocks) ** 2).sum(axis=(0, 2)))

    def finish(self, x: FloatArray, bounds: FloatArray, info: FilterInfo) -> tuple[Array, FilterInfo]:
        """Return signals of real columns in the caller's size and type; bounds grow by what each lost by that."""
        scale, real = np.repeat(self._scale, self.n_parts), self._dtype.type(0).real.dtype
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            result = np.ldexp(x, scale).astype(real)
            lost = np.linalg.norm(x - np.ldexp(result.astype(np.float64), -scale), axis=0)
        lost = over(np.where(np.isfinite(lost), lost, np.inf), np.repeat(self.norms, self.n_parts))
        bounds = bounds + self.sum_of_parts(lost)
        return np.ascontiguousarray(result).view(self._dtype).reshape(self._shape), replace(
            info,
            error_bound=float(bounds[0]) if len(self._shape) == 1 else bounds,
            converged=bool((bounds <= info.tol * np.asarray(info.gain)).all()),
            certificate=info.certificate if np.isfinite(bounds).all() else "none",
        )

    def sum_of_parts(self, errors: FloatArray) -> FloatArray:
        """Return the sum of the errors of real and imaginary part for each signal."""
        return errors.reshape(self.norms.size, self.n_parts).sum(axis=1)
