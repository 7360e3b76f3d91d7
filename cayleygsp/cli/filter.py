"""The command ``filter``."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.loading import graph_line, load, need_edges, written
from cayleygsp.cli.options import (
    DEFAULT_ORDER,
    CoeffsOption,
    ForceOption,
    GraphArgument,
    JsonOption,
    Kind,
    KindOption,
    OrderOption,
    Outputs,
    SeedOption,
    VariableOption,
    ZoomOption,
)
from cayleygsp.cli.outputs import array_bytes, check_outputs, write_outputs
from cayleygsp.cli.polynomial import (
    check_positive,
    check_product,
    check_target,
    own_polynomial,
    read_target,
    target_name,
)
from cayleygsp.cli.printing import counted, print_facts, print_json, progress, warn
from cayleygsp.cli.signals import SIGNAL_ENDINGS, load_signal
from cayleygsp.design import DEFAULT_RIDGE, Fit, Target, fit_cayley, graph_weight
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES
from cayleygsp.filters import CayleyFilter, ConvergenceWarning, FilterInfo, GraphFilter, KernelFilter
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.function import KernelResponse


def filter_command(
    graph: GraphArgument,
    signal: Annotated[Path, typer.Argument(metavar="SIGNAL", help="One line a vertex: .npy, .csv or .txt.")],
    passing: Annotated[
        str | None,
        typer.Option(
            "--pass",
            help="What to pass: low:CUTOFF, high:CUTOFF, band:LOW:HIGH, heat:SCALE, mexican:SCALE, indicator:LOW:HIGH.",
        ),
    ] = None,
    coeffs: CoeffsOption = None,
    zoom: ZoomOption = None,
    order: OrderOption = None,
    tol: Annotated[float, typer.Option("--tol", help="Error allowed, relative to the gain of the filter.")] = 1e-6,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Filter a signal with a certified error.

    With --pass the response is the one that you name, where it can be applied within the tolerance: smooth ones on
    every graph, steps on small ones. Steps on large graphs, and everything if --order is given, are fitted by a Cayley
    polynomial; how near it comes is said. With --coeffs and --zoom your own Cayley polynomial is applied.
    """
    if not output:
        raise BadInput("--output must be given: a file .npy, .csv or .txt")
    check_outputs(output, SIGNAL_ENDINGS, force)
    check_positive(tol, "--tol")
    if (passing is None) == (coeffs is None):
        raise BadInput("one of --pass and --coeffs must be given, and not both")
    own = own_polynomial(coeffs, zoom, order) if coeffs is not None else None
    if passing is not None:
        check_target(passing)
        if zoom is not None and order is None:
            raise BadInput("--zoom goes with --order or with --coeffs")
    G, L = load(graph, kind, variable, seed)
    for h in (zoom, own.zoom if own is not None else None):
        check_product(h, L.lmax)
    f = load_signal(signal, L.n_vertices, G.labels)
    with progress(3) as step:
        step("design")
        g, what, fit = _prepare_filter(L, passing, own, zoom, order, tol, seed)
        step("filter")
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            y, found = g.filter(f, return_info=True)
        seconds = time.perf_counter() - start
        step("files")
        write_outputs({path: array_bytes(y, path.suffix.lower()) for path in output})
    numbers = _filter_numbers(g, found, fit, what) | {"seconds": seconds}
    if json:
        print_json(numbers)
    else:
        print_facts({"graph": graph_line(G, L), "filter": what} | _said_of_filter(found, seconds) | written(output))
    for warning in caught:
        warn(" ".join(str(warning.message).split()))


def _prepare_filter(
    L: Laplacian,
    passing: str | None,
    own: CayleyPolynomial | None,
    zoom: float | None,
    order: int | None,
    tol: float,
    seed: int,
) -> tuple[GraphFilter, str, Fit | None]:
    """Return the filter, what it is in words, and how it was fitted if it was."""
    if own is not None:
        with input_errors():
            return CayleyFilter(L, own, tol=tol), f"Cayley polynomial of order {own.order}, zoom {own.zoom:.6g}", None
    assert passing is not None
    target = read_target(passing, L)
    if order is None and _can_be_itself(target, L, tol):
        return KernelFilter(L, target, tol), f"{target_name(target)}, itself", None
    need_edges(L, "a fit")
    weight = graph_weight(L, "auto", seed)
    with input_errors():
        fit = fit_cayley(target, order or DEFAULT_ORDER, L.lmax, zoom or "auto", weight, ridge=DEFAULT_RIDGE)
    polynomial = fit.polynomial
    assert isinstance(polynomial, CayleyPolynomial)
    what = (
        f"{target_name(target)}, fitted by a Cayley polynomial of order {polynomial.order}, zoom {fit.zoom:.6g}: "
        f"distance {fit.residual_rms:.2g} rms over the spectrum, {fit.residual_max:.2g} at most"
    )
    return CayleyFilter(L, polynomial, tol=tol), what, fit


def _can_be_itself(target: Target, L: Laplacian, tol: float) -> bool:
    """Say whether a response can be applied as it is: through its eigenbasis or a series within the tolerance."""
    if L.n_vertices <= EIGENBASIS_VERTICES:
        return True
    gain = float(np.abs(target(np.linspace(0.0, L.lmax, 1001))).max())
    return bool(np.isfinite(KernelResponse(target).degree_bound(L.lmax, tol * gain)))


def _said_of_filter(found: FilterInfo, seconds: float) -> dict[str, str]:
    bound = float(np.max(found.relative_error_bound))
    reached = "within" if found.converged else "NOT within"
    return {
        "method": f"{found.method}, {counted(found.n_matvecs, 'product')} with the Laplacian, {seconds:.3g} s "
        f"({found.reason})",
        "error bound": f"{bound:.2e} of the gain {float(np.max(found.gain)):.4g}, {found.certificate}; {reached} "
        f"--tol {found.tol:g}",
    }


def _filter_numbers(g: GraphFilter, found: FilterInfo, fit: Fit | None, what: str) -> dict[str, Any]:
    response = g.response
    numbers: dict[str, Any] = {
        "filter": what,
        "method": found.method,
        "reason": found.reason,
        "n_matvecs": found.n_matvecs,
        "tol": found.tol,
        "gain": float(np.max(found.gain)),
        "error_bound": np.max(found.error_bound).item(),
        "relative_error_bound": float(np.max(found.relative_error_bound)),
        "certificate": found.certificate,
        "converged": found.converged,
    }
    if isinstance(response, CayleyPolynomial):
        numbers |= {"order": response.order, "zoom": response.zoom}
    if fit is not None:
        numbers |= {"fit_residual_rms": fit.residual_rms, "fit_residual_max": fit.residual_max}
    return numbers
