"""Graph filters as linear operators: a response bound to one graph."""

from cayleygsp.filters.bank import FilterBank
from cayleygsp.filters.base import GraphFilter
from cayleygsp.filters.cayley import CayleyFilter
from cayleygsp.filters.chebyshev import ChebyshevFilter
from cayleygsp.filters.info import ConvergenceWarning, FilterInfo
from cayleygsp.filters.kernel import KernelFilter

__all__ = [
    "CayleyFilter",
    "ChebyshevFilter",
    "ConvergenceWarning",
    "FilterBank",
    "FilterInfo",
    "GraphFilter",
    "KernelFilter",
]
