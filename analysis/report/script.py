"""The script: compute, draw and write the report."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from analysis._script import now, package_versions
from analysis.report import experiments, methods
from analysis.report.denoising import NOISE, denoising_section, noisy_signal
from analysis.report.graph import N_KEPT, RIDGE, compute_spectrum, filter_section, fit_low_pass, graph_section
from analysis.report.parts import parts_section, run_in_parts
from cayleygsp._files import write_files
from cayleygsp._format import format_tol
from cayleygsp._html import Section, render_page
from cayleygsp.cli.outputs import progress
from cayleygsp.explorer import NamedFilter, explorer_page
from cayleygsp.report.bounds import bounds_section
from cayleygsp.report.design import design_section
from cayleygsp.report.frequencies import density_section, find_frequencies
from cayleygsp.report.localization import decay_section
from cayleygsp.report.page import joined
from cayleygsp.report.zoom import zoom_section
from cayleygsp.responses.cayley import as_cayley

ZOOMS = (0.1, 1.0, 10.0)


def write_report(folder: Path, sections: Sequence[Section], numbers: Any, foot: dict[str, str], explorer: str) -> Path:
    """Write pages, pictures and numbers; earlier ones stay as they are until all is ready."""
    lead = (
        "Graph filters that are rational in the Laplacian, after the CayleyNets paper: the spectrum that they see and "
        "what a zoom does to it, a filter designed for one graph, what it does to a signal, what each way to apply it "
        "costs and is proved to be off by, and how far it reaches."
    )
    beside = {"explorer.html": "Move the zoom by hand, on a page beside this one: explorer.html"}
    page = render_page("A Cayley filter on the 15-community graph", lead, sections, foot, beside)
    files = {f"{picture.name}.png": picture.png for section in sections for picture in section.pictures}
    files["report.json"] = (json.dumps(numbers, indent=2, allow_nan=False) + "\n").encode()
    files["report.html"] = page.encode()
    files["explorer.html"] = explorer.encode()
    write_files(folder, files)
    return folder / "report.html"


def make_report(args: argparse.Namespace, step: Callable[[str], None]) -> Path:
    """Compute, draw and write; ``step`` is told what begins."""
    step("spectrum of the graph")
    spectrum = compute_spectrum(args.seed)
    L = spectrum.laplacian
    step("fit of the filter")
    fits = fit_low_pass(spectrum)
    polynomial = as_cayley(fits["Cayley"].polynomial)
    step("noisy signal")
    community, clean, noisy = noisy_signal(spectrum.graph, args.seed)
    runs = []
    for method, tol, n_iter in methods.settings(args.quick):
        step(f"method {method}, " + (f"tol = {format_tol(tol)}" if n_iter is None else f"K = {n_iter}"))
        runs.append(methods.run_method(spectrum, polynomial, noisy, method, tol, n_iter))
    step("the graph in parts")
    in_parts = run_in_parts(spectrum, polynomial, noisy)
    small_forms: list[Section] = []
    if not args.quick:
        step("small forms of the experiments")
        small_forms, small = experiments.experiment_sections(["--seed", str(args.seed)])
    step("pictures, bounds and localization")
    frequencies = find_frequencies(L)
    sections, numbers = joined(
        [
            graph_section(spectrum),
            density_section(frequencies),
            zoom_section(frequencies, ZOOMS, N_KEPT),
            design_section(fits, frequencies),
            filter_section(spectrum, polynomial),
            denoising_section(spectrum, polynomial, community, clean, noisy),
            methods.methods_section(runs),
            parts_section(in_parts),
            bounds_section(L, polynomial, noisy, methods.SWEEPS, methods.SWEEPS[-1]),
            decay_section(L, polynomial),
            *((section, {}) for section in small_forms),
        ]
    )
    step("files")
    date, versions = now(), package_versions()
    foot = {
        "Seed": str(args.seed),
        "Settings": f"{'quick' if args.quick else 'full'} run, order {polynomial.order}, zoom {polynomial.zoom:.6g}, "
        f"ridge {RIDGE:g}, noise {NOISE:g}",
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "Date": date,
    }
    numbers = {"date": date, "seed": args.seed, "quick": args.quick, "versions": versions, **numbers}
    if small_forms:
        numbers["experiments"] = small
    own = NamedFilter("the low pass of the report", polynomial)
    explorer = explorer_page(spectrum.graph, L, filters=[own], rng=args.seed)
    return write_report(args.out, sections, numbers, foot, explorer)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m analysis.report",
        description="Write a report on one Cayley filter on the built-in 15-community graph: the graph, its spectrum "
        "and the zoom, the filter's design and response, its effect on a noisy signal, cost and error of every method, "
        "error bounds and localization, and small forms of the experiments with networks. For a report on a graph of "
        "your own use the command cayleygsp report.",
        epilog="OUT/report.html holds everything and can be sent as it is; the pictures stand beside it as PNG files, "
        "the numbers as report.json, and explorer.html lets you move the zoom by hand. "
        "A run that fails leaves an earlier report as it was.",
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to (default: %(default)s)")
    parser.add_argument(
        "--quick", action="store_true", help="leave out what takes long: Jacobi with 1000 sweeps, the networks"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of graph and noise, 0 or more; same seed, same numbers (default: 0)"
    )
    args = parser.parse_args(argv)
    if args.seed < 0:
        parser.error(f"--seed must be 0 or more, got {args.seed}")
    if args.out.exists() and not args.out.is_dir():
        parser.error(f"--out must be a folder, got the file {args.out}")
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Write the report and print where it is."""
    args = parse_arguments(argv)
    with progress(6 + (not args.quick) + len(methods.settings(args.quick))) as step:
        path = make_report(args, step)
    print(path)
    return 0
