r"""The effect of the spectral zoom h: where it maps frequencies on the unit circle, and how well it separates them.

The Cayley transform takes a frequency λ ≥ 0 to the angle :math:`\theta = -2\,\mathrm{arccot}(h\lambda)` on the lower
half of the unit circle, from −π at λ = 0 to 0 at infinity. On the circle a Cayley polynomial of order r is a
trigonometric polynomial of degree r, which sees all angles with the same sharpness; the zoom decides which frequencies
get the room.
"""

from __future__ import annotations

import math

import numpy as np

from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp._validation import check_eigenvalues, check_not_negative, check_positive, check_real
from cayleygsp.responses.cayley import CayleyPolynomial, cayley_angle

__all__ = ["angles", "best_zoom", "resolution", "separating_order", "separating_polynomial"]

# No polynomial of a higher order is made to tell two frequencies apart.
_MAX_ORDER = 10**6


def angles(eigenvalues: ArrayLike, zooms: ArrayLike) -> FloatArray:
    r"""Return the angles of :math:`C(h\lambda)` for every frequency and several zooms.

    Parameters
    ----------
    eigenvalues : array_like, shape (n,)
        Frequencies λ ≥ 0, up to rounding.
    zooms : array_like, shape (m,) or a number
        Zooms h > 0.

    Returns
    -------
    numpy.ndarray, shape (m, n)
        Angles from −π at λ = 0 towards 0, one row per zoom; shape (n,) if ``zooms`` is one number. Negative numbers,
        such as a zero that is rounded, have angles below −π.

    Examples
    --------
    >>> from cayleygsp import zoom
    >>> zoom.angles([0.0, 1.0, 10.0], [0.1, 1.0]) / 3.141592653589793
    array([[-1.        , -0.93654897, -0.5       ],
           [-1.        , -0.5       , -0.06345103]])
    """
    lam = check_eigenvalues(eigenvalues)
    if lam.ndim != 1:
        raise ValueError(f"`eigenvalues` must have shape (n,), got {lam.shape}")
    h = np.asarray(zooms)
    if h.dtype.kind not in "biuf":
        raise TypeError(f"`zooms` must be real numbers, got dtype {h.dtype}")
    if h.ndim > 1:
        raise ValueError(f"`zooms` must be a number or have shape (m,), got {h.shape}")
    bad = h[~(np.isfinite(h) & (h > 0))]
    if bad.size:
        raise ValueError(f"`zooms` must be positive and finite, got {bad[0]}")
    return cayley_angle(h.astype(np.float64)[..., None] * lam)


def resolution(eigenvalues: ArrayLike, zoom: float) -> FloatArray:
    r"""Return how fast the angle grows with frequency, :math:`d\theta/d\lambda = 2h/(1 + (h\lambda)^2)`.

    At a frequency λ it is the largest, 1/λ, for the zoom h = 1/λ; at λ = 0 it grows with h without end.

    Parameters
    ----------
    eigenvalues : array_like
        Frequencies, of any shape.
    zoom : float
        The spectral zoom h > 0.

    Returns
    -------
    numpy.ndarray
        Radians per unit of frequency, in the shape of the frequencies.

    Examples
    --------
    >>> from cayleygsp import zoom
    >>> zoom.resolution([0.0, 1.0, 3.0], zoom=1.0)
    array([2. , 1. , 0.2])
    """
    h = check_positive(zoom, "zoom")
    lam = check_eigenvalues(eigenvalues).astype(np.float64)
    with np.errstate(over="ignore"):
        x = h * np.abs(lam)
    # both sides of the fraction are divided by hλ where that is large, so that its square does not overflow
    unit = np.maximum(x, 1.0)
    return 2 * (h / unit) / (1 / unit + np.minimum(x, 1.0) * x)


def best_zoom(low: float, high: float) -> float:
    r"""Return the zoom that spreads the band [low, high] over as much of the circle as possible.

    The band covers the angle :math:`2\arctan(h\,b) - 2\arctan(h\,a)`, largest for :math:`h = 1/\sqrt{ab}`, which puts
    the band symmetrically around the middle of the half circle. For a band that starts at zero the covered angle
    grows with h without end, at the cost of what lies above; then h = 1/b is returned. It gives the band half of the
    half circle, leaves the other half to all frequencies above, and makes the angle change fastest at b, where the
    band must be told from the rest.

    Parameters
    ----------
    low, high : float
        Ends of the band, 0 ≤ low < high.

    Returns
    -------
    float
        The zoom h.

    Examples
    --------
    >>> from cayleygsp import zoom
    >>> zoom.best_zoom(0.25, 4.0), zoom.best_zoom(0.0, 2.0)
    (1.0, 0.5)
    """
    b = check_positive(high, "high")
    a = check_real(low, "low")
    if not 0 <= a < b:
        raise ValueError(f"`low` must be at least 0 and below `high` = {b:g}, got {a:g}")
    h = 1 / b if a == 0 else 1 / math.sqrt(a) / math.sqrt(b)
    if not math.isfinite(h):
        raise ValueError(f"`high` must be larger: the zoom overflows, got a band from {a:g} to {b:g}")
    return h


