"""The filter of the report: its fit and its response."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis.report.spectrum import N_KEPT, Spectrum
from cayleygsp import plotting
from cayleygsp._format import format_at_most
from cayleygsp._html import Picture, Section, new_figure
from cayleygsp.design import Fit, LowPass, fit_cayley, fit_chebyshev

ORDER = 8
RIDGE = 1e-3


def fit_low_pass(spectrum: Spectrum) -> dict[str, Fit]:
    """Fit polynomials that keep the first frequencies and stop the others; in the gap between, any value will do.

    One is a Cayley polynomial whose ridge keeps its coefficients as small as the response, the other the Chebyshev
    polynomial with as many parameters.
    """
    lam, lmax = spectrum.eigenvalues, spectrum.laplacian.lmax
    last, first = float(lam[N_KEPT - 1]), float(lam[N_KEPT])
    # both ends of the gap matter, so the transition is a little narrower
    target = LowPass((last + first) / 2, transition=0.999 * (first - last))
    cayley = fit_cayley(target, ORDER, lmax, weight=lam, ridge=RIDGE)
    return {"Cayley": cayley, "Chebyshev": fit_chebyshev(target, 2 * ORDER + 1, lmax, weight=lam, ridge=RIDGE)}


def draw_response(spectrum: Spectrum, polynomial: cg.CayleyPolynomial) -> Figure:
    """Draw the response over frequency and over the unrolled half circle."""
    figure = new_figure(5.0)
    over_lambda, unrolled = figure.subplots(2, 1)
    lam = spectrum.eigenvalues
    plotting.response(polynomial, float(lam[-1]), eigenvalues=lam, ax=over_lambda)
    plotting.unrolled_response(polynomial, lam, n_marked=N_KEPT, ax=unrolled)
    return figure


def filter_section(spectrum: Spectrum, polynomial: cg.CayleyPolynomial) -> Section:
    """Return the section on the response of the filter."""
    g = polynomial(spectrum.eigenvalues)
    text = (
        f"The Cayley polynomial of order {polynomial.order} with zoom h = {polynomial.zoom:.3g} multiplies the first "
        f"{N_KEPT} frequencies by {g[:N_KEPT].min():.2f} to {g[:N_KEPT].max():.2f}, the one after them by "
        f"{g[N_KEPT]:.2f}, and every other by at most {format_at_most(np.abs(g[N_KEPT + 1 :]).max(), 2)} in size."
    )
    picture = Picture.from_figure(
        "response",
        draw_response(spectrum, polynomial),
        "Two curves that fall from one to zero: steeply over frequency, gently over the unrolled half circle.",
        f"The response over frequency (above) and over the unrolled half circle (below). Grey lines are the "
        f"frequencies of the graph, below the first {N_KEPT} of them darker.",
    )
    return Section("Its response", [text], [picture])
