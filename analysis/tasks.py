"""Denoising and inpainting: how near the chosen strength comes to the best one, and how long a million vertices take.

Run ``python -m analysis.tasks``. Signals on the Minnesota road network get noise again and again; for each family of
filters and each selector the root mean square error of :func:`cayleygsp.tasks.denoise` is compared with the least over
all strengths, which only someone who knows the clean signal can find. Then a tenth of the values on a large grid is
known, and :func:`cayleygsp.tasks.inpaint` finds the others.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis._figures import legend_below
from analysis._script import Blocks, Document, Script, Step, format_seconds, table_of
from cayleygsp._format import format_bound
from cayleygsp._typing import FloatArray
from cayleygsp.cli.inputs import load_graph
from cayleygsp.plotting import COLORS
from cayleygsp.tasks.selection import FAMILIES, FIRST_RANGE, default_strengths
from cayleygsp.tasks.traces import Polynomial, plain, quadratic_forms

N_DRAWS, QUICK_DRAWS = 50, 2
SIDE, QUICK_SIDE = 1000, 20
NOISE = 0.5
KNOWN_SHARE, KNOWN_NOISE, TOL = 0.1, 0.1, 1e-6

# Nearer than this to the best error counts as found.
NEAR = 1.1


class Rule(NamedTuple):
    """A way to choose the strength: its name, the selector, and what is known beside the noisy signal."""

    name: str
    select: str
    knows_sigma: bool = False
    knows_traces: bool = False


RULES = (
    Rule("gcv", "gcv"),
    Rule("gcv, traces exact", "gcv", knows_traces=True),
    Rule("sure", "sure", knows_sigma=True),
    Rule("sure, traces exact", "sure", knows_sigma=True, knows_traces=True),
    Rule("sure, σ estimated", "sure"),
    Rule("discrepancy", "discrepancy", knows_sigma=True),
    Rule("discrepancy, traces exact", "discrepancy", knows_sigma=True, knows_traces=True),
    Rule("discrepancy, σ estimated", "discrepancy"),
)
COLUMNS = {
    "signal": "{signal}",
    "family": "{family}",
    "selector": "{rule}",
    "ratio over all draws": "{ratio:.3f}",
    "draws within 10 %": lambda row: f"{row['near']} of {len(row['ratios'])}",
    "median ratio": lambda row: f"{np.median(row['ratios']):.3f}",
    "worst ratio": lambda row: f"{max(row['ratios']):.3f}",
    "median strength": lambda row: f"{np.median(row['strengths']):.3g}",
}
INPAINT_COLUMNS = {
    "strength": "{strength:g}",
    "time": lambda row: format_seconds(row["seconds"]),
    "steps": "{n_iterations}",
    "error bound": lambda row: f"{format_bound(row['error_bound'])} ({row['certificate']})",
    "at every vertex": lambda row: format_bound(row["largest_error"]),
    "RMS distance from the clean signal": "{distance:.3f}",
}


def road_network(quick: bool) -> cg.Graph:
    """Return Minnesota's largest component, or a small sensor graph."""
    return cg.gallery.sensor(200, rng=0) if quick else load_graph("@minnesota").largest_component()[0]


def clean_signals(graph: cg.Graph) -> dict[str, FloatArray]:
    """Return signals of size one by the coordinates of the vertices."""
    assert graph.coords is not None
    x, y = ((graph.coords - graph.coords.min(axis=0)) / np.ptp(graph.coords, axis=0)).T[:2]
    return {"smooth": np.sin(4 * x) + np.cos(5 * y), "steps": np.sign(x - 0.5) * np.where(y > 0.4, 1.0, 0.5)}


def rms(values: FloatArray) -> FloatArray:
    """Return the root mean square of each column."""
    return np.sqrt((values**2).mean(axis=0))


