"""The main report: a Cayley filter on the 15-community graph, designed, seen, used, bounded, applied by every method.

Run ``python -m analysis.report`` and open ``out/report.html``.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis._document import now, package_versions
from cayleygsp import gallery, plotting
from cayleygsp._files import write_files
from cayleygsp._html import Picture, Section, Table, render_page
from cayleygsp._typing import FloatArray, Method
from cayleygsp.cli.printing import progress
from cayleygsp.design import Fit, LowPass, fit_cayley, fit_chebyshev
from cayleygsp.localization import decay_curve
from cayleygsp.report.bound_numbers import bound_rows, needs
from cayleygsp.report.bounds import bounds_section
from cayleygsp.report.density import density_section
from cayleygsp.report.design import design_section, fit_numbers
from cayleygsp.report.facts import typical_vertex
from cayleygsp.report.frequencies import find_frequencies
from cayleygsp.report.localization import decay_numbers, decay_section
from cayleygsp.report.page import finite_numbers
from cayleygsp.report.zoom import zoom_section

ZOOMS = (0.1, 1.0, 10.0)
N_KEPT = 15
ORDER = 8
RIDGE = 1e-3
NOISE = 0.3
TOLERANCES = (1e-3, 1e-6, 1e-10)
SWEEPS = (1, 5, 9, 13, 100)
SWEEPS_FULL = (1000,)
DEFAULT_TOL = 1e-6
WIDTH = 6.5  # inches


@dataclass(frozen=True)
class Spectrum:
    """The graph, its Laplacian, and its spectrum by a dense solver that is not the package's."""

    graph: cg.Graph
    laplacian: cg.Laplacian
    eigenvalues: FloatArray
    eigenvectors: FloatArray


@dataclass(frozen=True)
class Denoising:
    """A signal on one community, with noise, and filtered."""

    community: int
    clean: FloatArray
    noisy: FloatArray
    filtered: FloatArray

    def rms_error(self, signal: FloatArray) -> float:
        """Return the root mean square distance to the clean signal."""
        return float(np.sqrt(np.mean((signal - self.clean) ** 2)))

    def snr(self, signal: FloatArray) -> float:
        """Return the ratio of the energies of clean signal and error, in decibels."""
        return float(10 * np.log10(np.sum(self.clean**2) / np.sum((signal - self.clean) ** 2)))


@dataclass(frozen=True)
class Run:
    """One filter applied by one method; errors are relative to gain times norm of the signal, times in seconds."""

    method: str
    setting: str
    tol: float
    n_iter: int | None
    n_matvecs: int
    prepare_seconds: float
    apply_seconds: float
    measured_error: float
    certified_bound: float
    converged: bool
    used: str
    reason: str

    @property
    def name(self) -> str:
        """Method and setting."""
        return f"{self.method}, {self.setting}" if self.setting else self.method


# ---------------------------------------------------------------------------------------------- computing


def compute_spectrum(seed: int) -> Spectrum:
    """Return the 15-community graph with its combinatorial Laplacian and numpy's eigendecomposition of it."""
    graph = gallery.communities(rng=seed)
    L = cg.laplacian(graph, "combinatorial")
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    return Spectrum(graph, L, np.maximum(lam, 0.0), Phi)


def fit_low_pass(spectrum: Spectrum) -> dict[str, Fit]:
    """Fit polynomials that keep the first frequencies and stop the others; in the gap between, any value will do.

    One is a Cayley polynomial whose ridge keeps its coefficients as small as the response, the other the Chebyshev
    polynomial with as many parameters.
    """
    lam, lmax = spectrum.eigenvalues, spectrum.laplacian.lmax
    last, first = float(lam[N_KEPT - 1]), float(lam[N_KEPT])
    # both ends of the gap matter, so the transition is a little narrower
    target = LowPass((last + first) / 2, transition=0.999 * (first - last))
    cayley = fit_cayley(target, ORDER, lmax, weight=lam, ridge=RIDGE)
    return {"Cayley": cayley, "Chebyshev": fit_chebyshev(target, 2 * ORDER + 1, lmax, weight=lam, ridge=RIDGE)}


