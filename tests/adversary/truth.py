"""The truth in 60 digits: the stored Laplacian's eigenvalues, and responses as they are defined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath as mp
import numpy as np

mp.mp.dps = 60

# A function of frequency in 60 digits.
Exact = Callable[[Any], Any]


class Spectrum:
    """Eigenvalues and eigenvectors of a stored Laplacian, and what its functions do to signals.

    Attributes
    ----------
    eigenvalues : list of mpf
        In ascending order.
    """

    def __init__(self, L: Any) -> None:
        matrix = L.matrix.toarray()
        n = self.n = matrix.shape[0]
        self.eigenvalues, self._vectors = (
            mp.eigsy(mp.matrix(matrix.tolist()))
            if n > 1
            else (
                mp.matrix([mp.mpf(float(matrix[0, 0]))]),
                mp.matrix([[mp.mpf(1)]]),
            )
        )

    def filtered(self, response: Exact, signal: np.ndarray) -> list[Any]:
        """Return g(L) f for one signal."""
        V, n = self._vectors, self.n
        f = [mp.mpf(float(x)) for x in signal]
        gains = [response(self.eigenvalues[k]) for k in range(n)]
        inner = [gains[k] * mp.fsum(V[i, k] * f[i] for i in range(n)) for k in range(n)]
        return [mp.fsum(V[i, k] * inner[k] for k in range(n)) for i in range(n)]

    def gain(self, response: Exact) -> Any:
        """Return the largest response at an eigenvalue."""
        return max(abs(response(lam)) for lam in self.eigenvalues)


def norm(values: Sequence[Any]) -> Any:
    """Return the Euclidean norm."""
    return mp.sqrt(mp.fsum(mp.mpf(x) ** 2 for x in values))


def error(y: np.ndarray, true: Sequence[Any]) -> Any:
    """Return the distance of what was returned from the truth; infinite if it is not finite."""
    if not np.isfinite(y).all():
        return mp.inf
    return norm([mp.mpf(float(a)) - b for a, b in zip(y, true, strict=True)])


def heat(scale: float) -> Exact:
    return lambda lam: mp.exp(-mp.mpf(scale) * lam)


def mexican_hat(scale: float) -> Exact:
    return lambda lam: mp.mpf(scale) * lam * mp.exp(1 - mp.mpf(scale) * lam)


def gaussian(center: float, width: float) -> Exact:
    return lambda lam: mp.exp(-(((lam - mp.mpf(center)) / mp.mpf(width)) ** 2))


def tikhonov(strength: float, power: float) -> Exact:
    return lambda lam: (1 + mp.mpf(strength) * lam) ** -mp.mpf(power)


def step_down(cutoff: float, transition: float) -> Exact:
    """Return a smooth step, whose width is set by where erfc(x)/2 = 0.001, as the package rounds it."""
    w = mp.mpf(transition / (2 * 2.1851242))
    return lambda lam: mp.erfc((lam - mp.mpf(cutoff)) / w) / 2


def rational(poles: Sequence[complex], residues: Sequence[complex], constant: float) -> Exact:
    return lambda lam: (
        mp.mpf(constant) + mp.fsum(mp.mpc(r) / (lam - mp.mpc(p)) for p, r in zip(poles, residues, strict=True)).real
    )


def cayley(coeffs: Sequence[complex], zoom: float) -> Exact:
    def response(lam: Any) -> Any:
        x = mp.mpf(zoom) * lam
        C = (x - 1j) / (x + 1j)
        return mp.mpf(coeffs[0].real) + 2 * mp.fsum(mp.mpc(c) * C**j for j, c in enumerate(coeffs[1:], 1)).real

    return response


def chebyshev(coeffs: Sequence[float], lmax: float) -> Exact:
    def response(lam: Any) -> Any:
        x = 2 * lam / mp.mpf(lmax) - 1 if lmax else mp.mpf(-1)
        before, now, total = mp.mpf(1), x, mp.mpf(coeffs[0])
        for a in coeffs[1:]:
            total += mp.mpf(a) * now
            before, now = now, 2 * x * now - before
        return total

    return response


def itersine(center: float, width: float) -> Exact:
    def response(lam: Any) -> Any:
        x = (lam - mp.mpf(center)) / mp.mpf(width)
        return mp.sin(mp.pi / 2 * mp.cos(mp.pi * x) ** 2) if abs(x) <= mp.mpf(0.5) else mp.mpf(0)

    return response