def least_errors(L: cg.Laplacian, family: str, clean: FloatArray, noisy: FloatArray) -> FloatArray:
    r"""Return the least error over the strengths that are compared first, for each draw.

    :math:`\|Gy - x\|^2 = y^\top G^2 y - 2x^\top G y + \|x\|^2`, the mixed form from those of x + y and x - y.
    """
    x, m = clean[:, None], noisy.shape[1]
    responses = [FAMILIES[family](float(s)) for s in default_strengths(L, FIRST_RANGE[1])]
    polynomials = [Polynomial(np.square, (g,), (2,)) for g in responses] + [plain(g) for g in responses]
    forms = quadratic_forms(L, polynomials, np.hstack([noisy, x + noisy, x - noisy]), tol=1e-8).values
    squares, linear = forms[: len(responses), :m], forms[len(responses) :]
    mixed = (linear[:, m : 2 * m] - linear[:, 2 * m :]) / 4
    return np.sqrt((squares - 2 * mixed + clean @ clean).min(axis=0) / clean.size)


def denoising(
    graphs: tuple[cg.Laplacian, cg.Laplacian], name: str, family: str, clean: FloatArray, n_draws: int, seed: int
) -> list[Document]:
    """Return one row per rule, for a Laplacian without and with its eigenbasis."""
    rng = np.random.default_rng([seed, len(name), len(family)])
    noisy = clean[:, None] + NOISE * rng.standard_normal((clean.size, n_draws))
    best = least_errors(graphs[0], family, clean, noisy)
    rows = []
    for rule in RULES:
        L, sigma = graphs[rule.knows_traces], NOISE if rule.knows_sigma else None
        strengths = default_strengths(graphs[0], FIRST_RANGE[1]) if rule.knows_traces else None
        result = cg.tasks.denoise(L, noisy, family, rule.select, strengths=strengths, sigma=sigma, rng=seed)
        errors = rms(result.signals - clean[:, None])
        ratios = errors / best
        rows.append(
            {
                "signal": name,
                "family": family,
                "rule": rule.name,
                "near": int((ratios <= NEAR).sum()),
                "ratio": float(rms(errors) / rms(best)),
                "ratios": ratios.tolist(),
                "strengths": np.atleast_1d(result.strength).tolist(),
                "traces_exact": result.traces.exact,
                "sigma": None if result.sigma is None else np.asarray(result.sigma).tolist(),
            }
        )
    return rows