def compute_denoising(spectrum: Spectrum, polynomial: cg.CayleyPolynomial, seed: int) -> Denoising:
    """Filter the indicator of the largest community with noise everywhere."""
    labels = spectrum.graph.labels
    assert labels is not None
    community = int(np.argmax(np.bincount(labels)))
    clean = (labels == community).astype(np.float64)
    noise = NOISE * np.random.default_rng((seed, 1)).standard_normal(clean.size)
    noisy = clean + noise
    filtered = cg.CayleyFilter(spectrum.laplacian, polynomial, tol=DEFAULT_TOL).filter(noisy)
    return Denoising(community, clean, noisy, filtered)


def settings(quick: bool) -> list[tuple[Method, float, int | None]]:
    """List what is compared: method, tolerance, and for Jacobi the number of sweeps."""
    rows: list[tuple[Method, float, int | None]] = [("exact", DEFAULT_TOL, None)]
    rows += [("chebyshev", tol, None) for tol in TOLERANCES]
    rows += [("multigrid", tol, None) for tol in TOLERANCES]
    rows += [("jacobi", DEFAULT_TOL, K) for K in SWEEPS + (() if quick else SWEEPS_FULL)]
    return [*rows, ("auto", DEFAULT_TOL, None)]


def run_method(
    spectrum: Spectrum, polynomial: cg.CayleyPolynomial, f: FloatArray, method: Method, tol: float, n_iter: int | None
) -> Run:
    """Apply the filter by one method and compare with the dense reference Φ g(Λ) Φᵀ f.

    Each time is the best of three runs that start from the graph, with nothing known of its spectrum.
    """
    prepare, apply = math.inf, math.inf
    for _ in range(3):
        start = time.perf_counter()
        g = cg.CayleyFilter(spectrum.graph, polynomial, method, tol, n_iter=n_iter)
        prepared = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cg.ConvergenceWarning)
            y, info = g.filter(f, return_info=True)
        done = time.perf_counter()
        prepare, apply = min(prepare, prepared - start), min(apply, done - prepared)
    Phi = spectrum.eigenvectors
    reference = Phi @ (polynomial(spectrum.eigenvalues) * (Phi.T @ f))
    setting = f"K = {n_iter}" if n_iter is not None else "" if method == "exact" else f"tol = {_power(tol)}"
    return Run(
        method=method,
        setting=setting,
        tol=tol,
        n_iter=n_iter,
        n_matvecs=info.n_matvecs,
        prepare_seconds=prepare,
        apply_seconds=apply,
        measured_error=float(np.linalg.norm(y - reference) / (info.gain * np.linalg.norm(f))),
        certified_bound=float(info.error_bound / info.gain),
        converged=info.converged,
        used=info.method,
        reason=info.reason,
    )


# ------------------------------------------------------------------------------------------------ drawing


def draw_graph(graph: cg.Graph) -> Figure:
    """Draw the graph with its communities."""
    figure = Figure(figsize=(WIDTH, 5.2), layout="constrained")
    plotting.graph(graph, ax=figure.subplots(), s=22)
    return figure


def draw_response(spectrum: Spectrum, polynomial: cg.CayleyPolynomial) -> Figure:
    """Draw the response over frequency and over the unrolled half circle."""
    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    over_lambda, unrolled = figure.subplots(2, 1)
    lam = spectrum.eigenvalues
    plotting.response(polynomial, float(lam[-1]), eigenvalues=lam, ax=over_lambda)
    plotting.unrolled_response(polynomial, lam, n_marked=N_KEPT, ax=unrolled)
    return figure


def draw_signals(graph: cg.Graph, denoising: Denoising) -> Figure:
    """Draw the clean, the noisy and the filtered signal with one colour scale."""
    figure = Figure(figsize=(WIDTH, 3.0), layout="constrained")
    axes = figure.subplots(1, 3)
    largest = float(np.abs(denoising.noisy).max())
    norm = Normalize(-largest, largest)
    signals = {"clean": denoising.clean, "noisy": denoising.noisy, "filtered": denoising.filtered}
    for ax, (name, signal) in zip(axes, signals.items(), strict=True):
        plotting.graph(
            graph, signal, ax=ax, colorbar=False, norm=norm, cmap="coolwarm", s=11, edge_style={"linewidths": 0.3}
        )
        below = (
            f"1 on community {denoising.community}"
            if name == "clean"
            else f"RMS error {denoising.rms_error(signal):.3f}"
        )
        ax.set_title(f"{name}\n{below}", fontsize="medium")
    figure.colorbar(
        axes[-1].collections[-1], ax=axes, location="bottom", shrink=0.5, aspect=40, label="value of the signal"
    )
    return figure


