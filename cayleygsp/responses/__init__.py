"""Functions of frequency: what a filter does to each graph frequency, and the series that apply them."""

from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.chebyshev import ChebyshevPolynomial
from cayleygsp.responses.diffusion import Gaussian, Heat, MexicanHat
from cayleygsp.responses.rational import Rational, Tikhonov, page_rank
from cayleygsp.responses.steps import BandPass, HighPass, LowPass

__all__ = [
    "BandPass",
    "CayleyPolynomial",
    "ChebyshevPolynomial",
    "Gaussian",
    "Heat",
    "HighPass",
    "LowPass",
    "MexicanHat",
    "Rational",
    "Tikhonov",
    "page_rank",
]
