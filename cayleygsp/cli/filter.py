"""The command ``filter``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from cayleygsp._format import counted, format_bound
from cayleygsp._text import printable
from cayleygsp.cli.cluster import Cluster, ClusterOptions, connected, is_parts
from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.exit_codes import NOT_REACHED
from cayleygsp.cli.loading import graph_line, load, need_edges
from cayleygsp.cli.options import TARGET_TEXTS, GraphOptions, Method, OutputOptions, PolynomialOptions
from cayleygsp.cli.outputs import array_bytes
from cayleygsp.cli.polynomial import (
    check_fit_order,
    check_positive,
    check_product,
    check_target,
    own_polynomial,
    read_target,
    target_name,
)
from cayleygsp.cli.printing import warn
from cayleygsp.cli.results import Results
from cayleygsp.cli.signals import SIGNAL_ENDINGS, load_signal
from cayleygsp.design import DEFAULT_RIDGE, Fit, Target, fit_cayley, graph_weight, parse_target
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES
from cayleygsp.filters import CayleyFilter, ConvergenceWarning, FilterInfo, GraphFilter, KernelFilter
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley


def filter_command(
    graph: GraphOptions,
    signal: Annotated[
        Path,
        typer.Argument(
            metavar="SIGNAL", help="One line per vertex: .npy, .csv or .txt; - for text or .npy on standard input."
        ),
    ],
    polynomial: PolynomialOptions,
    outputs: OutputOptions,
    cluster: ClusterOptions,
    passing: Annotated[
        str | None,
        typer.Option("--pass", help=f"The response: {TARGET_TEXTS}"),
    ] = None,
    tol: Annotated[float, typer.Option("--tol", help="Error allowed, relative to the gain of the filter.")] = 1e-6,
    method: Annotated[
        Method,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="auto, exact or chebyshev; multigrid for Cayley polynomials and tikhonov, jacobi for Cayley "
            "polynomials alone.",
        ),
    ] = Method.auto,
) -> None:
    """Filter a signal with a certified error.

    With --pass the response is the one that you name, on graphs of every size. A step without a transition is applied
    as it is on small graphs, and as a smooth step on large ones, whose width is printed. If --order is given, the
    response is fitted by a Cayley polynomial, and the distance of the fit is printed. With --coeffs and --zoom your own
    Cayley polynomial is applied. With --cluster or --workers the graph is cut into parts for the workers of a Dask
    cluster, or is a folder of parts that is too large for one machine.
    """
    if not outputs.output:
        raise BadInput("--output must be given: a file .npy, .csv or .txt, or - for standard output")
    results = Results(outputs, SIGNAL_ENDINGS)
    check_positive(tol, "--tol")
    own = _check_response(passing, polynomial, method)
    if graph.graph == "-" and signal == Path("-"):
        raise BadInput("GRAPH and SIGNAL must not both be -: there is one standard input")
    in_parts = is_parts(graph.graph, cluster)
    if in_parts and polynomial.order is not None and passing is not None:
        raise BadInput("--order needs the graph in one memory, and it is a folder of parts: leave it out")
    with connected(cluster, outputs.quiet or outputs.json) as workers, results.progress(4) as step:
        step("graph")
        loaded = _load(graph, workers, in_parts, lambda text: step(text, 0))
        L = loaded.laplacian
        for h in (polynomial.zoom, own.zoom if own is not None else None):
            check_product(h, L.lmax)
        f = load_signal(signal, L.n_vertices, loaded.labels)
        if f.size == 0:
            raise BadInput(f"'{printable(signal)}' must hold at least one signal, got an array of shape {f.shape}")
        step("design")
        g, what, fit = _prepare_filter(L, loaded.in_parts(), passing, own, polynomial, method, tol, graph.seed)
        step("filter")
        start = time.perf_counter()
        with input_errors(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            y, info = g.filter(f, return_info=True)
        seconds = time.perf_counter() - start
        step("files")
        results.write(lambda ending: array_bytes(y, ending))
    numbers = _filter_numbers(g, info, fit, what) | {"seconds": seconds}
    results.show(numbers, {"graph": graph_line(loaded.name, L), "filter": what} | _filter_lines(info, seconds))
    messages = [str(warning.message) for warning in caught]
    if not info.converged and not messages:
        messages = [f"--tol {tol:g} was not reached: the error bound is {_largest_bound(info)} of the gain"]
    for message in messages:
        warn(message)
    if not info.converged:
        raise typer.Exit(NOT_REACHED)


class _Loaded(NamedTuple):
    """The graph of the command: name, labels, Laplacian, and a function that returns the Laplacian to filter on."""

    name: str | None
    labels: Any
    laplacian: Laplacian
    in_parts: Callable[[], Laplacian]


def _load(options: GraphOptions, workers: Cluster | None, in_parts: bool, tell: Callable[[str], None]) -> _Loaded:
    kind = options.kind.value
    if in_parts:
        assert workers is not None
        dL = workers.open(options.graph, kind, tell)
        return _Loaded(Path(options.graph).name, None, dL, lambda: dL)
    G, L = load(options)
    return _Loaded(G.name, G.labels, L, lambda: L if workers is None else workers.cut(G, kind, tell))


def _check_response(passing: str | None, polynomial: PolynomialOptions, method: Method) -> CayleyPolynomial | None:
    """Reject options that do not make a response; return the polynomial of the user's own coefficients."""
    if (passing is None) == (polynomial.coeffs is None):
        raise BadInput("one of --pass and --coeffs must be given, and not both")
    if polynomial.zoom is not None:
        check_positive(polynomial.zoom, "--zoom")
    if polynomial.coeffs is not None:
        return own_polynomial(polynomial.coeffs, polynomial.zoom, polynomial.order)
    assert passing is not None
    check_target(passing, "--pass")
    check_fit_order(polynomial.order)
    if polynomial.zoom is not None and polynomial.order is None:
        raise BadInput("--zoom goes with --order or with --coeffs")
    if polynomial.order is None and not _applies(method, passing):
        raise BadInput(f"--method {method.value} applies Cayley polynomials: give --order or --coeffs")
    return None