def draw_errors(runs: Sequence[Run]) -> Figure:
    """Draw measured error and certified bound of every run."""
    figure = Figure(figsize=(WIDTH, 0.9 + 0.27 * len(runs)), layout="constrained")
    notes = [f"{run.n_matvecs:,} passes" for run in runs]
    measured, bounds = [run.measured_error for run in runs], [run.certified_bound for run in runs]
    plotting.error_bars([run.name for run in runs], measured, bounds, notes=notes, ax=figure.subplots())
    return figure


# ----------------------------------------------------------------------------------------------- sections


def graph_section(spectrum: Spectrum) -> Section:
    """Show the graph."""
    graph, lam = spectrum.graph, spectrum.eigenvalues
    sizes = np.bincount(np.asarray(graph.labels))
    text = (
        f"{sizes.size} communities of {sizes.min()} to {sizes.max()} vertices, {graph.n_vertices} vertices and "
        f"{graph.n_edges} edges in all. The frequencies of the graph are the eigenvalues λ of its combinatorial "
        f"Laplacian, from 0 to {lam[-1]:.3g}. The first {N_KEPT} go up to {lam[N_KEPT - 1]:.3g}, the next is "
        f"{lam[N_KEPT]:.3g}: signals that are nearly constant on communities live on the first {N_KEPT}."
    )
    picture = Picture.from_figure(
        "graph",
        draw_graph(graph),
        "A graph of separate discs, one a community, with few edges between them.",
        "Colour, marker and number tell the communities apart; lines are edges.",
        shrinks=True,
    )
    return Section("The graph", [text], [picture])


def filter_section(spectrum: Spectrum, polynomial: cg.CayleyPolynomial) -> Section:
    """Show the response of the filter."""
    g = polynomial(spectrum.eigenvalues)
    text = (
        f"The Cayley polynomial of order {polynomial.order} with zoom h = {polynomial.zoom:.3g} multiplies the first "
        f"{N_KEPT} frequencies by {g[:N_KEPT].min():.2f} to {g[:N_KEPT].max():.2f}, the one after them by "
        f"{g[N_KEPT]:.2f}, and every other by at most {np.abs(g[N_KEPT + 1 :]).max():.3f} in size."
    )
    picture = Picture.from_figure(
        "response",
        draw_response(spectrum, polynomial),
        "Two curves that fall from one to zero: steeply over frequency, gently over the unrolled half circle.",
        f"The response over frequency (above) and over the unrolled half circle (below). Grey lines are the "
        f"frequencies of the graph, below the first {N_KEPT} of them darker.",
    )
    return Section("Its response", [text], [picture])


def denoising_section(spectrum: Spectrum, denoising: Denoising) -> Section:
    """Show what the filter does to a noisy signal."""
    noisy, filtered = denoising.noisy, denoising.filtered
    before, after = denoising.rms_error(noisy), denoising.rms_error(filtered)
    change = f"{before / after:.1f} times smaller" if after < before else f"{after / before:.1f} times larger"
    text = (
        f"The signal is 1 on community {denoising.community} and 0 elsewhere, with Gaussian noise of standard "
        f"deviation {NOISE} on every vertex. The root mean square error is {before:.3f} before filtering and "
        f"{after:.3f} after, {change}; the signal-to-noise ratio goes from {denoising.snr(noisy):.1f} dB to "
        f"{denoising.snr(filtered):.1f} dB."
    )
    picture = Picture.from_figure(
        "denoising",
        draw_signals(spectrum.graph, denoising),
        "The graph three times: one community lit, the same under noise, and lit again after filtering.",
    )
    return Section("Its effect on a noisy signal", [text], [picture])


