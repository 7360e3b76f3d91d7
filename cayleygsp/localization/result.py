"""Masses outside k hops, with what was fitted to them and what bounds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cayleygsp._format import ShortRepr
from cayleygsp._typing import Array, FloatArray


@dataclass(frozen=True, eq=False)
class DecayFit:
    r"""The line through the logarithms of the measured masses.

    Attributes
    ----------
    c, gamma : float
        Least squares of :math:`\log c + k \log\gamma`; NaN if fewer than two masses are above the floor.
    r_squared : float
        Share of the variance of the logarithms that the line explains; NaN if there is none.
    n_points : int
        Masses above the floor.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> fit = cg.localization.fit_decay([1.0, 0.5, 0.25, 0.125])
    >>> round(fit.gamma, 6), round(fit.r_squared, 6)
    (0.5, 1.0)
    """

    c: float
    gamma: float
    r_squared: float
    n_points: int


@dataclass(frozen=True, eq=False, repr=False)
class DecayBound(ShortRepr):
    """A curve that masses are proved to be below, or that the paper states.

    Attributes
    ----------
    name : {"theorem 4", "jacobi", "series"}
        Where it comes from.
    mass : numpy.ndarray, shape (n_hops + 1,)
        Upper bounds of the masses, relative to the norm as these are; above 1 it says nothing.
    valid : numpy.ndarray of bool, shape (n_hops + 1,)
        Where it is proved: everywhere or nowhere, but for "theorem 4", which is proved where k is a multiple of the
        order (see :func:`decay_curve`), and where a proved curve, or 1, lies below it.
    c, gamma : float or None
        Theorem 4's constants; of several vertices, c is the mean.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> g = cg.CayleyFilter(cg.gallery.ring(40), cg.CayleyPolynomial([0.5, -0.25], zoom=1.0), tol=1e-10)
    >>> bound = cg.localization.decay_curve(g, vertices=0).bound("series")
    >>> bound.name, bool(bound.valid.all())
    ('series', True)
    """

    name: str
    mass: FloatArray
    valid: Array
    c: float | None = None
    gamma: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Decay(ShortRepr):
    r"""Masses of a filter outside k hops, k = 0 … n_hops, and what is known of them.

    Attributes
    ----------
    hops : numpy.ndarray, shape (n_hops + 1,)
        k.
    mass : numpy.ndarray, shape (n_hops + 1,)
        As computed, relative to :math:`\|G\delta_m\|_p`; the mean over the vertices if there are several. Only what is
        ``resolved`` is a measurement.
    p : float
        Of the norm.
    norm : float
        :math:`\|G\delta_m\|_p`, the mean over the vertices.
    floor : float
        How far the masses may be off by the error of the method that applied the filter, rounding included; what is
        not above it is not fitted.
    fit : DecayFit
        The exponential through the masses above the floor.
    bounds : tuple of DecayBound
        Those that there are for this filter and p.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> g = cg.CayleyFilter(cg.gallery.ring(40), cg.CayleyPolynomial([0.5, -0.25], zoom=1.0), tol=1e-10)
    >>> curve = cg.localization.decay_curve(g, vertices=0)
    >>> bool((curve.mass <= curve.bound("series").mass + curve.floor).all())
    True
    """

    hops: Array
    mass: FloatArray
    p: float
    norm: float
    floor: float
    fit: DecayFit
    bounds: tuple[DecayBound, ...]

    @property
    def resolved(self) -> Array:
        """Where the mass is above the floor, or proved to be zero; elsewhere the method may have made it."""
        zero = np.zeros(self.mass.shape, dtype=bool)
        for bound in self.bounds:
            zero |= bound.valid & (bound.mass == 0)
        return (self.mass > self.floor) | (zero & (self.mass == 0))

    def bound(self, name: str) -> DecayBound | None:
        """Return the curve of that name, or None if there is none for this filter and p."""
        return next((bound for bound in self.bounds if bound.name == name), None)


def relative(value: Any, norm: float) -> Any:
    """Divide by the norm of a localized filter; one that is zero has no mass anywhere."""
    return value / norm if norm else value * 0.0
