"""Graph filters as linear operators: a response bound to one graph. All names stand in :mod:`cayleygsp` too."""

from cayleygsp.filters.application import ConvergenceWarning as ConvergenceWarning
from cayleygsp.filters.application import FilterInfo as FilterInfo
from cayleygsp.filters.bank import FilterBank as FilterBank
from cayleygsp.filters.base import GraphFilter as GraphFilter
from cayleygsp.filters.base import KernelFilter as KernelFilter
from cayleygsp.filters.polynomials import CayleyFilter as CayleyFilter
from cayleygsp.filters.polynomials import ChebyshevFilter as ChebyshevFilter
