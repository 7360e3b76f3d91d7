"""The command ``explore``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.layers import load_layer
from cayleygsp.cli.loading import graph_line, load
from cayleygsp.cli.options import DEFAULT_ORDER, GraphOptions, OutputOptions, PolynomialOptions
from cayleygsp.cli.polynomial import check_positive, own_polynomial
from cayleygsp.cli.results import Results
from cayleygsp.explorer import NamedFilter, explorer_page
from cayleygsp.explorer.content import MOST_ORDER, PRESET_ORDERS


@dataclass(frozen=True, kw_only=True)
class ShownOptions(PolynomialOptions):
    """Zoom, order and coefficients of the filter that a page shows at first."""

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
    if len(outputs.output) != 1:
        raise BadInput(f"--output must be given once: a file .html, got {len(outputs.output)}")
    if layer is None and (layer_name is not None or real_coeffs):
        raise BadInput("--layer-name and --real-coeffs go with --layer")
    results = Results(outputs, (".html",))
    if polynomial.zoom is not None:
        check_positive(polynomial.zoom, "--zoom")
    filters, order = _own_filters(polynomial), _preset_order(polynomial)
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
        content = page.encode()
        results.write(lambda ending: content)
    numbers = {"vertices": L.n_vertices, "edges": L.n_edges, "filters": len(filters), "bytes": len(content)}
    results.show(numbers, {"graph": graph_line(G.name, L), "page": f"{len(content) / 1e6:.2f} MB"})


def _own_filters(options: PolynomialOptions) -> list[NamedFilter]:
    """Return the filter whose coefficients were given, if they were."""
    if options.coeffs is None:
        return []
    own = own_polynomial(options.coeffs, options.zoom, options.order)
    if own.order > MOST_ORDER:
        raise BadInput(f"--coeffs make an order that must be at most {MOST_ORDER} on a page, got {own.order}")
    return [NamedFilter("own coefficients", own)]


def _preset_order(options: PolynomialOptions) -> int:
    """Return the order of the preset filters."""
    if options.order is None or options.coeffs is not None:
        return DEFAULT_ORDER
    if options.order > PRESET_ORDERS:
        raise BadInput(f"--order must be at most {PRESET_ORDERS} on a page, got {options.order:,}")
    return options.order
