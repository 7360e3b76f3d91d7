"""The commands. What draws is imported when a command draws, so that the others start quickly."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from cayleygsp._validation import check_vertex
from cayleygsp.cayley import CayleyPolynomial
from cayleygsp.cli._io import (
    SIGNAL_ENDINGS,
    BadInput,
    array_bytes,
    check_outputs,
    counted,
    csv_bytes,
    input_errors,
    load_coefficients,
    load_graph,
    load_signal,
    one_line,
    png_bytes,
    print_facts,
    print_json,
    print_table,
    progress,
    warn,
    write_outputs,
)
from cayleygsp.design import DEFAULT_RIDGE, Fit, Target, fit_cayley, graph_weight, parse_target
from cayleygsp.filters import CayleyFilter, ConvergenceWarning, FilterInfo, GraphFilter, KernelFilter
from cayleygsp.graph import Graph
from cayleygsp.kernel import KernelResponse
from cayleygsp.laplacian import Laplacian, laplacian
from cayleygsp.methods.exact import EIGENBASIS_VERTICES

if TYPE_CHECKING:
    from cayleygsp.graph_report import BoundRow, GraphFacts, ZoomRow
    from cayleygsp.localization import Decay

# The order of a fit where none is asked for.
DEFAULT_ORDER = 8

# Sweeps times order that bounds are computed for: the series is looked at in every degree up to that.
MOST_SWEEPS = 1_000_000


class Kind(str, Enum):
    """Which Laplacian."""

    combinatorial = "combinatorial"
    normalized = "normalized"


GraphArgument = Annotated[str, typer.Argument(metavar="GRAPH", help="A file, or a built-in graph such as @minnesota.")]
Outputs = Annotated[
    list[Path], typer.Option("--output", "-o", help="File to write; the ending tells what. Can be given several times.")
]
KindOption = Annotated[Kind, typer.Option("--laplacian", help="Which Laplacian.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print numbers as JSON, and nothing else.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
SeedOption = Annotated[int, typer.Option("--seed", "--rng", min=0, help="Seed of everything that is random.")]
VariableOption = Annotated[str | None, typer.Option("--variable", help="Which variable of a .mat file.")]
ZoomOption = Annotated[float | None, typer.Option("--zoom", help="The spectral zoom h > 0.")]
OrderOption = Annotated[int | None, typer.Option("--order", min=1, help="Order r of the Cayley polynomial.")]
CoeffsOption = Annotated[
    str | None,
    typer.Option("--coeffs", help="Coefficients: '0.5,-0.25,0.1+0.2j', or a file .json .npy .csv .txt."),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="What to fit: low:CUTOFF, high:CUTOFF, band:LOW:HIGH, heat:SCALE, mexican:SCALE, indicator:LOW:HIGH; "
        "the first three with an optional :TRANSITION. A number with an r behind it is relative to the bound of the "
        "spectrum.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add all commands."""
    add: dict[str, tuple[Callable[..., None], str]] = {
        "info": (info, "Example: cayleygsp info roads.mtx -o density.png"),
        "zoom": (zoom, "Example: cayleygsp zoom @minnesota --zoom 0.1 --zoom 1 --zoom 10 -o circles.png"),
        "filter": (filter_, "Example: cayleygsp filter roads.mtx speeds.csv --pass low:0.5 --tol 1e-6 -o smooth.csv"),
        "bound": (bound, "Example: cayleygsp bound @communities --zoom 0.1 --order 12 --sweeps 80 -o bounds.png"),
        "decay": (decay, "Example: cayleygsp decay @grid:31 --vertex 480 --zoom 1 --order 3 -o decay.png"),
        "design": (design, "Example: cayleygsp design --target low:0.5 --order 4 --lmax 8 -o low.json -o low.png"),
        "report": (report, "Example: cayleygsp report @minnesota -o minnesota.html"),
    }
    for name, (function, epilog) in add.items():
        app.command(name, epilog=epilog)(function)


# ----------------------------------------------------------------------------------------------------- info


