r"""Filter design: targets that users name, and the polynomials that come nearest to them.

A target is a function of frequency. :func:`fit_cayley` and :func:`fit_chebyshev` look for the polynomial of a given
order that is nearest to it in the mean square or in the largest deviation, over the frequencies that matter: an
interval, a spectral density, or the eigenvalues of a graph. What comes out is a :class:`Fit`: the polynomial, and how
far it is from its target at most. :func:`identify_cayley` has signals before
and after an unknown filter in the place of a target.
"""

from cayleygsp.design.fit import (
    DEFAULT_RIDGE,
    MAX_CAYLEY_ORDER,
    MAX_CHEBYSHEV_ORDER,
    Fit,
    fit_cayley,
    fit_chebyshev,
    least_order,
)
from cayleygsp.design.identification import Identification, identify_cayley
from cayleygsp.design.parse import as_target, make_target, parse_target
from cayleygsp.design.problem import NORMS, GraphWeight, Norm, Weight, graph_weight, interval_quadrature
from cayleygsp.design.smoothing import Gaussian, Tikhonov
from cayleygsp.design.targets import BandPass, Heat, HighPass, Indicator, LowPass, MexicanHat, Piece, Target

__all__ = [
    "DEFAULT_RIDGE",
    "MAX_CAYLEY_ORDER",
    "MAX_CHEBYSHEV_ORDER",
    "NORMS",
    "BandPass",
    "Fit",
    "Gaussian",
    "GraphWeight",
    "Heat",
    "HighPass",
    "Identification",
    "Indicator",
    "LowPass",
    "MexicanHat",
    "Norm",
    "Piece",
    "Target",
    "Tikhonov",
    "Weight",
    "as_target",
    "fit_cayley",
    "fit_chebyshev",
    "graph_weight",
    "identify_cayley",
    "interval_quadrature",
    "least_order",
    "make_target",
    "parse_target",
]