def _applies(method: Method, passing: str) -> bool:
    """Return whether a method applies a target as it is: multigrid solves for the poles of a rational response."""
    if method == Method.multigrid:
        response = parse_target(passing, 1.0).response()
        return response is not None and response.rational_form is not None
    return method != Method.jacobi


def _prepare_filter(
    L: Laplacian,
    on: Laplacian,
    passing: str | None,
    own: CayleyPolynomial | None,
    options: PolynomialOptions,
    method: Method,
    tol: float,
    seed: int,
) -> tuple[GraphFilter, str, Fit | None]:
    """Return the filter on a Laplacian, in parts or not, a description, and the fit if there was one."""
    if own is not None:
        with input_errors():
            words = f"Cayley polynomial of order {own.order}, zoom {own.zoom:.6g}"
            return CayleyFilter(on, own, method=method.value, tol=tol), words, None
    assert passing is not None
    target = read_target(passing, L)
    order, zoom = options.order, options.zoom
    if order is None:
        response, words = _response(target, on)
        with input_errors():
            return KernelFilter(on, response, method=method.value, tol=tol), f"{target_name(target)}, {words}", None
    need_edges(L, "a fit")
    weight = graph_weight(L, "auto", seed)
    with input_errors():
        fit = fit_cayley(target, order, L.lmax, zoom or "auto", weight, ridge=DEFAULT_RIDGE)
    polynomial = as_cayley(fit.polynomial)
    what = (
        f"{target_name(target)}, fitted by a Cayley polynomial of order {polynomial.order}, zoom {fit.zoom:.6g}: "
        f"{fit.summary}"
    )
    with input_errors():
        return CayleyFilter(on, polynomial, method=method.value, tol=tol), what, fit


def _response(target: Target, L: Laplacian) -> tuple[Any, str]:
    """Return the response to apply for a target, and a description.

    A step without a transition has jumps, which only the eigenvalues of a small graph can take.
    """
    jumps = getattr(target, "transition", None) == 0
    response = target.response()
    if response is None or (jumps and L.is_local and L.n_vertices <= EIGENBASIS_VERTICES):
        return target, "itself"
    width = getattr(response, "width", None)
    return response, "itself" if width is None else f"by smooth steps, from 0.001 to 0.999 across {width:.4g}"


def _filter_lines(info: FilterInfo, seconds: float) -> dict[str, str]:
    reached = "within" if info.converged else "NOT within"
    return {
        "method": f"{info.method}, {counted(info.n_matvecs, 'product')} with the Laplacian, {seconds:.3g} s "
        f"({info.reason})",
        "error bound": f"{_largest_bound(info)} of the gain {float(np.max(info.gain)):.4g}, {info.certificate}; "
        f"{reached} --tol {info.tol:g}",
    }


def _largest_bound(info: FilterInfo) -> str:
    """Write the largest bound over the gain."""
    return format_bound(float(np.max(info.relative_error_bound)))


def _filter_numbers(g: GraphFilter, info: FilterInfo, fit: Fit | None, what: str) -> dict[str, Any]:
    response = g.response
    numbers: dict[str, Any] = {
        "filter": what,
        "method": info.method,
        "reason": info.reason,
        "n_matvecs": info.n_matvecs,
        "tol": info.tol,
        "gain": float(np.max(info.gain)),
        "error_bound": np.max(info.error_bound).item(),
        "relative_error_bound": float(np.max(info.relative_error_bound)),
        "certificate": info.certificate,
        "converged": info.converged,
    }
    if response.cayley_form is not None:
        numbers |= {"order": response.cayley_form.order, "zoom": response.cayley_form.zoom}
    if fit is not None:
        numbers |= {
            "fit_residual_rms": fit.residual_rms,
            "fit_rms_is_estimated": fit.rms_is_estimated,
            "fit_residual_max": fit.residual_max,
            "fit_residual_max_over": fit.over,
            "fit_residual_max_where": fit.where,
            "fit_certificate": fit.certificate,
            "fit_peak": fit.peak,
        }
    return numbers
