"""Type aliases of the public signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
ComplexArray: TypeAlias = npt.NDArray[np.complexfloating[Any, Any]]
Array: TypeAlias = npt.NDArray[Any]
ArrayLike: TypeAlias = npt.ArrayLike
GraphLike: TypeAlias = Any  # Laplacian, Graph, PyGSP or networkx graph, scipy sparse or dense adjacency
Kernel: TypeAlias = Callable[[Array], ArrayLike]
LaplacianKind: TypeAlias = Literal["combinatorial", "normalized"]
Symmetrize: TypeAlias = Literal["max", "mean"]
Method: TypeAlias = Literal["auto", "exact", "jacobi", "chebyshev", "multigrid"]
