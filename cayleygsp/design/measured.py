r"""Estimates from pairs of signals: the filter's values at single frequencies, and the part that no filter explains.

For a filter g, :math:`\|Y - g(\Delta)X\|^2` is a sum over frequencies. In the eigenbasis the part at λ is
:math:`(a\, g(\lambda) - b)^2` with a the norm of the input there and b the output along it, and the square of an output
that is out of reach; eigenvalues that the errors of the eigenbasis cannot tell apart are one frequency. For graphs
without an eigenbasis the Krylov space of each input takes its place (Lanczos).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from cayleygsp._typing import Array, FloatArray
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES
from cayleygsp.laplacians import Laplacian

# Lanczos steps of one signal on a graph without an eigenbasis.
KRYLOV_STEPS = 160

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class MeasuredResponse:
    r"""A least squares problem in the values of a response, :math:`\sum_k (a_k g(\lambda_k) - b_k)^2 + rest^2`.

    Attributes
    ----------
    nodes : numpy.ndarray, shape (m,)
        Frequencies λ, of those with an input.
    strengths : numpy.ndarray, shape (m,)
        Norms a > 0 of the input at the frequencies.
    outputs : numpy.ndarray, shape (m,)
        What of the output lies along the input there, b.
    rest : float
        Norm of the output that no filter makes from the input.
    scale : float
        Norm of the output.
    n_equations : int
        Numbers in the output.
    is_estimated : bool
        Whether the frequencies are Ritz values.
    exponent : int
        Inputs and outputs are in units of powers of two of their own, so that no square is out of range; the values of
        the response in the units of the signals are :math:`2^{exponent}` times g.
    """

    nodes: FloatArray
    strengths: FloatArray
    outputs: FloatArray
    rest: float
    scale: float
    n_equations: int
    is_estimated: bool
    exponent: int = 0

    @property
    def n_frequencies(self) -> int:
        """How many frequencies of the input are different, by more than rounding."""
        lam = np.sort(self.nodes)
        return int(np.count_nonzero(np.diff(lam) > 1e-8 * max(float(lam[-1]), 1e-300))) + 1 if lam.size else 0


def measure_response(L: Laplacian, inputs: Array, outputs: Array) -> MeasuredResponse:
    """Reduce pairs of signals to values at frequencies.

    Parameters
    ----------
    L : Laplacian
        The graph.
    inputs, outputs : numpy.ndarray, shape (n, m)
        Checked signals, real or complex.
    """
    X, Y = _real_columns(inputs, outputs)
    X_exponent, Y_exponent = (int(np.frexp(np.abs(Z).max(initial=0.0))[1]) for Z in (X, Y))
    X, Y = np.ldexp(X, -X_exponent), np.ldexp(Y, -Y_exponent)
    if L.has_eigenbasis or L.n_vertices <= EIGENBASIS_VERTICES:
        problem = _by_eigenbasis(L, X, Y)
    else:
        problem = _by_krylov_spaces(L, X, Y)
    return replace(problem, exponent=Y_exponent - X_exponent)


def _real_columns(X: Array, Y: Array) -> tuple[FloatArray, FloatArray]:
    """Return real signals; the filter is real, so that real and imaginary parts are pairs of their own."""
    if np.iscomplexobj(X) or np.iscomplexobj(Y):
        X, Y = (np.column_stack([np.real(Z), np.imag(Z)]) for Z in (X, Y))
    return X.astype(np.float64), Y.astype(np.float64)


def _by_eigenbasis(L: Laplacian, X: FloatArray, Y: FloatArray) -> MeasuredResponse:
    X_hat, Y_hat = L.eigenvectors.T @ X, L.eigenvectors.T @ Y
    lam = np.maximum(L.eigenvalues, 0.0)
    # Equal eigenvalues are computed at most this far apart; a filter has one value for all of them.
    starts = np.flatnonzero(np.diff(lam, prepend=-np.inf) > 2 * L.eigenbasis.residual)
    sizes = np.diff(starts, append=lam.size)
    a = np.sqrt(np.add.reduceat((X_hat**2).sum(axis=1), starts))
    seen = a > 8 * _EPS * np.linalg.norm(a)
    inverse = np.divide(1.0, a, out=np.zeros_like(a), where=seen)
    unit = X_hat * np.repeat(inverse, sizes)[:, None]
    b = np.add.reduceat((unit * Y_hat).sum(axis=1), starts)
    rest = float(np.linalg.norm(Y_hat - unit * np.repeat(b, sizes)[:, None]))
    nodes = np.add.reduceat(lam, starts) / sizes
    return MeasuredResponse(nodes[seen], a[seen], b[seen], rest, float(np.linalg.norm(Y)), Y.size, False)


def _by_krylov_spaces(L: Laplacian, X: FloatArray, Y: FloatArray) -> MeasuredResponse:
    parts = [_krylov_part(L, x, y) for x, y in zip(X.T, Y.T, strict=True)]
    nodes, strengths, outputs = (np.concatenate([part[k] for part in parts]) for k in range(3))
    rest = float(np.linalg.norm([part[3] for part in parts]))
    seen = strengths > 8 * _EPS * np.linalg.norm(strengths)
    rest = float(np.hypot(rest, np.linalg.norm(outputs[~seen])))
    scale = float(np.linalg.norm(Y))
    return MeasuredResponse(nodes[seen], strengths[seen], outputs[seen], rest, scale, Y.size, True)


def _krylov_part(L: Laplacian, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return Ritz values, the input's and the output's parts there, and the norm of the output outside the space."""
    norm = float(np.linalg.norm(x))
    if norm == 0:
        return np.zeros(0), np.zeros(0), np.zeros(0), float(np.linalg.norm(y))
    V, alphas, betas = np.empty((KRYLOV_STEPS, x.size)), [], []
    v = x / norm
    for k in range(min(KRYLOV_STEPS, x.size)):
        V[k] = v
        w = L.matrix @ v
        alphas.append(float(v @ w))
        for _ in range(2):  # twice is enough to keep the basis orthogonal
            w = w - V[: k + 1].T @ (V[: k + 1] @ w)
        beta = float(np.linalg.norm(w))
        if beta <= 1e-12 * max(L.lmax, 1e-300):
            break
        betas.append(beta)
        v = w / beta
    V = V[: len(alphas)]
    theta, S = linalg.eigh_tridiagonal(alphas, betas[: len(alphas) - 1])
    inside = V @ y
    first = S[0]
    return (
        np.maximum(theta, 0.0),
        norm * np.abs(first),
        np.sign(first) * (S.T @ inside),
        float(np.linalg.norm(y - V.T @ inside)),
    )
