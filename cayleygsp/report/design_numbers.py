"""A filter designed for a graph, in numbers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from cayleygsp.design import Fit, LowPass, Norm, Target, Weight, fit_cayley, fit_chebyshev
from cayleygsp.report.frequencies import Frequencies

# The share of the positive frequencies that "low" means in a report, and the shares that its zooms are made for.
LOW_SHARE = 0.1


def low_pass(frequencies: Frequencies, share: float = LOW_SHARE) -> LowPass:
    """Return the target that passes a share of the positive frequencies, with a transition of half the cutoff.

    Parameters
    ----------
    frequencies : Frequencies
        Of a graph with edges.
    share : float
        Above 0 and up to 1.
    """
    cutoff = frequencies.at_positive_share(share)
    return LowPass(cutoff, transition=cutoff / 2)


def compare_fits(
    target: Target | str,
    order: int,
    lmax: float,
    weight: Weight = None,
    *,
    zoom: float | Literal["auto"] = "auto",
    norm: Norm = "least-squares",
) -> dict[str, Fit]:
    """Fit a Cayley polynomial of order r, and the Chebyshev polynomial with as many parameters, of order 2r + 1.

    Parameters
    ----------
    target, order, lmax, weight, zoom, norm
        As in :func:`cayleygsp.design.fit_cayley`.

    Examples
    --------
    >>> from cayleygsp.report.design_numbers import compare_fits
    >>> fits = compare_fits("low:0.5:0.25", order=4, lmax=20.0)
    >>> [fit.n_parameters for fit in fits.values()]
    [10, 10]
    >>> fits["Cayley"].residual_rms < fits["Chebyshev"].residual_rms
    True
    """
    cayley = fit_cayley(target, order, lmax, zoom, weight, norm=norm)
    chebyshev = fit_chebyshev(target, 2 * order + 1, lmax, weight, norm=norm)
    return {"Cayley": cayley, "Chebyshev": chebyshev}


def fit_numbers(fit: Fit) -> dict[str, Any]:
    """Return a fit as numbers."""
    c = fit.polynomial.coeffs
    return {
        "order": fit.polynomial.order,
        "zoom": fit.zoom,
        "n_parameters": fit.n_parameters,
        "residual_rms": fit.residual_rms,
        "rms_is_estimated": fit.rms_is_estimated,
        "residual_max": fit.residual_max,
        "residual_max_over": fit.over,
        "residual_max_where": fit.where,
        "certificate": fit.certificate,
        "peak": fit.peak,
        "coeff_norm": fit.coeff_norm,
        "coeffs_real": np.real(c).tolist(),
        "coeffs_imag": np.imag(c).tolist(),
    }
