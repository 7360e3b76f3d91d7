"""Proposition 1 of the paper: error of the Jacobi scheme against what is printed, what is proved and what is sharp.

Run ``python -m analysis.bounds``. On every graph, for both Laplacians, the filter is a single power, r = 5, whose
coefficient of size one has the phase that makes the error largest; the error is the worst over all signals.
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis._figures import new_axes
from analysis._script import Blocks, Document, Script, Step, finite, table_of
from cayleygsp import bounds
from cayleygsp._typing import FloatArray, LaplacianKind
from cayleygsp.bounds.contraction import is_regular
from cayleygsp.bounds.result import BOUND_KINDS
from cayleygsp.plotting import bounds as draw_bounds

ORDER = 5
N_PHASES = 24
ZOOMS, QUICK_ZOOMS = (0.1, 0.5, 2.0), (0.5,)
SWEEPS, QUICK_SWEEPS = (0, 1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 40, 60, 80), (0, 2, 8)
TABLE_SWEEPS = (2, 10, 40)
LAPLACIANS: tuple[LaplacianKind, ...] = ("combinatorial", "normalized")
DRAWN_ZOOM, DRAWN_SWEEPS = 0.5, 30
COLUMNS = ("n_iter", "error", "rounding", "paper", "safe", "sharp")

TABLE = {
    "graph": "{graph}",
    "Laplacian": "{laplacian}",
    "h": "{zoom:g}",
    "K": "{n_iter}",
    "κ": "{kappa:.4f}",
    **{name: lambda row, name=name: _number(row[name]) for name in ("error", "paper", "safe", "sharp")},
    "paper / sharp": lambda row: (
        f"{row['paper'] / row['sharp']:.3g}" if row["sharp"] and row["paper"] is not None else ""
    ),
    "paper holds": lambda row: (
        "broken" if "paper" in row["broken"] else "proved" if row["paper_proved"] else "held, unproved"
    ),
}


def graphs(quick: bool, seed: int) -> dict[str, cg.Graph]:
    """Return regular and other graphs, by name."""
    if quick:
        return {"ring, 16": cg.gallery.ring(16), "grid, 4 × 4": cg.gallery.grid(4)}
    return {
        "ring, 16": cg.gallery.ring(16),
        "6-regular, 100": cg.gallery.random_regular(100, 6, rng=seed),
        "grid, 10 × 10": cg.gallery.grid(10),
        "sensors, 100": cg.gallery.sensor(100, rng=seed),
        "communities, 150": cg.gallery.communities(n_vertices=150, p_in=0.5, rng=seed),
    }


def worst_error(L: cg.Laplacian, zoom: float, n_iter: int) -> float:
    """Return the largest error of one power over all signals and over phases of its coefficient."""
    real, imaginary = (_error_matrix(L, zoom, n_iter, phase) for phase in (1.0, 1j))
    angles = np.arange(N_PHASES) * np.pi / N_PHASES
    return max(float(np.linalg.norm(np.cos(t) * real + np.sin(t) * imaginary, 2)) for t in angles)


def _error_matrix(L: cg.Laplacian, zoom: float, n_iter: int, coefficient: complex) -> FloatArray:
    p = cg.CayleyPolynomial([0] * ORDER + [coefficient], zoom)
    exact = (L.eigenvectors * p(L.eigenvalues)) @ L.eigenvectors.T
    return cg.CayleyFilter(L, p, method="jacobi", n_iter=n_iter).toarray() - exact


def measure_case(name: str, L: cg.Laplacian, zoom: float, n_iter: int) -> Document:
    """Return the error and the bounds of one graph, zoom and number of sweeps."""
    p = cg.CayleyPolynomial([0] * ORDER + [1], zoom)
    error = worst_error(L, zoom, n_iter)
    proved = {kind: bounds.jacobi_bound(L, p, n_iter, kind) for kind in BOUND_KINDS}
    rounding = bounds.jacobi_rounding(L, p, n_iter)
    return {
        "graph": name,
        "laplacian": L.kind,
        "n_vertices": L.n_vertices,
        "regular": is_regular(L),
        "zoom": zoom,
        "n_iter": n_iter,
        "kappa": bounds.kappa(L, zoom),
        "error": error,
        "rounding": rounding,
        **{kind: finite(bound.value) for kind, bound in proved.items()},
        "paper_proved": proved["paper"].valid,
        "broken": [kind for kind, bound in proved.items() if error > bound.value + rounding],
    }


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure every graph with both Laplacians, every zoom and number of sweeps."""
    zooms, sweeps = (QUICK_ZOOMS, QUICK_SWEEPS) if args.quick else (ZOOMS, SWEEPS)
    rows = []
    for name, graph in graphs(args.quick, args.seed).items():
        for kind in LAPLACIANS:
            step(f"{name}, {kind}")
            L = cg.laplacian(graph, kind)
            rows += [measure_case(name, L, zoom, K) for zoom in zooms for K in sweeps]
    return {"order": ORDER, "rows": rows}