def inpainting(side: int, strength: float, seed: int) -> Document:
    """Return time and errors on a square grid."""
    grid = cg.gallery.grid(side)
    assert grid.coords is not None
    L, rng = cg.laplacian(grid), np.random.default_rng(seed)
    x, y = (grid.coords / side).T
    clean = np.sin(12 * x) + np.cos(20 * y)
    known = rng.random(clean.size) < KNOWN_SHARE
    values = np.where(known, clean + KNOWN_NOISE * rng.standard_normal(clean.size), np.nan)
    start = time.perf_counter()
    result = cg.tasks.inpaint(L, values, known, strength, tol=TOL)
    return {
        "strength": strength,
        "seconds": time.perf_counter() - start,
        "n_iterations": result.n_iterations,
        "error_bound": result.error_bound,
        "largest_error": result.largest_error,
        "converged": result.converged,
        "certificate": result.certificate,
        "distance": float(rms(result.signals - clean)),
    }


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Denoise many draws with every family and rule, then inpaint."""
    n_draws, side = (QUICK_DRAWS, QUICK_SIDE) if args.quick else (N_DRAWS, SIDE)
    graph = road_network(args.quick)
    L, solved = cg.laplacian(graph), cg.laplacian(graph)
    assert solved.eigenvalues.size == L.n_vertices  # its eigenbasis is known from here on, and makes traces exact
    rows: list[Document] = []
    for name, clean in clean_signals(graph).items():
        for family in FAMILIES:
            step(f"{name}, {family}")
            rows += denoising((L, solved), name, family, clean, n_draws, args.seed)
    step("inpainting")
    inpainted = [inpainting(side, strength, args.seed) for strength in (1.0, 0.0)]
    return {
        "graph": graph.name or "graph",
        "n_vertices": L.n_vertices,
        "n_draws": n_draws,
        "noise": NOISE,
        "denoising": rows,
        "inpainting": {"n_vertices": side**2, "known_share": KNOWN_SHARE, "tol": TOL, "rows": inpainted},
    }


def conclusions(document: Document) -> list[str]:
    """Say for each rule in how many draws it was near the best, and how long inpainting took."""
    lines = []
    for rule in dict.fromkeys(row["rule"] for row in document["denoising"]):
        rows = [row for row in document["denoising"] if row["rule"] == rule]
        near, total = sum(row["near"] for row in rows), sum(len(row["ratios"]) for row in rows)
        fewest = min(rows, key=lambda row: row["near"])
        lines.append(
            f"{rule}: over all draws the error is at most {max(row['ratio'] for row in rows):.3f} times the least; it "
            f"is within 10 % of the least in {near} of {total} draws; fewest, {fewest['near']} of "
            f'{len(fewest["ratios"])}, for {fewest["family"]} on the signal "{fewest["signal"]}"'
        )
    inpainted = document["inpainting"]
    slowest = max(row["seconds"] for row in inpainted["rows"])
    lines.append(
        f"inpainting {inpainted['n_vertices']:,} vertices takes at most {format_seconds(slowest)}, hierarchy included"
    )
    return lines


def page(document: Document) -> Blocks:
    """Return the title, and what was measured and found of denoising and of inpainting."""
    inpainted = document["inpainting"]
    return [
        "Tasks: denoising and inpainting",
        f"Signals on `{document['graph']}` ({document['n_vertices']:,} vertices) with Gaussian noise of standard "
        f"deviation {document['noise']:g}, {document['n_draws']} draws each; all draws of a row share the probes of "
        "their traces. The ratio is the root mean square error with the chosen strength over the least that any of the "
        "strengths gives for that draw; over all draws it is that of the root mean squares. Where σ is not given it is "
        "estimated from the high frequencies. With exact "
        "traces and the true σ nothing is left to estimate: draws that such a rule misses, it misses because the "
        "criterion itself varies from draw to draw, by as much as the noise within the few frequencies that it weighs.",
        conclusions(document),
        table_of("Denoising", COLUMNS, document["denoising"], n_text=3),
        f"Inpainting on a square grid of {inpainted['n_vertices']:,} vertices, a share of "
        f"{inpainted['known_share']:g} of them known with noise of {KNOWN_NOISE:g}, tolerance {inpainted['tol']:g} in "
        "the energy norm. The time includes the multigrid hierarchy, not the graph and its Laplacian. With strength 0 "
        "the known values are kept, noise included.",
        table_of("Inpainting", INPAINT_COLUMNS, inpainted["rows"], n_text=0),
    ]


def draw(document: Document) -> Figure:
    """Draw the ratios of all draws, one panel per signal, one column per family and rule."""
    rows = document["denoising"]
    signals = list(dict.fromkeys(row["signal"] for row in rows))
    families = list(dict.fromkeys(row["family"] for row in rows))
    rules = list(dict.fromkeys(row["rule"] for row in rows))
    width = 0.8 / len(rules)
    figure = Figure(figsize=(4.9 * len(signals), 3.8), layout="constrained")
    axes: Any = np.atleast_1d(figure.subplots(1, len(signals), sharey=True))
    for ax, signal in zip(axes, signals, strict=True):
        for k, rule in enumerate(rules):
            mine = [row for row in rows if row["signal"] == signal and row["rule"] == rule]
            places = np.concatenate(
                [
                    families.index(row["family"])
                    + width * (k - (len(rules) - 1) / 2 + np.linspace(-0.3, 0.3, len(row["ratios"])))
                    for row in mine
                ]
            )
            ratios = np.concatenate([row["ratios"] for row in mine])
            style = {"marker": "osD^v<>P"[k % 8], "color": COLORS[k % len(COLORS)], "markersize": 3, "alpha": 0.7}
            ax.plot(places, ratios, label=rule, linestyle="none", **style)
        ax.axhline(NEAR, color="0.45", linewidth=1, linestyle="--")
        ax.set_xticks(range(len(families)), families)
        ax.set_title(f"signal: {signal}", fontsize="medium")
        ax.grid(axis="y", color="0.9", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("error / least error over strengths")
    legend_below(figure)
    return figure


SCRIPT = Script("tasks", __doc__, measure, page, draw, steps=lambda args: 2 * len(FAMILIES) + 1)
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
