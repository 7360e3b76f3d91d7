"""Which class a layer is made of: where PyTorch Geometric has been imported, one that it knows as message passing."""

from __future__ import annotations

import importlib
import inspect
import sys
from abc import ABCMeta
from typing import Any

# The layers of this package that PyTorch Geometric can take for its own.
_LAYERS = {("cayleygsp.nn.layers.cayley_conv", "CayleyConv"), ("cayleygsp.nn.layers.cheb_conv", "ChebConv")}


def with_message_passing(cls: type[Any]) -> type[Any]:
    """Return the class of the same name in :mod:`cayleygsp.nn.pyg`; the class itself where that is not to be had.

    PyTorch Geometric finds its layers by their class: ``to_hetero`` and the explainers pass by any other module. It
    takes seconds to import, so that only a program that has done so gets its class.
    """
    if (cls.__module__, cls.__name__) not in _LAYERS or "torch_geometric.nn.conv" not in sys.modules:
        return cls
    return getattr(importlib.import_module("cayleygsp.nn.pyg"), cls.__name__)


def without_message_passing(cls: type[Any]) -> type[Any]:
    """Return the class from which one in :mod:`cayleygsp.nn.pyg` is made; any other class itself."""
    if cls.__module__ != "cayleygsp.nn.pyg":
        return cls
    return next(base for base in cls.__mro__ if (base.__module__, base.__name__) in _LAYERS)


def restored(cls: type[Any]) -> Any:
    """Return a layer without state, of the class that a new one has in this program, for what was pickled or copied."""
    made: Any = with_message_passing(cls)
    return made.__new__(made)


class LayerType(ABCMeta):
    """The type of the classes of layers, which are called for a layer that PyTorch Geometric knows, if that is there.

    What makes a module without calling its class, as torch's replicas of a module do, gets the class that it asks for.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a layer."""
        return ABCMeta.__call__(with_message_passing(cls), *args, **kwargs)

    @property
    def __signature__(cls) -> inspect.Signature:
        """What a class is called with: that of its ``__init__``."""
        signature = inspect.signature(cls.__init__)  # type: ignore[misc]
        return signature.replace(parameters=list(signature.parameters.values())[1:])
