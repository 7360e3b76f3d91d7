"""Which class a layer is made of: where PyTorch Geometric has been imported, one that it knows as message passing."""

from __future__ import annotations

import importlib
import sys
from typing import Any

# The layers of this package that PyTorch Geometric can take for its own.
_LAYERS = {("cayleygsp.nn.cayley_conv", "CayleyConv"), ("cayleygsp.nn.cheb_conv", "ChebConv")}


def with_message_passing(cls: type[Any]) -> type[Any]:
    """Return the class of the same name in :mod:`cayleygsp.nn.pyg`; the class itself where that is not to be had.

    PyTorch Geometric finds its layers by their class: ``to_hetero`` and the explainers pass by any other module. It
    takes seconds to import, so that only a program that has done so gets its class.
    """
    if (cls.__module__, cls.__name__) not in _LAYERS or "torch_geometric.nn.conv" not in sys.modules:
        return cls
    return getattr(importlib.import_module("cayleygsp.nn.pyg"), cls.__name__)
