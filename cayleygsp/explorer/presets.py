r"""Filters to start from, as functions of the angle on the half circle: the zoom says at which frequencies they act.

With :math:`h\lambda = \tan(\varphi/2)`, :math:`\varphi` from 0 to π is the way along the half circle from frequency
zero to infinity; :math:`\lambda = 1/h` is halfway. On it a Cayley polynomial is a trigonometric one, the same for every
zoom.
"""

from __future__ import annotations

import numpy as np

from cayleygsp._typing import ComplexArray, FloatArray
from cayleygsp._validation import check_choice, check_integer
from cayleygsp.responses.basis import basis_coefficients, power_basis

#: What each preset is, in the order in which they are shown.
PRESETS = {
    "low": "low pass, below λ = 1/h",
    "band": "band pass, around λ = 1/h",
    "high": "high pass, above λ = 1/h",
    "heat": "heat, exp(−hλ)",
}

# Where the ideal low, band and high pass are 1, as angles.
_PASSES = {"low": (0.0, np.pi / 2), "band": (np.pi / 3, 2 * np.pi / 3), "high": (np.pi / 2, np.pi)}

# Points of the half circle at which heat is fitted, and the weight of the coefficients' own size: over half a circle
# the functions are nearly dependent.
_POINTS, _RIDGE = 512, 1e-3


def preset_coefficients(name: str, order: int) -> ComplexArray:
    r"""Return the coefficients of one of the explorer's filters.

    Low, band and high pass are the Fourier series of the ideal ones, damped by Jackson's kernel: it is positive, so
    that no response leaves [0, 1]. The band pass is divided by its value at the middle. Heat is fitted by least
    squares.

    Parameters
    ----------
    name : {"low", "band", "high", "heat"}
        Which one.
    order : int
        r ≥ 1.

    Returns
    -------
    numpy.ndarray, shape (r + 1,)
        For :class:`cayleygsp.CayleyPolynomial`, with any zoom.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> p = cg.CayleyPolynomial(cg.explorer.preset_coefficients("low", 8), zoom=2.0)
    >>> p([0.25, 0.5, 1.0]).round(2)
    array([0.99, 0.5 , 0.01])
    """
    check_choice(name, "name", tuple(PRESETS))
    r = check_integer(order, "order", at_least=1)
    if name == "heat":
        return _heat(r)
    c = _damped_pass(*_PASSES[name], r)
    # at hλ = 1 the transform is -i, and coefficients are real
    middle = float(c[0] + 2 * (c[1:] * np.cos(np.arange(1, r + 1) * np.pi / 2)).sum())
    return (c / middle if name == "band" else c).astype(np.complex128)


def _damped_pass(first: float, last: float, r: int) -> FloatArray:
    """Return real coefficients of the even function that is 1 between two angles, damped by Jackson's kernel."""
    j = np.arange(1, r + 1)
    step = np.pi / (r + 2)
    damping = ((r + 2 - j) * np.cos(j * step) + np.sin(j * step) / np.tan(step)) / (r + 2)
    fourier = (np.sin(j * last) - np.sin(j * first)) / (np.pi * j)
    # C = exp(i (φ - π)): every other power changes its sign
    return np.append((last - first) / np.pi, (-1.0) ** j * fourier * damping)


def _heat(r: int) -> ComplexArray:
    """Return the fit to exp(-x) that is best in the mean over the half circle."""
    x = np.tan((np.arange(_POINTS) + 0.5) * (np.pi / (2 * _POINTS)))
    A = power_basis(r, x)
    A = np.vstack([A, _RIDGE * np.eye(A.shape[1])])
    target = np.append(np.exp(-x), np.zeros(A.shape[1]))
    return basis_coefficients(np.linalg.lstsq(A, target, rcond=None)[0])