def _number(value: float | None) -> str:
    return "overflow" if value is None else f"{value:.3g}"


def conclusions(document: Document) -> list[str]:
    """Say where the printed bound is broken, that the others are not, and how much sharper the sharp one is."""
    rows = document["rows"]
    lines = []
    for kind in ("paper", "safe", "sharp"):
        broken = [row for row in rows if kind in row["broken"]]
        line = f"{kind}: broken in {len(broken)} of {len(rows)} cases"
        if broken:
            worst = max(broken, key=lambda row: row["error"] / row[kind])
            line += (
                f"; worst on {worst['graph']}, {worst['laplacian']}, h = {worst['zoom']:g}, K = {worst['n_iter']}: "
                f"error {worst['error']:.3g}, bound {worst[kind]:.3g}"
            )
        lines.append(line)
    ratios = [row["paper"] / row["sharp"] for row in rows if row["paper"] is not None and row["sharp"]]
    last = max(row["n_iter"] for row in rows)
    final = [row["paper"] / row["sharp"] for row in rows if row["n_iter"] == last and row["paper"] and row["sharp"]]
    lines.append(
        f"printed over sharp: median {np.median(ratios):.3g}, after {last} sweeps median {np.median(final):.3g}"
    )
    return lines


def page(document: Document) -> Blocks:
    """Return the title, what was measured, what it shows, and two tables."""
    few = [row for row in document["rows"] if row["n_iter"] in TABLE_SWEEPS]
    broken = [row for row in document["rows"] if "paper" in row["broken"]]
    return [
        "Proposition 1: error of the Jacobi scheme and its bounds",
        f"Filter 2 Re(c C(hΔ)⁵) with |c| = 1 and the worst of {N_PHASES} phases; errors are the largest over all "
        "signals, ‖Gf − G̃f‖/‖f‖, by the spectral norm of dense matrices. `paper` is 2Mκᴷ as printed, `safe` the "
        "recurrence of its proof, `sharp` the one of `cayleygsp.bounds`. A bound counts as broken if the error is "
        "above it by more than rounding explains. All numbers of sweeps are in the JSON file.",
        conclusions(document),
        "## A few numbers of sweeps",
        table_of(f"Proposition 1, r = {ORDER}", TABLE, few),
        "## Where the printed bound is broken",
        table_of("Where the printed bound is broken", TABLE, broken),
    ]


def draw(document: Document) -> Figure:
    """Draw error and bounds over the number of sweeps: one row per Laplacian, one column per graph."""
    names = list(dict.fromkeys(row["graph"] for row in document["rows"]))
    names = [names[k] for k in sorted({0, len(names) // 2, len(names) - 1})]
    figure, axes = new_axes((3.1 * len(names) + 0.6, 5.8), len(LAPLACIANS), len(names), squeeze=False)
    for i, kind in enumerate(LAPLACIANS):
        for j, name in enumerate(names):
            wanted = (name, kind, DRAWN_ZOOM)
            rows = [row for row in document["rows"] if (row["graph"], row["laplacian"], row["zoom"]) == wanted]
            rows = [row for row in rows if row["n_iter"] <= DRAWN_SWEEPS]
            columns = {key: [np.inf if row[key] is None else row[key] for row in rows] for key in COLUMNS}
            curves = {key: columns[key] for key in ("paper", "safe", "sharp")}
            ax = draw_bounds(
                columns["n_iter"], columns["error"], curves, rounding=columns["rounding"], legend=False, ax=axes[i, j]
            )
            ax.set_title(f"{name}, {kind}, h = {DRAWN_ZOOM:g}", fontsize="small")
            ax.set(xlabel="Jacobi sweeps $K$" if i else "")
            if j:
                ax.set_ylabel("")
    handles = {label: handle for ax in axes.flat for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=5, frameon=False)
    return figure


SCRIPT = Script(
    "bounds", __doc__, measure, page, draw, steps=lambda args: len(graphs(args.quick, args.seed)) * len(LAPLACIANS)
)
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
