"""Graph filters as linear operators: a response bound to one graph."""

from cayleygsp.filters.application import ConvergenceWarning, FilterInfo
from cayleygsp.filters.bank import FilterBank
from cayleygsp.filters.base import GraphFilter, KernelFilter
from cayleygsp.filters.polynomials import CayleyFilter, ChebyshevFilter

__all__ = [
    "CayleyFilter",
    "ChebyshevFilter",
    "ConvergenceWarning",
    "FilterBank",
    "FilterInfo",
    "GraphFilter",
    "KernelFilter",
]
