r"""Spectral graph signal processing with Cayley and Chebyshev filters, and a certified error.

The objects, in the order in which they are used:

- a graph: :mod:`gallery` and :func:`read_graph` make a :class:`Graph`; PyGSP and networkx graphs and adjacency
  matrices are taken as they are;
- its Laplacian: :func:`laplacian` makes a :class:`Laplacian` with a guaranteed bound of its spectrum;
- a response, a function of frequency: :class:`CayleyPolynomial`, :class:`ChebyshevPolynomial`, or any function;
- a filter, the response bound to a graph, a scipy ``LinearOperator``: :class:`CayleyFilter`,
  :class:`ChebyshevFilter`, :class:`KernelFilter`, and :class:`FilterBank` for several at once.

What they are for: :mod:`tasks`, denoising, inpainting and features for a classifier.

The instruments: :mod:`bounds` of errors, :mod:`localization` of filters, what a :mod:`zoom` does, spectral
:mod:`density`, filter :mod:`design`, and :mod:`coarsening` of graphs.

:mod:`cayleygsp.pygsp_filters` holds the same as a PyGSP filter, :mod:`cayleygsp.plotting` the pictures,
:mod:`cayleygsp.explorer` an interactive page for the zoom, :mod:`cayleygsp.nn` the trainable layers
(with torch), :mod:`cayleygsp.distributed` graphs in parts (with dask).

Importing the package loads nothing: each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cayleygsp import (
        bounds,
        coarsening,
        density,
        design,
        distributed,
        explorer,
        gallery,
        localization,
        nn,
        plotting,
        pygsp_filters,
        responses,
        tasks,
        zoom,
    )
    from cayleygsp.filters import (
        CayleyFilter,
        ChebyshevFilter,
        ConvergenceWarning,
        FilterBank,
        FilterInfo,
        GraphFilter,
        KernelFilter,
    )
    from cayleygsp.graph import Graph
    from cayleygsp.io import read_graph
    from cayleygsp.laplacians import Laplacian, laplacian
    from cayleygsp.responses.cayley import CayleyPolynomial, cayley_angle, cayley_transform, chebyshev_as_cayley
    from cayleygsp.responses.chebyshev import ChebyshevPolynomial

__version__ = "0.1.0"

__all__ = [
    "CayleyFilter",
    "CayleyPolynomial",
    "ChebyshevFilter",
    "ChebyshevPolynomial",
    "ConvergenceWarning",
    "FilterBank",
    "FilterInfo",
    "Graph",
    "GraphFilter",
    "KernelFilter",
    "Laplacian",
    "bounds",
    "cayley_angle",
    "cayley_transform",
    "chebyshev_as_cayley",
    "coarsening",
    "density",
    "design",
    "distributed",
    "explorer",
    "gallery",
    "laplacian",
    "localization",
    "nn",
    "plotting",
    "pygsp_filters",
    "read_graph",
    "responses",
    "tasks",
    "zoom",
]

# Where the names live that are not modules themselves.
_HOMES = {
    "CayleyFilter": "filters",
    "ChebyshevFilter": "filters",
    "ConvergenceWarning": "filters",
    "FilterBank": "filters",
    "FilterInfo": "filters",
    "GraphFilter": "filters",
    "KernelFilter": "filters",
    "Graph": "graph",
    "read_graph": "io",
    "Laplacian": "laplacians",
    "laplacian": "laplacians",
    "CayleyPolynomial": "responses.cayley",
    "cayley_angle": "responses.cayley",
    "cayley_transform": "responses.cayley",
    "chebyshev_as_cayley": "responses.cayley",
    "ChebyshevPolynomial": "responses.chebyshev",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for the first time."""
    if name in _HOMES:
        value = getattr(import_module(f"cayleygsp.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    if not name.startswith("_") and find_spec(f"cayleygsp.{name}") is not None:
        return import_module(f"cayleygsp.{name}")
    raise AttributeError(f"module 'cayleygsp' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the names that can be asked for."""
    return sorted({*globals(), *__all__})