def separating_order(first: float, second: float, zoom: float) -> int:
    r"""Return the least order that separates two frequencies: 1 at the one, 0 at the other, within ±1 on the circle.

    Parameters
    ----------
    first, second : float
        Two different frequencies ≥ 0.
    zoom : float
        The spectral zoom h > 0.

    Notes
    -----
    A trigonometric polynomial of degree r with :math:`|g| \le 1` on the circle obeys
    :math:`g'(\theta)^2 + r^2 g(\theta)^2 \le r^2` (Bernstein and Szegő), so that :math:`\arcsin g` changes by at most
    r times the angle. From 0 to 1 it changes by π/2: :math:`r\,|\theta_1 - \theta_2| \ge \pi/2` is necessary. It is
    also sufficient, see :func:`separating_polynomial`.

    "On the circle" means for all real frequencies. A response may be larger at negative frequencies, which no graph
    has, and so do somewhat better, with complex coefficients that are larger than the response; with real
    coefficients it is symmetric and cannot.

    Examples
    --------
    >>> from cayleygsp import zoom
    >>> zoom.separating_order(1.0, 3.0, zoom=1 / 3**0.5)  # angles π/3 apart
    2
    """
    angle = _angle_between(first, second, zoom)
    with np.errstate(over="ignore"):
        least = np.pi / 2 / np.float64(angle)
    if not least < 2.0**53:
        raise ValueError(f"`first` and `second` must differ by more than rounding, got {first!r} and {second!r}")
    # π/2 over the angle, both rounded, may lie just above the whole number that it is
    return max(int(np.ceil(least * (1 - 1e-14))), 1)


def separating_polynomial(first: float, second: float, zoom: float) -> CayleyPolynomial:
    r"""Return a Cayley polynomial of the least order that is 1 at the first frequency, 0 at the second, within ±1.

    With :math:`\varphi = \theta - \theta_1` it is :math:`a\cos(r\varphi) + 1 - a`, the mean a being such that it is
    zero at the second angle. That needs :math:`\pi/2 \le r\,|\theta_2 - \theta_1| \le \pi` for 1/2 ≤ a ≤ 1, and the
    order of :func:`separating_order` has it.

    Parameters
    ----------
    first, second : float
        Two different frequencies ≥ 0.
    zoom : float
        The spectral zoom h > 0.

    Examples
    --------
    >>> from cayleygsp import zoom
    >>> p = zoom.separating_polynomial(1.0, 1.5, zoom=1.0)
    >>> p.order, p([1.0, 1.5]).round(12) + 0.0
    (4, array([1., 0.]))
    """
    r = separating_order(first, second, zoom)
    if r > _MAX_ORDER:
        raise ValueError(
            f"`first` and `second` must be further apart: order {r:.3g} would be needed, got {first} and {second}"
        )
    a = 1 / (1 - np.cos(r * _angle_between(first, second, zoom)))
    c = np.zeros(r + 1, dtype=np.complex128)
    c[0] = 1 - a
    c[r] = a / 2 * np.exp(-1j * r * cayley_angle(zoom * float(first)))
    return CayleyPolynomial(c, zoom)


def _angle_between(first: float, second: float, zoom: float) -> float:
    """Return the distance of two checked frequencies on the circle, without cancellation."""
    l1, l2 = check_not_negative(first, "first"), check_not_negative(second, "second")
    if l1 == l2:
        raise ValueError(f"`first` and `second` must be different frequencies, got {l1:g} twice")
    h = check_positive(zoom, "zoom")
    if not np.isfinite(h * l1) or not np.isfinite(h * l2):
        raise ValueError(f"`zoom` times the frequencies must be finite, got {h:g} times {max(l1, l2):g}")
    # tan(α - β) = (tan α - tan β)/(1 + tan α tan β), divided by tan α where that is large, so that nothing overflows
    small, large = sorted((h * l1, h * l2))
    unit = max(large, 1.0)
    return float(2 * np.arctan2(h * abs(l1 - l2) / unit, 1 / unit + small * (large / unit)))
