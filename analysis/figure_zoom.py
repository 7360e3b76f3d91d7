"""The paper's figure of the zoom: frequencies of a community graph on the half circle, for several zooms.

Run ``python -m analysis.figure_zoom``. The frequencies that tell the communities apart are marked; the table says how
much of the half circle they take, and which order is needed to tell the last of them from the next.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis._script import Blocks, Document, Script, Step, table_of
from cayleygsp import plotting, zoom
from cayleygsp._typing import FloatArray
from cayleygsp.plotting import COLORS

N_MARKED = 15
ZOOMS = (0.1, 1.0, 10.0)
COLUMNS = {
    "zoom h": lambda row: f"{row['zoom']:.3g}" + ("" if row["name"] == f"{row['zoom']:.3g}" else f", {row['name']}"),
    "angle of the first 15": "{marked_angle:.3f} rad",
    "share of the half circle": lambda row: f"{100 * row['marked_share']:.1f} %",
    "without the frequency 0": lambda row: f"{100 * row['positive_share']:.1f} %",
    "angle of the others": "{others_angle:.3f} rad",
    "order for the gap": "{gap_order}",
}


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Compute the spectrum of the community graph and where the zooms put it."""
    step("spectrum")
    sizes = [12] * N_MARKED if args.quick else None
    graph = cg.gallery.communities(N_MARKED, sizes=sizes, rng=args.seed)
    lam = np.maximum(cg.laplacian(graph).eigenvalues, 0.0)
    last, following = lam[N_MARKED - 1 : N_MARKED + 1].tolist()
    chosen = {f"{h:g}": h for h in ZOOMS} | {"best for the gap": zoom.best_zoom(last, following)}
    return {
        "n_vertices": graph.n_vertices,
        "n_edges": graph.n_edges,
        "n_marked": N_MARKED,
        "gap": [last, following],
        "eigenvalues": lam.tolist(),
        "zooms": [row(name, h, lam) for name, h in chosen.items()],
    }


def row(name: str, h: float, lam: FloatArray) -> Document:
    """Say how one zoom spreads the marked frequencies and the others."""
    theta = zoom.angles(lam, h)
    last, following = lam[N_MARKED - 1 : N_MARKED + 1].tolist()
    return {
        "name": name,
        "zoom": h,
        "marked_angle": float(theta[N_MARKED - 1] - theta[0]),
        "marked_share": float((theta[N_MARKED - 1] - theta[0]) / np.pi),
        "positive_share": float((theta[N_MARKED - 1] - theta[1]) / np.pi),
        "others_angle": float(theta[-1] - theta[N_MARKED]),
        "gap_angle": float(theta[N_MARKED] - theta[N_MARKED - 1]),
        "gap_order": zoom.separating_order(last, following, h),
    }


def page(document: Document) -> Blocks:
    """Return the title, where the frequencies are, and the table."""
    last, following = document["gap"]
    n = document["n_marked"]
    return [
        "Frequencies on the half circle",
        f"A graph of {document['n_vertices']} vertices in {n} communities, {document['n_edges']} edges, combinatorial "
        f"Laplacian. Its {n} lowest frequencies lie in [0, {last:.3g}], the others from {following:.3g} to "
        f"{document['eigenvalues'][-1]:.3g}. The frequency 0 stays at the left end whatever the zoom, and a large zoom "
        "leaves nothing but emptiness between it and the next; so the share is also given without it. The last column "
        "is the least order of a polynomial that is 1 at the last of the low frequencies, 0 at the next one, and "
        "nowhere beyond ±1 on the circle (`cayleygsp.zoom.separating_order`).",
        table_of("Frequencies on the half circle", COLUMNS, document["zooms"]),
    ]


def draw(document: Document) -> Figure:
    """Draw the half circles of the paper's zooms, the unrolled angles, and the resolution."""
    lam = np.array(document["eigenvalues"])
    n = document["n_marked"]
    figure = Figure(figsize=(9.5, 6.4), layout="constrained")
    top, bottom = np.asarray(figure.subfigures(2, 1, height_ratios=(0.9, 1.2)))
    for ax, h in zip(top.subplots(1, len(ZOOMS)), ZOOMS, strict=True):
        plotting.half_circle(lam, h, n_marked=n, ax=ax)
    left, right = bottom.subplots(1, 2)
    _draw_unrolled(left, document, lam, n)
    plotting.resolution(ZOOMS, float(lam[-1]), low=float(lam[lam > 1e-6].min()) / 30, eigenvalues=lam[1:], ax=right)
    return figure


def _draw_unrolled(ax: Any, document: Document, lam: FloatArray, n: int) -> None:
    """Draw one line of angles a zoom, the marked ones longer and darker."""
    rows = document["zooms"]
    for k, entry in enumerate(rows):
        theta = zoom.angles(lam, entry["zoom"])
        ax.vlines(theta[n:], k - 0.18, k + 0.18, colors="0.7", linewidths=0.5)
        ax.vlines(theta[:n], k - 0.36, k + 0.36, colors=COLORS[1], linewidths=1.0)
        ax.text(0.02, k, f"{100 * entry['positive_share']:.0f} %", va="center", fontsize="small", clip_on=False)
    ax.set_yticks(range(len(rows)), [f"$h = {entry['zoom']:.3g}$" for entry in rows])
    ax.set_xticks([-np.pi, -np.pi / 2, 0], ["−π\nλ = 0", "−π/2\nλ = 1/h", "0\nλ = ∞"])
    ax.set(xlim=(-np.pi - 0.06, 0), ylim=(len(rows) - 0.5, -0.5), xlabel=r"angle of $C(h\lambda)$")
    ax.set_title(f"first {n} (long lines), and the share that 2 to {n} take", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)


SCRIPT = Script("figure_zoom", __doc__, measure, page, draw)
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
