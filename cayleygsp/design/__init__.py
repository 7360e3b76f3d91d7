r"""Filter design: the polynomials that come nearest to a target.

A target is a function of frequency. :func:`fit_cayley` and :func:`fit_chebyshev` look for the polynomial of a given
order that is nearest to it in the mean square or in the largest deviation, over the frequencies that matter: an
interval, a spectral density, or the eigenvalues of a graph. What comes out is a :class:`Fit`: the polynomial, and how
far it is from its target at most. :func:`identify_cayley` has signals before
and after an unknown filter in the place of a target.
"""

from cayleygsp.design.fit import Fit, fit_cayley, fit_chebyshev, least_order
from cayleygsp.design.identification import Identification, identify_cayley
from cayleygsp.design.target import parse_target
from cayleygsp.responses import BandPass as BandPass
from cayleygsp.responses import Gaussian as Gaussian
from cayleygsp.responses import Heat as Heat
from cayleygsp.responses import HighPass as HighPass
from cayleygsp.responses import LowPass as LowPass
from cayleygsp.responses import MexicanHat as MexicanHat
from cayleygsp.responses import Tikhonov as Tikhonov

# Targets are responses, and go by both names; a band without a transition is sharp as a target.
Indicator = BandPass

__all__ = ["Fit", "Identification", "fit_cayley", "fit_chebyshev", "identify_cayley", "least_order", "parse_target"]
