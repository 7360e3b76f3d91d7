"""Learned filters, from the state of a layer in a file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cayleygsp._text import first_few, quoted
from cayleygsp._typing import FloatArray
from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.io.files import check_file
from cayleygsp.responses.basis import basis_coefficients
from cayleygsp.responses.cayley import CayleyPolynomial

if TYPE_CHECKING:
    from cayleygsp.explorer import NamedFilter

# Filters of a layer that are shown; there is one for each pair of channels.
MOST_FILTERS = 64


def load_layer(path: Path, name: str | None = None, *, real: bool = False) -> list[NamedFilter]:
    """Return the filters of a saved layer, one for each pair of channels, the first 64 of them.

    Parameters
    ----------
    path : pathlib.Path
        What ``torch.save(layer.state_dict(), path)`` wrote; nothing in it is run.
    name : str, optional
        Which layer of a network.
    real : bool
        The layer has real coefficients. An even number of coefficients says so by itself.
    """
    state = _read_state(path)
    prefix = _find_layer(state, name, path)
    with input_errors():
        return _filters(state, prefix, real, path)


def _read_state(path: Path) -> Mapping[str, Any]:
    if find_spec("torch") is None:
        raise BadInput("--layer needs torch, which is not installed")
    with input_errors():
        check_file(path)
    import torch

    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # damaged bytes make torch raise almost anything
        state = None
    if not isinstance(state, Mapping) or not all(isinstance(key, str) for key in state):
        raise BadInput(f"{quoted(path)} is not what torch.save(layer.state_dict(), FILE) writes")
    return state


def _find_layer(state: Mapping[str, Any], name: str | None, path: Path) -> str:
    """Return what the names of a layer's parameters begin with."""
    prefixes = [key.removesuffix("log_zoom") for key in state if key == "log_zoom" or key.endswith(".log_zoom")]
    if not prefixes:
        raise BadInput(f"{quoted(path)} has no layer CayleyConv: nothing in it is called log_zoom")
    if name is not None:
        if f"{name}." not in prefixes:
            raise BadInput(f"--layer-name must be one of {first_few(_names(prefixes))}, got {quoted(name)}")
        return f"{name}."
    if len(prefixes) > 1:
        raise BadInput(f"--layer-name must say which layer of {quoted(path)}: {first_few(_names(prefixes))}")
    return prefixes[0]


def _names(prefixes: list[str]) -> list[str]:
    return [prefix.removesuffix(".") for prefix in prefixes]


def _filters(state: Mapping[str, Any], prefix: str, real: bool, path: Path) -> list[NamedFilter]:
    from cayleygsp.explorer import NamedFilter

    if f"{prefix}frequencies" not in state:
        raise ValueError(f"{quoted(path)} must hold a state_dict: parameters by their names are no coefficients")
    shared = f"{prefix}coeffs" in state
    c = _array(state, f"{prefix}{'coeffs' if shared else 'weight'}", path)
    c = c[:, None, None] if c.ndim == 1 else c
    if c.ndim != 3 or c.shape[0] < 2:
        raise ValueError(f"the coefficients in {quoted(path)} must have three axes, got shape {c.shape}")
    real = real or c.shape[0] % 2 == 0
    zooms = np.broadcast_to(np.exp(_array(state, f"{prefix}log_zoom", path)), c.shape[2:])
    pairs = [(i, o) for o in range(c.shape[2]) for i in range(c.shape[1])][:MOST_FILTERS]
    return [
        NamedFilter(
            "learned, shared by all channels" if shared else f"learned, channel {i} to {o}",
            CayleyPolynomial(basis_coefficients(c[:, i, o], real=real), float(zooms[o])),
        )
        for i, o in pairs
    ]


def _array(state: Mapping[str, Any], name: str, path: Path) -> FloatArray:
    import torch

    value = state.get(name)
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        raise ValueError(f"{quoted(name)} in {quoted(path)} must be a tensor of real numbers")
    return value.double().numpy()
