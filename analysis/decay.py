"""Theorem 4 of the paper: how fast Cayley filters decay on graphs, measured, fitted and proved.

Run ``python -m analysis.decay``. A Chebyshev filter of the same order, through the same response, stands beside.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis._figures import new_axes
from analysis._script import Blocks, Document, Script, Step, finite, table_of
from cayleygsp import localization
from cayleygsp.localization import Decay, DecayBound, DecayFit
from cayleygsp.plotting import decay as draw_decay

ORDER = 4
ZOOM_LMAX, QUICK_ZOOM_LMAX = (3.0, 30.0, 300.0), (3.0, 30.0)
N_VERTICES = 5  # vertices about which the decay is measured
SMALL = 1e-3  # mass at which a filter is said to end

COLUMNS = {
    "graph": "{graph}",
    "h·λmax": "{zoom_lmax:g}",
    "γ fitted": lambda row: _number(row["fit"]["gamma"]),
    "R²": lambda row: _number(row["fit"]["r_squared"]),
    "points": "{fit[n_points]:g}",
    "γ of the series": lambda row: _number(row["series_gamma"]),
    "γ of Theorem 4": lambda row: _number(row["theorem"]["gamma"]),
    "hops to 1e-3": lambda row: _hops(row["mass"]),
    "series": lambda row: _hops(row["bounds"]["series"]),
    "Theorem 4": lambda row: _hops(row["bounds"]["theorem 4"]),
    "Chebyshev r = 4": lambda row: str(hops_to(row["chebyshev_mass"], 0.0)),
    "its error": "{chebyshev_error:.2g}",
}


def graphs(quick: bool, seed: int) -> dict[str, cg.Graph]:
    """Return graphs on which there is some way to go, by name."""
    if quick:
        return {"ring, 60": cg.gallery.ring(60), "grid, 9 × 9": cg.gallery.grid(9)}
    return {
        "ring, 400": cg.gallery.ring(400),
        "grid, 31 × 31": cg.gallery.grid(31),
        "sensors, 600": cg.gallery.sensor(600, rng=seed),
        "communities, 15": cg.gallery.communities(rng=seed),
    }


def polynomial(zoom: float, seed: int) -> cg.CayleyPolynomial:
    """Return random coefficients of total size one."""
    rng = np.random.default_rng(seed)
    c = rng.standard_normal(ORDER + 1) + 1j * rng.standard_normal(ORDER + 1)
    c[0] = c[0].real
    return cg.CayleyPolynomial(c / np.abs(c).sum(), zoom)


def measure_filter(name: str, graph: cg.Graph, zoom_lmax: float, seed: int) -> Document:
    """Measure the decay of one filter about a few vertices, and that of a Chebyshev filter beside it."""
    L = cg.laplacian(graph)
    g = cg.CayleyFilter(L, polynomial(zoom_lmax / L.lmax, seed), method="exact")
    vertices = np.random.default_rng(seed).choice(L.n_vertices, N_VERTICES, replace=False).tolist()
    curve = localization.decay_curve(g, vertices)
    other = localization.chebyshev_of_same_order(g)
    beside = localization.mass_outside(other, vertices, n_hops=int(curve.hops[-1])).mean(axis=0)
    lam = L.eigenvalues
    theorem, series = curve.bound("theorem 4"), curve.bound("series")
    assert theorem is not None
    assert series is not None
    proved = localization.fit_decay(series.mass, curve.floor)
    return {
        "graph": name,
        "n_vertices": L.n_vertices,
        "zoom_lmax": zoom_lmax,
        "zoom": zoom_lmax / L.lmax,
        "vertices": vertices,
        "norm": curve.norm,
        "floor": curve.floor,
        "mass": curve.mass.tolist(),
        "fit": {key: finite(value) for key, value in vars(curve.fit).items()},
        "series_gamma": finite(proved.gamma),
        "theorem": {"c": theorem.c, "gamma": theorem.gamma, "proved": bool(theorem.valid.all())},
        "bounds": {bound.name: bound.mass.tolist() for bound in curve.bounds},
        "valid": {bound.name: bound.valid.tolist() for bound in curve.bounds},
        "broken": [b.name for b in curve.bounds if (curve.mass > b.mass + curve.floor)[b.valid].any()],
        "chebyshev_mass": beside.tolist(),
        "chebyshev_error": float(np.abs(other.evaluate(lam) - g.evaluate(lam)).max() / np.abs(g.evaluate(lam)).max()),
    }


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure every graph at every zoom."""
    zooms = QUICK_ZOOM_LMAX if args.quick else ZOOM_LMAX
    rows = []
    for name, graph in graphs(args.quick, args.seed).items():
        for zoom_lmax in zooms:
            step(f"{name}, h·λmax = {zoom_lmax:g}")
            rows.append(measure_filter(name, graph, zoom_lmax, args.seed))
    return {"order": ORDER, "rows": rows}