def methods_section(runs: Sequence[Run]) -> Section:
    """Compare the methods."""
    text = (
        "The same filter on the same noisy signal by every method. A pass is one product of the Laplacian with the "
        "signal. Errors are ‖y − g(Δ)f‖ / (sup|g| ‖f‖): measured against a dense eigendecomposition by numpy, and as "
        "certified by the method, which knows nothing of that. A run has converged if the bound is within the "
        f"tolerance ({_power(DEFAULT_TOL)} where none is given). Times are from this machine; preparation "
        "starts from the adjacency matrix."
    )
    header = [
        "method",
        "setting",
        "passes",
        "prepare, ms",
        "apply, ms",
        "measured error",
        "certified bound",
        "converged",
    ]
    rows = [
        [
            run.method,
            run.setting,
            f"{run.n_matvecs:,}",
            f"{1e3 * run.prepare_seconds:.1f}",
            f"{1e3 * run.apply_seconds:.1f}",
            f"{run.measured_error:.1e}",
            f"{run.certified_bound:.1e}" if math.isfinite(run.certified_bound) else "none",
            "yes" if run.converged else "no",
        ]
        for run in runs
    ]
    picture = Picture.from_figure(
        "methods",
        draw_errors(runs),
        "For each method a dot, the measured error, left of a bar's end, the certified bound.",
        "Measured errors (dots) and certified bounds (ends of the bars), with the passes over the graph at the right.",
    )
    return Section("One filter, every method", [text], [picture], Table(header, rows, n_text=2), describe_runs(runs))


def describe_runs(runs: Sequence[Run]) -> list[str]:
    """Say in words what the numbers show; every statement is computed."""
    return [" ".join([_say_bounds(runs), _say_jacobi(runs)]), " ".join([_say_tolerance(runs), _say_auto(runs)])]


def _say_bounds(runs: Sequence[Run]) -> str:
    n_below = sum(run.measured_error <= run.certified_bound for run in runs)
    useless = [run.name for run in runs if run.certified_bound >= 1]
    first = f"The measured error is below the certified bound in {n_below} of {len(runs)} rows."
    if not useless:
        return first
    return f"{first} A bound of 1 or more certifies nothing; that is so for {_listed(useless)}."


def _say_jacobi(runs: Sequence[Run]) -> str:
    jacobi = [run for run in runs if run.method == "jacobi"]
    best = min(jacobi, key=lambda run: run.measured_error)
    cheb = next(run for run in runs if run.method == "chebyshev" and run.tol == DEFAULT_TOL)
    sentences = [
        f"The most accurate Jacobi run, K = {best.n_iter}, takes {_times(best.n_matvecs, cheb.n_matvecs)} the passes "
        f"of Chebyshev with tolerance {_power(cheb.tol)} ({best.n_matvecs:,} against {cheb.n_matvecs:,}), and its "
        f"error is {_times(best.measured_error, cheb.measured_error)} that of Chebyshev."
    ]
    for few, many in pairwise(jacobi):
        if many.measured_error > few.measured_error:
            sentences.append(
                f"More sweeps can make it worse: from K = {few.n_iter} to K = {many.n_iter} the error grows from "
                f"{few.measured_error:.1e} to {many.measured_error:.1e}."
            )
            break
    return " ".join(sentences)


def _say_tolerance(runs: Sequence[Run]) -> str:
    parts = []
    for method in ("chebyshev", "multigrid"):
        rows = [run for run in runs if run.method == method]
        growth = _times(rows[-1].n_matvecs, rows[0].n_matvecs)
        parts.append(f"{method} {growth} the passes ({rows[-1].n_matvecs:,} against {rows[0].n_matvecs:,})")
    return f"Going from tolerance {_power(TOLERANCES[0])} to {_power(TOLERANCES[-1])} costs {' and '.join(parts)}."


def _say_auto(runs: Sequence[Run]) -> str:
    auto = next(run for run in runs if run.method == "auto")
    return f"The automatic choice was {auto.used} ({auto.reason})."


def _times(a: float, b: float) -> str:
    """Write a/b as a factor with two digits, as whole numbers from 10 on."""
    ratio = a / b if b else math.inf
    digits = f"{float(f'{ratio:.2g}'):,.0f}" if 10 <= ratio < 1e5 else f"{ratio:.2g}"
    return f"{digits} times"


def _power(tol: float) -> str:
    """Write a tolerance: 1e-6, not 1e-06."""
    return f"{tol:.0e}".replace("e-0", "e-")


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{'; '.join(words[:-1])} and {words[-1]}"


# ------------------------------------------------------------------------------------------------ writing


