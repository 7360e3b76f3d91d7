"""The command ``explore``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from cayleygsp._text import first_few, quoted
from cayleygsp._typing import FloatArray
from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.inputs import graph_line, load
from cayleygsp.cli.options import DEFAULT_ORDER, GraphOptions, OutputOptions, PolynomialOptions
from cayleygsp.cli.outputs import page_results
from cayleygsp.cli.polynomial import check_positive_option, own_polynomial
from cayleygsp.explorer import NamedFilter, explorer_page
from cayleygsp.explorer.content import MOST_ORDER, PRESET_ORDERS
from cayleygsp.io.files import check_file
from cayleygsp.responses.basis import basis_coefficients
from cayleygsp.responses.cayley import CayleyPolynomial

# Filters of a layer that are shown; there is one for each pair of channels.
MOST_FILTERS = 64


@dataclass(frozen=True, kw_only=True)
class ShownOptions(PolynomialOptions):
    """Zoom, order and coefficients of the filter that a page shows initially."""

    order: Annotated[
        int | None,
        typer.Option(
            "--order",
            min=1,
            help=f"Order r of the preset filters, at most {PRESET_ORDERS}. Default: {DEFAULT_ORDER}. The order of "
            f"--coeffs and of --layer is at most {MOST_ORDER}.",
        ),
    ] = None


def explore_command(
    graph: GraphOptions,
    polynomial: ShownOptions,
    outputs: OutputOptions,
    vertex: Annotated[
        int | None, typer.Option("--vertex", min=0, help="Vertex of the first impulse. Default: one in the middle.")
    ] = None,
    layer: Annotated[
        Path | None,
        typer.Option(
            "--layer",
            metavar="FILE",
            help="Learned filters: what torch.save(layer.state_dict(), FILE) wrote of a CayleyConv, or of a network "
            "that has one. Layers have the normalized Laplacian by default: give --laplacian as the layer has it.",
        ),
    ] = None,
    layer_name: Annotated[
        str | None, typer.Option("--layer-name", help="Name of the layer in the state of a network.")
    ] = None,
    real_coeffs: Annotated[
        bool, typer.Option("--real-coeffs", help="The layer was made with real_coeffs=True.")
    ] = False,
) -> None:
    """Write an interactive page for the spectral zoom: half circle, response, filtered impulse, decay and cost.

    -o names the .html file, which needs neither network nor server. For graphs of at most 20,000 vertices.
    """
    if layer is None and (layer_name is not None or real_coeffs):
        raise BadInput("--layer-name and --real-coeffs go with --layer")
    results = page_results(outputs)
    check_positive_option(polynomial.zoom, "--zoom")
    filters, order = [], polynomial.order or DEFAULT_ORDER
    if polynomial.coeffs is not None:
        own = own_polynomial(polynomial.coeffs, polynomial.zoom, polynomial.order)
        if own.order > MOST_ORDER:
            raise BadInput(f"--coeffs make an order that must be at most {MOST_ORDER} on a page, got {own.order}")
        filters, order = [NamedFilter("own coefficients", own)], DEFAULT_ORDER
    elif order > PRESET_ORDERS:
        raise BadInput(f"--order must be at most {PRESET_ORDERS} on a page, got {order:,}")
    with results.progress(3) as step:
        step("filters")
        if layer is not None:
            filters += load_layer(layer, layer_name, real=real_coeffs)
        step("graph")
        G, L = load(graph)
        step("page")
        with input_errors():
            page = explorer_page(
                G, L, filters=filters, vertex=vertex, zoom=polynomial.zoom, order=order, rng=graph.seed
            )
        results.write(lambda ending: page)
    n_bytes = len(page.encode())
    numbers = {"vertices": L.n_vertices, "edges": L.n_edges, "filters": len(filters), "bytes": n_bytes}
    results.show(numbers, {"graph": graph_line(G.name, L), "page": f"{n_bytes / 1e6:.2f} MB"})


def load_layer(path: Path, name: str | None = None, *, real: bool = False) -> list[NamedFilter]:
    """Return the filters of a saved layer, one for each pair of channels, the first 64 of them.

    The file is what ``torch.save(layer.state_dict(), path)`` wrote, and nothing in it is run. An even number of
    coefficients says by itself that they are real.
    """
    state = _read_state(path)
    prefix = _find_layer(state, name, path)
    with input_errors():
        return _filters(state, prefix, real, path)


def _read_state(path: Path) -> Mapping[str, Any]:
    """Return what is in a file, tensors by their names."""
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
    names = [prefix.removesuffix(".") for prefix in prefixes]
    if not prefixes:
        raise BadInput(f"{quoted(path)} has no layer CayleyConv: nothing in it is called log_zoom")
    if name is not None:
        if f"{name}." not in prefixes:
            raise BadInput(f"--layer-name must be one of {first_few(names)}, got {quoted(name)}")
        return f"{name}."
    if len(prefixes) > 1:
        raise BadInput(f"--layer-name must say which layer of {quoted(path)}: {first_few(names)}")
    return prefixes[0]


def _filters(state: Mapping[str, Any], prefix: str, real: bool, path: Path) -> list[NamedFilter]:
    if f"{prefix}frequencies" not in state:
        raise ValueError(f"{quoted(path)} must hold a state_dict, with the {prefix}frequencies of the layer")
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