def hops_to(mass: Sequence[float], level: float = SMALL) -> int | None:
    """Return the first k at which a curve is at most ``level``, None if it does not get there."""
    below = np.flatnonzero(np.asarray(mass) <= level)
    return int(below[0]) if below.size else None


def _hops(mass: Sequence[float]) -> str:
    reached = hops_to(mass)
    return f"> {len(mass) - 1}" if reached is None else str(reached)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def conclusions(document: Document) -> list[str]:
    """Say whether the proved curves held, and how far off the rate of Theorem 4 is."""
    rows = document["rows"]
    broken = [row for row in rows if row["broken"]]
    unproved = [row for row in rows if not row["theorem"]["proved"]]
    fitted = [row for row in rows if row["fit"]["gamma"] is not None]
    ratios = [np.log(row["fit"]["gamma"]) / np.log(row["theorem"]["gamma"]) for row in fitted]
    series = [np.log(row["fit"]["gamma"]) / np.log(row["series_gamma"]) for row in fitted if row["series_gamma"]]
    return [
        f"a measured mass is above a curve that is called proved in {len(broken)} of {len(rows)} cases",
        f"Theorem 4 is not covered by a proof at every number of hops in {len(unproved)} of {len(rows)} cases",
        f"the measured decay is {min(ratios):.3g} to {max(ratios):.3g} times as fast as Theorem 4's rate "
        f"(ratio of log γ), and {min(series):.3g} to {max(series):.3g} times as fast as the series curve's",
    ]


def page(document: Document) -> Blocks:
    """Return the title, what was measured, the table, and what it shows."""
    return [
        "Theorem 4: decay of Cayley filters",
        f"Cayley filters of order {ORDER} with random coefficients on the combinatorial Laplacian; L₂ mass of Gδ "
        f"outside k hops, the mean over {N_VERTICES} random vertices. Columns of hops say after how many the mass, or "
        "what bounds it, is at most 1e-3. The Chebyshev filter interpolates the same response with the same order: it "
        "ends after r hops, and its error is the largest distance from the response over the spectrum, relative to "
        "the gain.",
        table_of(f"Decay of Cayley filters, r = {ORDER}", COLUMNS, document["rows"]),
        conclusions(document),
    ]


def draw(document: Document) -> Figure:
    """Draw the masses and the curves over hops: one row per graph, one column per zoom."""
    rows = document["rows"]
    names = list(dict.fromkeys(row["graph"] for row in rows))
    zooms = list(dict.fromkeys(row["zoom_lmax"] for row in rows))
    figure, axes = new_axes((3.1 * len(zooms) + 0.6, 2.4 * len(names) + 0.7), len(names), len(zooms), squeeze=False)
    for row in rows:
        i, j = names.index(row["graph"]), zooms.index(row["zoom_lmax"])
        _draw_row(axes[i, j], row, draw_decay)
        axes[i, j].set(xlabel="hops $k$" if i + 1 == len(names) else "", ylabel="" if j else "relative $L_2$ mass")
    handles: dict[str, Any] = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles["fit" if label.startswith("fit") else label] = handle
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def _draw_row(ax: Any, row: Document, draw_decay: Any) -> None:
    curve = _restore(row)
    # what comes after the error of the method says nothing
    last = int(np.flatnonzero(curve.mass > curve.floor)[-1]) + 2
    draw_decay(curve, legend=False, ax=ax, markersize=3.0)
    beside = np.asarray(row["chebyshev_mass"])
    shown = np.flatnonzero(beside > 0)
    ax.plot(shown, beside[shown], "x", color="black", markersize=5.5, zorder=6, label=f"Chebyshev, r = {ORDER}")
    ax.set_xlim(-0.03 * last, last)
    lowest = float(curve.mass[curve.mass > curve.floor].min())
    ax.set_ylim(lowest / 100, 5 * max(float(bound.mass.max()) for bound in curve.bounds))
    gamma = "" if np.isnan(curve.fit.gamma) else f", γ = {curve.fit.gamma:.2f}"
    ax.set_title(f"{row['graph']}, h·λmax = {row['zoom_lmax']:g}{gamma}", fontsize="small")


def _restore(row: Document) -> Decay:
    """Make the curve again from what was written."""
    mass = np.asarray(row["mass"])
    fit: dict[str, Any] = {key: np.nan if value is None else value for key, value in row["fit"].items()}
    curves = tuple(
        DecayBound(name, np.asarray(values, dtype=np.float64), np.asarray(row["valid"][name], dtype=bool))
        for name, values in row["bounds"].items()
    )
    return Decay(np.arange(mass.size), mass, 2.0, row["norm"], row["floor"], DecayFit(**fit), curves)


SCRIPT = Script(
    "decay",
    __doc__,
    measure,
    page,
    draw,
    steps=lambda args: len(graphs(args.quick, args.seed)) * len(QUICK_ZOOM_LMAX if args.quick else ZOOM_LMAX),
)
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