def collect_numbers(
    args: argparse.Namespace,
    date: str,
    spectrum: Spectrum,
    polynomial: cg.CayleyPolynomial,
    denoising: Denoising,
    runs: Sequence[Run],
    more: dict[str, Any],
) -> dict[str, Any]:
    """Return everything that the report says as numbers, ready for JSON."""
    g = polynomial(spectrum.eigenvalues)
    return {
        "date": date,
        "seed": args.seed,
        "quick": args.quick,
        "versions": package_versions(),
        "graph": {"n_vertices": spectrum.graph.n_vertices, "n_edges": spectrum.graph.n_edges},
        "eigenvalues": spectrum.eigenvalues.tolist(),
        "filter": {
            "order": polynomial.order,
            "zoom": polynomial.zoom,
            "coeffs_real": polynomial.coeffs.real.tolist(),
            "coeffs_imag": polynomial.coeffs.imag.tolist(),
            "kept_min": float(g[:N_KEPT].min()),
            "kept_max": float(g[:N_KEPT].max()),
            "stopped_max": float(np.abs(g[N_KEPT:]).max()),
        },
        "denoising": {
            "community": denoising.community,
            "noise": NOISE,
            "rms_error_noisy": denoising.rms_error(denoising.noisy),
            "rms_error_filtered": denoising.rms_error(denoising.filtered),
            "snr_noisy_db": denoising.snr(denoising.noisy),
            "snr_filtered_db": denoising.snr(denoising.filtered),
        },
        "methods": [{key: None if value == math.inf else value for key, value in asdict(run).items()} for run in runs],
        **finite_numbers(more),
    }


def footer(args: argparse.Namespace, date: str, polynomial: cg.CayleyPolynomial) -> dict[str, str]:
    """Return the lines at the end of the page."""
    return {
        "Seed": str(args.seed),
        "Settings": f"{'quick' if args.quick else 'full'} run, order {polynomial.order}, zoom {polynomial.zoom:.6g}, "
        f"ridge {RIDGE:g}, noise {NOISE:g}",
        "Versions": ", ".join(f"{name} {version}" for name, version in package_versions().items()),
        "Date": date,
    }


def write_report(folder: Path, sections: Sequence[Section], numbers: Any, foot: dict[str, str]) -> Path:
    """Write page, pictures and numbers; earlier ones stay as they are until all is ready."""
    lead = (
        "Graph filters that are rational in the Laplacian, after the CayleyNets paper: the spectrum that they see and "
        "what a zoom does to it, a filter designed for one graph, what it does to a signal, what each way to apply it "
        "costs and is proved to be off by, and how far it reaches."
    )
    page = render_page("A Cayley filter on the 15-community graph", lead, sections, foot)
    files = {f"{picture.name}.png": picture.png for section in sections for picture in section.pictures}
    files["report.json"] = (json.dumps(numbers, indent=2, allow_nan=False) + "\n").encode()
    files["report.html"] = page.encode()
    write_files(folder, files)
    return folder / "report.html"


def study_graph(spectrum: Spectrum, fits: dict[str, Fit], signal: FloatArray) -> tuple[list[Section], dict[str, Any]]:
    """Return the sections that any graph has, on this one: density, zoom, design, bounds and localization."""
    L, polynomial = spectrum.laplacian, fits["Cayley"].polynomial
    assert isinstance(polynomial, cg.CayleyPolynomial)
    frequencies = find_frequencies(L)
    zoom, zoom_rows = zoom_section(frequencies, ZOOMS, N_KEPT)
    target = fits["Cayley"].target
    assert isinstance(target, LowPass)
    rows = bound_rows(L, polynomial, SWEEPS, signal)
    needed = needs(L, polynomial, DEFAULT_TOL, SWEEPS[-1])
    vertex = typical_vertex(L)
    curve = decay_curve(cg.CayleyFilter(L, polynomial, tol=1e-10), vertex)
    sections = [
        density_section(frequencies),
        zoom,
        design_section(target, fits, frequencies),
        bounds_section(L, polynomial, rows, needed),
        decay_section(curve, vertex),
    ]
    numbers = {
        "zoom": [asdict(row) for row in zoom_rows],
        "design": {name: fit_numbers(fit) for name, fit in fits.items()},
        "bounds": {"kappa": cg.bounds.kappa(L, polynomial.zoom), "rows": [asdict(row) for row in rows]},
        "needs": asdict(needed),
        "decay": decay_numbers(curve) | {"vertex": vertex},
    }
    return sections, numbers