def info(
    graph: GraphArgument,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Size, degrees, components and spectrum of a graph.

    With -o out.png the density of its frequencies is drawn; no eigenvalues are computed of large graphs.
    """
    check_outputs(output, (".png",), force)
    G, L = _load(graph, kind, variable, seed)
    from cayleygsp.graph_report import draw_density, find_frequencies, graph_facts

    with progress(2) as step:
        step("graph")
        facts = graph_facts(G, L)
        if output:
            _need_edges(L, "the density of its frequencies")
            step("frequencies")
            picture = png_bytes(draw_density(find_frequencies(L, seed)))
            write_outputs(dict.fromkeys(output, picture))
    if json:
        print_json(asdict(facts))
    else:
        print_facts(_said(facts) | _written(output))


def _said(facts: GraphFacts) -> dict[str, str]:
    more = f", the largest of {_vertices(facts.largest_component)}" if facts.n_components > 1 else ""
    return {
        "graph": facts.name,
        "vertices": f"{facts.n_vertices:,}",
        "edges": f"{facts.n_edges:,}" + (f" and {counted(facts.n_loops, 'self-loop')}" if facts.n_loops else ""),
        "components": f"{facts.n_components:,}{more}",
        "without edges": _vertices(facts.n_isolated),
        "degrees": f"{facts.degree_min:.4g} to {facts.degree_max:.4g}, median {facts.degree_median:.4g}, "
        f"mean {facts.degree_mean:.4g}",
        "Laplacian": facts.kind,
        "λ_max": f"at least {facts.lmax_lower:.6g}, certainly at most {facts.lmax_bound:.6g}",
    }


# ----------------------------------------------------------------------------------------------------- zoom


def zoom(
    graph: GraphArgument,
    zooms: Annotated[
        list[float], typer.Option("--zoom", help="A zoom h > 0; can be given several times. Else three that suit.")
    ] = [],  # noqa: B006
    lowest: Annotated[int, typer.Option("--lowest", min=1, help="How many of the lowest frequencies to look at.")] = 15,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """How much of the half circle the lowest frequencies take, and what each zoom resolves.

    With -o the half circles are drawn (.png) or the table is written (.csv).
    """
    for h in zooms:
        _check_positive(h, "--zoom")
    check_outputs(output, (".png", ".csv"), force)
    G, L = _load(graph, kind, variable, seed)
    _need_edges(L, "a zoom")
    for h in zooms:
        _check_product(h, L.lmax)
    if lowest > L.n_vertices:
        raise BadInput(f"--lowest must be at most the number of vertices {L.n_vertices}, got {lowest}")
    from cayleygsp import graph_report

    with progress(2) as step:
        step("frequencies")
        frequencies = graph_report.find_frequencies(L, seed)
        chosen = zooms or graph_report.suggested_zooms(frequencies)
        with input_errors():
            rows = graph_report.zoom_rows(frequencies, chosen, lowest)
        step("files")
        write_outputs(
            {
                path: _rows_bytes(rows)
                if path.suffix.lower() == ".csv"
                else png_bytes(graph_report.draw_half_circles(frequencies, chosen, lowest))
                for path in output
            }
        )
    if json:
        print_json({"exact": frequencies.density.exact, "rows": [asdict(row) for row in rows]})
        return
    how = "" if frequencies.density.exact else ", estimated from the spectral density"
    said = f"{counted(lowest, 'frequency', 'frequencies')}, up to λ = {rows[0].frequency:.4g}{how}"
    print_facts({"graph": _name(G, L), "lowest": said})
    print_table(graph_report.zoom_table(rows))
    if output:
        print_facts(_written(output))


# --------------------------------------------------------------------------------------------------- filter


def filter_(
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
    _check_positive(tol, "--tol")
    if (passing is None) == (coeffs is None):
        raise BadInput("one of --pass and --coeffs must be given, and not both")
    own = _own_polynomial(coeffs, zoom, order) if coeffs is not None else None
    if passing is not None:
        _check_target(passing)
        if zoom is not None and order is None:
            raise BadInput("--zoom goes with --order or with --coeffs")
    G, L = _load(graph, kind, variable, seed)
    for h in (zoom, own.zoom if own is not None else None):
        _check_product(h, L.lmax)
    f = load_signal(signal, L.n_vertices)
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
        print_facts({"graph": _name(G, L), "filter": what} | _said_of_filter(found, seconds) | _written(output))
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
    target = _target(passing, L)
    if order is None and _can_be_itself(target, L, tol):
        return KernelFilter(L, target, tol), f"{_target_name(target)}, itself", None
    _need_edges(L, "a fit")
    weight = graph_weight(L, "auto", seed)
    with input_errors():
        fit = fit_cayley(target, order or DEFAULT_ORDER, L.lmax, zoom or "auto", weight, ridge=DEFAULT_RIDGE)
    polynomial = fit.polynomial
    assert isinstance(polynomial, CayleyPolynomial)
    what = (
        f"{_target_name(target)}, fitted by a Cayley polynomial of order {polynomial.order}, zoom {fit.zoom:.6g}: "
        f"distance {fit.residual_rms:.2g} rms over the spectrum, {fit.residual_max:.2g} at most"
    )
    return CayleyFilter(L, polynomial, tol=tol), what, fit


def _can_be_itself(target: Target, L: Laplacian, tol: float) -> bool:
    """Say whether a response can be applied as it is: through its eigenbasis or a series within the tolerance."""
    if L.n_vertices <= EIGENBASIS_VERTICES:
        return True
    gain = float(np.abs(target(np.linspace(0.0, L.lmax, 1001))).max())
    return bool(np.isfinite(KernelResponse(target).degree_bound(L.lmax, tol * gain)))


def _target_name(target: Target) -> str:
    parameters = ", ".join(f"{name} {value:.4g}" for name, value in vars(target).items() if value or name == "low")
    return f"{target.name} ({parameters})"


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


# ---------------------------------------------------------------------------------------------------- bound


def bound(
    graph: GraphArgument,
    zoom: ZoomOption = None,
    order: OrderOption = None,
    coeffs: CoeffsOption = None,
    target: TargetOption = None,
    sweeps: Annotated[int | None, typer.Option("--sweeps", min=0, help="Jacobi sweeps K to look at.")] = None,
    tol: Annotated[float, typer.Option("--tol", help="Error, relative to the signal, for what it takes.")] = 1e-6,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Error bounds of Jacobi sweeps and of a Chebyshev series, and what an error takes.

    The filter has equal coefficients of total gain one, unless --coeffs or --target is given. With -o the bounds are
    drawn beside errors measured on a random signal (.png), or the table is written (.csv).
    """
    check_outputs(output, (".png", ".csv"), force)
    _check_positive(tol, "--tol")
    asked = _PolynomialOptions(coeffs, target, zoom, order)
    if sweeps is not None and sweeps * asked.n_powers > MOST_SWEEPS:
        raise BadInput(f"--sweeps times the order {asked.n_powers:,} must be at most {MOST_SWEEPS:,}, got {sweeps:,}")
    G, L = _load(graph, kind, variable, seed)
    from cayleygsp import bounds, graph_report

    with progress(3) as step:
        step("filter")
        p = asked.polynomial(L, seed)
        step("bounds")
        draws = any(path.suffix.lower() == ".png" for path in output)
        signal = np.random.default_rng(seed).standard_normal(L.n_vertices) if draws else None
        counts = [*graph_report.SWEEPS, *graph_report.MORE_SWEEPS]
        if sweeps is not None:
            counts = [*(count for count in counts if count < sweeps), sweeps]
        with input_errors():  # not every zoom is one that bounds can be computed for
            rows = graph_report.bound_rows(L, p, counts, signal)
            needed = graph_report.needs(L, p, tol, counts[-1])
            kappa = bounds.kappa(L, p.zoom)
        step("files")
        write_outputs(
            {
                path: _rows_bytes(rows) if path.suffix.lower() == ".csv" else png_bytes(graph_report.draw_bounds(rows))
                for path in output
            }
        )
    if json:
        head = {"kappa": kappa, "order": p.order, "zoom": p.zoom}
        print_json(head | {"rows": [asdict(row) for row in rows], "needs": asdict(needed)})
        return
    said = f"{asked.said}, order {p.order}, zoom {p.zoom:.6g}"
    print_facts({"graph": _name(G, L), "filter": said, "κ": f"{kappa:.6g}"})
    print_table(graph_report.bound_table(rows))
    print(graph_report.say_needs(needed))
    if output:
        print_facts(_written(output))


# ---------------------------------------------------------------------------------------------------- decay


def decay(
    graph: GraphArgument,
    vertex: Annotated[
        int | None, typer.Option("--vertex", min=0, help="Where to look; else a vertex of median degree.")
    ] = None,
    zoom: ZoomOption = None,
    order: OrderOption = None,
    coeffs: CoeffsOption = None,
    target: TargetOption = None,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """How far a filter reaches about a vertex: measured, fitted and proved.

    The filter has equal coefficients of total gain one, unless --coeffs or --target is given. With -o the curves are
    drawn (.png) or written (.csv).
    """
    check_outputs(output, (".png", ".csv"), force)
    asked = _PolynomialOptions(coeffs, target, zoom, order)
    G, L = _load(graph, kind, variable, seed)
    from cayleygsp import graph_report
    from cayleygsp.localization import decay_curve

    if vertex is not None:
        with input_errors():
            check_vertex(vertex, L.n_vertices)
    with progress(3) as step:
        step("filter")
        p = asked.polynomial(L, seed)
        step("localization")
        start = graph_report.typical_vertex(L) if vertex is None else vertex
        with input_errors(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the floor of the curve says what was reached
            curve = decay_curve(CayleyFilter(L, p, tol=1e-10), start)
        step("files")
        write_outputs(
            {
                path: _decay_bytes(curve)
                if path.suffix.lower() == ".csv"
                else png_bytes(graph_report.draw_decay(curve))
                for path in output
            }
        )
    if json:
        print_json(graph_report.decay_numbers(curve) | {"vertex": start, "order": p.order, "zoom": p.zoom})
        return
    said = f"{asked.said}, order {p.order}, zoom {p.zoom:.6g}"
    print_facts({"graph": _name(G, L), "filter": said, "vertex": f"{start:,}"})
    print_table(graph_report.decay_table(curve))
    print(graph_report.say_decay(curve))
    if output:
        print_facts(_written(output))


def _decay_bytes(curve: Decay) -> bytes:
    header = ["hops", "mass", *(one.name.replace(" ", "_") for one in curve.bounds)]
    columns = [curve.hops, curve.mass, *(one.mass for one in curve.bounds)]
    return csv_bytes(header, list(zip(*(column.tolist() for column in columns), strict=True)))


# --------------------------------------------------------------------------------------------------- design


def design(
    target: Annotated[
        str, typer.Option("--target", help="low:CUTOFF, high:CUTOFF, band:LOW:HIGH, heat:SCALE, mexican:SCALE, ...")
    ],
    order: Annotated[int, typer.Option("--order", min=1, help="Order r of the Cayley polynomial.")] = 4,
    graph: Annotated[
        str | None, typer.Option("--graph", help="Fit over the frequencies of this graph, file or built-in.")
    ] = None,
    lmax: Annotated[float | None, typer.Option("--lmax", help="Fit over all of [0, LMAX].")] = None,
    zoom: ZoomOption = None,
    minimax: Annotated[bool, typer.Option("--minimax", help="Make the largest distance small, not the mean.")] = False,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Fit a Cayley polynomial, and a Chebyshev polynomial with as many parameters.

    With -o both are written (.json, which the filter command reads), the Cayley coefficients alone (.csv, .npy), or the
    responses are drawn (.png).
    """
    check_outputs(output, (".json", ".csv", ".npy", ".png"), force)
    if (graph is None) == (lmax is None):
        raise BadInput("one of --graph and --lmax must be given, and not both")
    for value, name in ((lmax, "--lmax"), (zoom, "--zoom")):
        if value is not None:
            _check_positive(value, name)
    _check_target(target)
    from cayleygsp import graph_report

    frequencies, weight, end = None, None, lmax or 0.0
    with progress(3) as step:
        step("frequencies")
        if graph is not None:
            _, L = _load(graph, kind, variable, seed)
            _need_edges(L, "a design")
            frequencies = graph_report.find_frequencies(L, seed)
            weight, end = frequencies.weight, L.lmax
        _check_product(zoom, end)
        step("fit")
        with input_errors():
            goal = parse_target(target, end)
            fits = graph_report.compare_fits(
                goal, order, end, weight, zoom=zoom or "auto", norm="minimax" if minimax else "least-squares"
            )
        step("files")
        numbers = {"target": target, "lmax": end, "norm": fits["Cayley"].norm}
        numbers |= {name.lower(): graph_report.fit_numbers(fit) for name, fit in fits.items()}
        write_outputs(
            {
                path: png_bytes(graph_report.draw_fits(goal, fits, end, frequencies))
                if path.suffix.lower() == ".png"
                else _coefficient_bytes(fits["Cayley"], numbers, path.suffix.lower())
                for path in output
            }
        )
    if json:
        print_json(numbers)
        return
    over = "all frequencies alike" if frequencies is None else f"the frequencies of {graph}"
    print_facts({"target": _target_name(goal), "over": f"[0, {end:.6g}], {over}", "made small": fits["Cayley"].norm})
    print_table(graph_report.fit_table(fits))
    if output:
        print_facts(_written(output))


def _coefficient_bytes(fit: Fit, numbers: dict[str, Any], ending: str) -> bytes:
    """Return the fit as a file: all of it as JSON, the coefficients as an array, or as columns below the zoom."""
    import json

    if ending == ".json":
        return (json.dumps(numbers, indent=2, allow_nan=False) + "\n").encode()
    c = fit.polynomial.coeffs
    if ending == ".npy":
        return array_bytes(c, ending)
    head = f"# Cayley polynomial of order {c.size - 1}, zoom {fit.zoom!r}: real and imaginary parts\n"
    return head.encode() + array_bytes(np.stack([c.real, c.imag], axis=1), ending)


# --------------------------------------------------------------------------------------------------- report


def report(
    graph: GraphArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write, .html.")],
    order: Annotated[int, typer.Option("--order", min=1, help="Order of the filter that is designed.")] = 4,
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """All of it for one graph, as one page that needs no other file.

    Graph, frequencies, zoom, a filter designed for it, bounds, localization and cost. Large graphs take longer but
    nothing dense: no eigenvalues are computed of them.
    """
    check_outputs([output], (".html",), force)
    G, L = _load(graph, kind, variable, seed)
    from cayleygsp import __version__, graph_report
    from cayleygsp._html import render_page

    start = time.perf_counter()
    with progress(len(graph_report.STEPS) + 1) as step, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what was reached stands in the tables
        with input_errors():
            found = graph_report.report_on(G, L.kind, order=order, rng=seed, step=step)
        step("page")
        seconds = time.perf_counter() - start
        lead = (
            f"{_vertices(L.n_vertices)} and {counted(L.n_edges, 'edge')}: what the frequencies of this graph are, what "
            "a spectral zoom does to them, a Cayley filter designed for it, how far off it can be, how far it reaches, "
            "and what it costs."
        )
        foot = {
            "Command": f"cayleygsp report {graph} --laplacian {L.kind} --order {order} --seed {seed}",
            "Versions": f"cayleygsp {__version__}, numpy {np.__version__}",
            "Date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "Time": f"{seconds:.1f} s",
        }
        page = render_page(f"The graph {G.name or graph}", lead, found.sections, foot)
        # the name of a file can be no text
        write_outputs({output: page.encode(errors="replace")})
    if json:
        print_json(found.numbers | {"seconds": seconds})
    else:
        print_facts({"graph": _name(G, L), "time": f"{seconds:.1f} s"} | _written([output]))


# -------------------------------------------------------------------------------------------------- helpers


class _PolynomialOptions:
    """Which Cayley polynomial a user asked for; checked when made, computed when the graph is there."""

    def __init__(self, coeffs: str | None, target: str | None, zoom: float | None, order: int | None) -> None:
        if coeffs is not None and target is not None:
            raise BadInput("--coeffs and --target must not both be given")
        self.target, self.zoom, self.order = target, zoom, order
        self.own: CayleyPolynomial | None = None
        if zoom is not None:
            _check_positive(zoom, "--zoom")
        if coeffs is not None:
            self.own, self.said = _own_polynomial(coeffs, zoom, order), "own coefficients"
        elif target is not None:
            _check_target(target)
            self.said = f"fitted to {target}"
        else:
            if zoom is None or order is None:
                raise BadInput("--zoom and --order must be given, or --coeffs, or --target")
            # 2 Σ |c_j| = 1: where all powers agree the response is ±1
            self.own = CayleyPolynomial(np.append(0.0, np.full(order, 0.5 / order)), zoom)
            self.said = "equal coefficients of total gain 1"

    @property
    def n_powers(self) -> int:
        """The order that it will have."""
        return self.own.order if self.own is not None else self.order or DEFAULT_ORDER

    def polynomial(self, L: Laplacian, seed: int) -> CayleyPolynomial:
        """Return it, fitted over the frequencies of the graph if it is to be fitted."""
        if self.own is not None:
            _check_product(self.own.zoom, L.lmax)
            return self.own
        _check_product(self.zoom, L.lmax)
        assert self.target is not None
        goal = _target(self.target, L)
        _need_edges(L, "a fit")
        weight = graph_weight(L, "auto", seed)
        with input_errors():
            fit = fit_cayley(goal, self.order or DEFAULT_ORDER, L.lmax, self.zoom or "auto", weight)
        assert isinstance(fit.polynomial, CayleyPolynomial)
        return fit.polynomial


def _own_polynomial(coeffs: str, zoom: float | None, order: int | None) -> CayleyPolynomial:
    if zoom is not None:
        _check_positive(zoom, "--zoom")
    c, h = load_coefficients(coeffs, zoom)
    with input_errors():
        p = CayleyPolynomial(c, h)
    if order not in (None, p.order):
        raise BadInput(f"--order must be left out with --coeffs, which make order {p.order}, got {order}")
    return p


def _check_target(text: str) -> None:
    """Refuse what no graph makes a target; relative numbers are read once the graph is there."""
    with input_errors():
        parse_target(text, 1.0)


def _target(text: str, L: Laplacian) -> Target:
    try:
        return parse_target(text, L.lmax if L.lmax > 0 else None)
    except ValueError as error:
        if L.lmax == 0:  # without a graph this was a target: its numbers are relative
            _need_edges(L, f"the relative numbers in {text!r}")
        raise BadInput(one_line(error)) from None


def _check_positive(value: float, name: str) -> None:
    if not (math.isfinite(value) and value > 0):
        raise BadInput(f"{name} must be positive and finite, got {value:g}")


def _check_product(zoom: float | None, lmax: float) -> None:
    if zoom is not None and not math.isfinite(zoom * lmax):
        raise BadInput(f"--zoom times the bound of the spectrum {lmax:.6g} must be finite, got {zoom:g}")


def _load(name: str, kind: Kind, variable: str | None, seed: int) -> tuple[Graph, Laplacian]:
    G = load_graph(name, variable, seed)
    with input_errors():
        return G, laplacian(G, kind.value)


def _need_edges(L: Laplacian, what: str) -> None:
    if L.lmax == 0:
        raise BadInput(f"the graph must have edges for {what}: all its frequencies are zero")


def _name(G: Graph, L: Laplacian) -> str:
    return (
        f"{G.name or 'graph'}: {_vertices(L.n_vertices)}, {counted(L.n_edges, 'edge')}, {L.kind} Laplacian, spectrum "
        f"in [0, {L.lmax:.6g}]"
    )


def _vertices(n: int) -> str:
    return counted(n, "vertex", "vertices")


def _rows_bytes(rows: Sequence[ZoomRow] | Sequence[BoundRow]) -> bytes:
    return csv_bytes(list(asdict(rows[0])), [list(asdict(row).values()) for row in rows])


def _written(paths: list[Path]) -> dict[str, str]:
    return {"written": ", ".join(map(str, paths))} if paths else {}
