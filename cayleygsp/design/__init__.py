r"""Filter design: targets that users name, and the polynomials that come nearest to them.

A target is a function of frequency. :func:`fit_cayley` and :func:`fit_chebyshev` look for the polynomial of a given
order that is nearest to it in the mean square or in the largest deviation, over the frequencies that matter: an
interval, a spectral density, or the eigenvalues of a graph. What comes out is reported in a :class:`Fit`.
"""

from cayleygsp.design.fit import DEFAULT_RIDGE, Fit, fit_cayley, fit_chebyshev
from cayleygsp.design.orders import least_order
from cayleygsp.design.parse import as_target, make_target, parse_target
from cayleygsp.design.problem import NORMS, GraphWeight, Norm, Weight, graph_weight, interval_quadrature
from cayleygsp.design.targets import BandPass, Heat, HighPass, Indicator, LowPass, MexicanHat, Target

__all__ = [
    "DEFAULT_RIDGE",
    "NORMS",
    "BandPass",
    "Fit",
    "GraphWeight",
    "Heat",
    "HighPass",
    "Indicator",
    "LowPass",
    "MexicanHat",
    "Norm",
    "Target",
    "Weight",
    "as_target",
    "fit_cayley",
    "fit_chebyshev",
    "graph_weight",
    "interval_quadrature",
    "least_order",
    "make_target",
    "parse_target",
]