def experiment_sections(argv: Sequence[str]) -> tuple[list[Section], dict[str, Any]]:
    """Return the small forms of the paper's first experiment and of its timing study.

    Parameters
    ----------
    argv : sequence of str
        What both scripts are called with besides ``--quick``.
    """
    from analysis import community, complexity

    with TemporaryDirectory() as work:
        _, trained = community.compute(["--quick", *argv, "--work", work], quiet=True)
    _, timed = complexity.compute(["--quick", *argv], quiet=True)
    config = trained["config"]
    learning = Section(
        "The paper's first experiment, in small",
        [
            f"Which of 15 communities is a noisy step signal on? One convolution with {community.N_FEATURES} features, "
            f"the mean over the vertices and a softmax, trained on {config['n_train']} signals; test accuracy in %, "
            f"mean and deviation over {trained['n_runs']} runs. The whole protocol is python -m analysis.community.",
        ],
        [
            Picture.from_figure(
                "community",
                community.draw(trained),
                "Accuracy over order for all methods, learned filters, and learned zooms over the spectral gap.",
            )
        ],
        Table(*community.table(trained)),
        community.findings(trained),
    )
    timing = Section(
        "Time of a layer, in small",
        [
            "Mean time of a training step and its ratio to ChebNet, in brackets the paper's ratio and the difference. "
            "Sizes are too small for the ratios to mean much: the whole study is python -m analysis.complexity.",
        ],
        [
            Picture.from_figure(
                "complexity", complexity.draw(timed), "Times and ratios over order and size, test above training."
            )
        ],
        Table(*complexity.table(timed["by_order"], "training", "order")),
    )
    return [learning, timing], {"community": trained["rows"], "complexity": timed["by_order"]}


def make_report(args: argparse.Namespace, step: Callable[[str], None]) -> Path:
    """Compute, draw and write; ``step`` is told what begins."""
    step("spectrum of the graph")
    spectrum = compute_spectrum(args.seed)
    step("fit of the filter")
    fits = fit_low_pass(spectrum)
    polynomial = fits["Cayley"].polynomial
    assert isinstance(polynomial, cg.CayleyPolynomial)
    step("noisy signal")
    denoising = compute_denoising(spectrum, polynomial, args.seed)
    runs = []
    for method, tol, n_iter in settings(args.quick):
        step(f"method {method}, " + (f"tol = {_power(tol)}" if n_iter is None else f"K = {n_iter}"))
        runs.append(run_method(spectrum, polynomial, denoising.noisy, method, tol, n_iter))
    step("bounds and localization")
    (density, zoom, design, bounds, decay), more = study_graph(spectrum, fits, denoising.noisy)
    experiments: list[Section] = []
    if not args.quick:
        step("small forms of the experiments")
        experiments, small = experiment_sections(["--seed", str(args.seed)])
        more |= {"experiments": small}
    step("pictures")
    sections = [
        graph_section(spectrum),
        density,
        zoom,
        design,
        filter_section(spectrum, polynomial),
        denoising_section(spectrum, denoising),
        methods_section(runs),
        bounds,
        decay,
        *experiments,
    ]
    step("files")
    date = now()
    numbers = collect_numbers(args, date, spectrum, polynomial, denoising, runs, more)
    return write_report(args.out, sections, numbers, footer(args, date, polynomial))


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m analysis.report",
        description="Write a report on one Cayley filter on the built-in 15-community graph: the graph, its spectrum "
        "and the zoom, the filter's design and response, its effect on a noisy signal, cost and error of every method, "
        "error bounds and localization, and small forms of the experiments with networks. For a report on a graph of "
        "your own use the command cayleygsp report.",
        epilog="OUT/report.html holds everything and can be sent as it is; the pictures stand beside it as PNG files, "
        "the numbers as report.json. A run that fails leaves an earlier report as it was.",
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


def main(argv: list[str] | None = None) -> int:
    """Write the report and print where it is."""
    args = parse_arguments(argv)
    with progress(6 + (not args.quick) + len(settings(args.quick))) as step:
        path = make_report(args, step)
    print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
