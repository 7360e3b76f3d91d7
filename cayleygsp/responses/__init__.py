"""Functions of frequency: what a filter does to each graph frequency, and the series that apply them."""

from cayleygsp.responses.analytic import Gaussian, Heat, MexicanHat
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.chebyshev import ChebyshevPolynomial
from cayleygsp.responses.rational import Rational, Tikhonov, page_rank
from cayleygsp.responses.steps import BandPass, HighPass, LowPass
from cayleygsp.responses.tight import Itersine, MeyerScaling, MeyerWavelet, tight_bank

__all__ = [
    "BandPass",
    "CayleyPolynomial",
    "ChebyshevPolynomial",
    "Gaussian",
    "Heat",
    "HighPass",
    "Itersine",
    "LowPass",
    "MexicanHat",
    "MeyerScaling",
    "MeyerWavelet",
    "Rational",
    "Tikhonov",
    "page_rank",
    "tight_bank",
]
