"""The command ``filter``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from cayleygsp._format import counted, format_bound
from cayleygsp._text import printable, quoted
from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.inputs import check_streams, graph_line, load, load_signal
from cayleygsp.cli.options import (
    TARGET_TEXTS,
    FilterOptions,
    GraphOptions,
    MethodName,
    OutputOptions,
    PolynomialOptions,
)
from cayleygsp.cli.outputs import Results
from cayleygsp.cli.polynomial import (
    AskedPolynomial,
    check_positive_option,
    check_target,
    read_target,
    target_name,
)
from cayleygsp.cli.task_frame import SignalOptions, finish_task, listed, timed
from cayleygsp.design import Fit, parse_target
from cayleygsp.design.target import as_target
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES
from cayleygsp.filters import CayleyFilter, FilterInfo, GraphFilter, KernelFilter
from cayleygsp.io.signals import SIGNAL_ENDINGS
from cayleygsp.laplacians import Laplacian
from cayleygsp.report.design import fit_numbers
from cayleygsp.responses.base import Response

if TYPE_CHECKING:
    from cayleygsp.distributed import DistributedLaplacian
    from cayleygsp.graph import Graph


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """The cluster or the worker processes to filter on, if not this process."""

    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="Filter on the Dask cluster whose scheduler is at this address, such as tcp://host:8786.",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="Number of local single-threaded worker processes, started for this command."
        ),
    ] = None
    parts: Annotated[
        int | None,
        typer.Option(
            "--parts",
            min=1,
            help="Number of parts of the graph with --cluster or --workers. Default: the number of threads of the "
            "workers.",
        ),
    ] = None


def filter_command(
    graph: GraphOptions,
    given: SignalOptions,
    polynomial: PolynomialOptions,
    outputs: OutputOptions,
    cluster: ClusterOptions,
    passing: Annotated[str | None, typer.Option("--pass", help=f"The response: {TARGET_TEXTS}")] = None,
    tol: Annotated[float, typer.Option("--tol", help="Allowed error, relative to the gain of the filter.")] = 1e-6,
    method: Annotated[
        MethodName,
        typer.Option(
            "--method",
            metavar="METHOD",
            help="auto, exact or chebyshev; multigrid for Cayley polynomials and tikhonov, jacobi for Cayley "
            "polynomials alone.",
        ),
    ] = MethodName.auto,
) -> None:
    """Filter a signal with a certified error.

    With --pass you name the response; graphs can have any size. A step without a transition is applied as it is on
    small graphs, and on large ones as a smooth step, whose width is printed. With --order the response is fitted by a
    Cayley polynomial, and the distance of the fit is printed. With --coeffs and --zoom your own Cayley polynomial is
    applied. With --cluster or --workers the graph is cut into parts for the workers of a Dask cluster, or is a folder
    of parts that is too large for one machine.
    """
    if not outputs.output:
        raise BadInput("--output must be given: a file .npy, .csv or .txt, or - for standard output")
    results = Results(outputs, SIGNAL_ENDINGS)
    check_positive_option(tol, "--tol")
    asked = _asked_polynomial(passing, polynomial, method)
    check_streams(graph.graph, given.signal)
    in_parts = _is_parts(graph.graph, cluster)
    if in_parts and polynomial.order is not None and passing is not None:
        raise BadInput("--order needs the whole graph in memory, and GRAPH is a folder of parts: leave --order out")
    with _connected(cluster, outputs.quiet or outputs.json) as client, results.progress(4) as step:
        step("graph")
        if in_parts:
            L: Laplacian = _in_parts(graph.graph, graph.kind.value, client, None, step)
            name, labels = Path(graph.graph).name, None
        else:
            G, L = load(graph)
            name, labels = G.name, G.labels
        f = load_signal(given.signal, L.n_vertices, labels)
        step("design")
        cut = client is not None and not in_parts
        on = _in_parts(G, graph.kind.value, client, cluster.parts, step) if cut else L
        how: dict[str, Any] = {"method": method.value, "tol": tol}
        fit = None
        if asked is not None:
            p, fit = asked.fitted(L, graph.seed)
            what = f"Cayley polynomial of order {p.order}, zoom {p.zoom:.6g}"
            if fit is not None:
                what = f"{target_name(fit.target.response)}, fitted by a {what}: {fit.summary}"
            with input_errors():
                g: GraphFilter = CayleyFilter(on, p, **how)
        else:
            assert passing is not None
            response = read_target(passing, L)
            applied, what = _applied(response, on)
            with input_errors():
                g = KernelFilter(on, applied, **how)
        step("filter")
        (y, info), seconds, messages = timed(lambda: g.filter(f, return_info=True))
        step("files")
        results.write(lambda ending: y)
    numbers = _filter_numbers(g, info, fit, what) | {"seconds": seconds}
    bound = format_bound(numbers["relative_error_bound"])
    products = f"{counted(info.n_matvecs, 'product')} with the Laplacian"
    reached = f"{'within' if info.converged else 'NOT within'} --tol {info.tol:g}"
    facts = {
        "graph": graph_line(name, L),
        "filter": what,
        "method": f"{info.method}, {products}, {seconds:.3g} s ({info.reason})",
        "error bound": f"{bound} of the gain {numbers['gain']:.4g}, {info.certificate}; {reached}",
    }
    results.show(numbers, facts)
    if not info.converged and not messages:
        messages = [f"--tol {tol:g} was not reached: the error bound is {bound} of the gain"]
    finish_task(info.converged, messages)


def _asked_polynomial(passing: str | None, options: PolynomialOptions, method: MethodName) -> AskedPolynomial | None:
    """Return the Cayley polynomial that options ask for, None for a response as it is; reject what is neither."""
    if (passing is None) == (options.coeffs is None):
        raise BadInput("one of --pass and --coeffs must be given, and not both")
    if passing is None or options.order is not None:
        return AskedPolynomial(FilterOptions(**vars(options), target=passing), "--pass")
    check_target(passing, "--pass")
    if options.zoom is not None:
        raise BadInput("--zoom goes with --order or with --coeffs")
    # multigrid solves for the poles of a rational response
    by_poles = method == MethodName.multigrid and parse_target(passing, 1.0).rational_form is not None
    if method in (MethodName.multigrid, MethodName.jacobi) and not by_poles:
        raise BadInput(f"--method {method.value} applies Cayley polynomials: give --order or --coeffs")
    return None


def _applied(response: Response, L: Laplacian) -> tuple[Any, str]:
    """Return what to apply for a response, and a description: sharp steps need the eigenvalues of a small graph."""
    is_sharp = response.jumps and response.transition is None
    if is_sharp and L.is_local and L.n_vertices <= EIGENBASIS_VERTICES:
        return as_target(response, L.lmax), f"{target_name(response)}, the response itself"
    width = getattr(response, "width", None) if response.jumps else None
    how = "the response itself" if width is None else f"by smooth steps, from 0.001 to 0.999 across {width:.4g}"
    return response, f"{target_name(response)}, {how}"


def _filter_numbers(g: GraphFilter, info: FilterInfo, fit: Fit | None, what: str) -> dict[str, Any]:
    polynomial = g.response.cayley_form
    numbers: dict[str, Any] = {
        "filter": what,
        **listed(info, "method", "reason", "n_matvecs", "tol", "certificate", "converged"),
        "gain": float(np.max(info.gain)),
        "error_bound": np.max(info.error_bound).item(),
        "relative_error_bound": float(np.max(info.relative_error_bound)),
    }
    if polynomial is not None:
        numbers |= {"order": polynomial.order, "zoom": polynomial.zoom}
    if fit is not None:
        kept = ("residual_rms", "rms_is_estimated", "residual_max", "residual_max_over", "residual_max_where")
        of_fit = fit_numbers(fit)
        numbers |= {f"fit_{name}": of_fit[name] for name in (*kept, "certificate", "peak")}
    return numbers


def _is_parts(name: str, options: ClusterOptions) -> bool:
    """Return whether a graph is a folder of parts; reject one without a cluster, or with another number of parts."""
    if not os.path.isfile(Path(name, "manifest.json")):  # Path.is_file raises for a name that is too long
        return False
    if options.cluster is None and options.workers is None:
        raise BadInput(f"{quoted(Path(name))} is a folder of parts: give --cluster or --workers")
    if options.parts is not None:
        raise BadInput(f"--parts is for graphs in one piece, and {quoted(Path(name))} is a folder of parts")
    return True


@contextmanager
def _connected(options: ClusterOptions, quiet: bool) -> Iterator[Any]:
    """Yield a client of the cluster that a user named, or None; its dashboard is printed."""
    if options.cluster is None and options.workers is None:
        if options.parts is not None:
            raise BadInput("--parts goes with --cluster or --workers")
        yield None
        return
    if options.cluster is not None and options.workers is not None:
        raise BadInput("--cluster and --workers must not both be given")
    with input_errors():
        try:
            from distributed import Client, LocalCluster

            from cayleygsp.distributed.executor import connect
        except ImportError:
            raise BadInput("--cluster and --workers need dask: install the extra 'distributed'") from None
        if options.cluster is not None:
            own, client = None, connect(options.cluster)
        else:
            own = LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
            client = Client(own)
    try:
        if not quiet:
            threads, link = counted(sum(client.nthreads().values()), "thread"), printable(client.dashboard_link)
            with suppress(OSError):
                print(f"cluster: {threads} of workers, dashboard {link}", file=sys.stderr)
        yield client
    finally:
        client.close()
        if own is not None:
            own.close()


def _in_parts(
    graph: Graph | str, kind: Any, client: Any, n_parts: int | None, step: Callable[..., None]
) -> DistributedLaplacian:
    """Return the Laplacian of a graph that is cut, or whose parts are in a folder that all workers see.

    While it filters, ``step`` is told how far it is.
    """
    from cayleygsp.distributed import DistributedLaplacian

    with input_errors():
        if isinstance(graph, str):
            dL = DistributedLaplacian.from_folder(graph, kind, client=client)
        else:
            n_parts = n_parts or max(sum(client.nthreads().values()), 1)
            dL = DistributedLaplacian.from_graph(graph, n_parts, kind, client=client)
    dL.progress = lambda degree, of: step(f"degree {degree} of {of}", 0)
    return dL
