"""Chebyshev filters as Cayley filters with zero Jacobi sweeps: equal on regular graphs, how far off on others.

Run ``python -m analysis.special_case``. The paper calls ChebNet a special case of CayleyNet. With
:func:`cayleygsp.chebyshev_as_cayley` every Chebyshev filter is written as a Cayley filter whose powers are left at
Jacobi's start vector, and both are compared as dense matrices.
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis._figures import LINE_COLORS, MARKERS, legend_below, new_axes, plain_axes
from analysis._script import Blocks, Document, Script, Step, table_of
from cayleygsp._typing import FloatArray, LaplacianKind

ORDERS, QUICK_ORDERS = (1, 2, 4, 6, 8, 12), (1, 4)
ZOOM = 1.0
KINDS: tuple[LaplacianKind, ...] = ("combinatorial", "normalized")
COLUMNS = {
    "graph": "{graph}",
    "Laplacian": "{kind}",
    "degrees": lambda row: ("{:.3g}" if row["constant_diagonal"] else "{:.3g} to {:.3g}").format(*row["degrees"]),
    "order": "{order}",
    "difference": "{difference:.1e}",
    "largest coefficient": "{largest_coefficient:.1e}",
}


def graphs(seed: int, quick: bool) -> dict[str, cg.Graph]:
    """Return regular graphs first, then others."""
    n = 60 if quick else 300
    return {
        "ring": cg.gallery.ring(n),
        "random regular, degree 4": cg.gallery.random_regular(n, 4, rng=seed),
        "random regular, degree 10": cg.gallery.random_regular(n, 10, rng=seed),
        "path": cg.gallery.path(n),
        "grid": cg.gallery.grid(15, n // 15),
        "sensor": cg.gallery.sensor(n, rng=seed),
        "communities": cg.gallery.communities(5 if quick else 15, rng=seed),
    }


def compare(name: str, graph: cg.Graph, kind: LaplacianKind, order: int, seed: int) -> Document:
    """Return the distance of the two filters for random coefficients, relative to the gain."""
    L = cg.laplacian(graph, kind)
    alpha: FloatArray = np.random.default_rng([seed, order]).uniform(-1, 1, order + 1)
    degree = float(L.diagonal.mean())
    p = cg.chebyshev_as_cayley(alpha, L.lmax, degree, ZOOM)
    chebyshev = cg.ChebyshevFilter(L, alpha)
    cayley = cg.CayleyFilter(L, p, method="jacobi", n_iter=0)
    distance = float(np.linalg.norm(cayley.toarray() - chebyshev.toarray(), 2))
    return {
        "graph": name,
        "kind": kind,
        "order": order,
        "degrees": [float(L.diagonal.min()), float(L.diagonal.max())],
        "constant_diagonal": bool(np.ptp(L.diagonal) <= 1e-12 * L.diagonal.max()),
        "difference": distance / chebyshev.gain,
        "largest_coefficient": float(np.abs(p.coeffs).max()),
        "rounding_units": distance / float(np.finfo(np.float64).eps * np.abs(p.coeffs).max()),
    }


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Compare on every graph, with both Laplacians, over the orders."""
    orders = QUICK_ORDERS if args.quick else ORDERS
    rows = []
    for name, graph in graphs(args.seed, args.quick).items():
        step(name)
        rows += [compare(name, graph, kind, order, args.seed) for kind in KINDS for order in orders]
    return {"zoom": ZOOM, "orders": list(orders), "rows": rows}


def conclusions(document: Document) -> list[str]:
    """Say the largest difference where the diagonal is constant and the least where it is not."""
    same = [row["difference"] for row in document["rows"] if row["constant_diagonal"]]
    other = [row["difference"] for row in document["rows"] if not row["constant_diagonal"]]
    units = [row["rounding_units"] for row in document["rows"] if row["constant_diagonal"]]
    return [
        "constant diagonal (regular graphs, and the normalized Laplacian of any graph without isolated vertices and "
        f"self-loops): the filters differ by at most {max(same):.1e} of the gain, and by at most {max(units):.0f} "
        "units of rounding of the largest Cayley coefficient",
        f"other diagonals, with their mean as the degree: they differ by {min(other):.1e} to {max(other):.1e}",
    ]


def page(document: Document) -> Blocks:
    """Return the title, what is compared, what it shows, and the table."""
    return [
        "Chebyshev filters as Cayley filters with zero sweeps",
        "Random Chebyshev coefficients in [−1, 1], written by `cayleygsp.chebyshev_as_cayley` with zoom "
        f"{document['zoom']:g}. The difference is the spectral norm of the difference of the two matrices over the "
        "filter's gain. Rounding grows with the largest Cayley coefficient, as the terms cancel. Degrees are the "
        "diagonal of the Laplacian.",
        conclusions(document),
        table_of("Chebyshev as Cayley with zero sweeps", COLUMNS, document["rows"]),
    ]


def draw(document: Document) -> Figure:
    """Draw the difference over the order, one panel per Laplacian, one line per graph."""
    figure, axes = new_axes((9.5, 4.2), 1, 2, sharey=True)
    names = list(dict.fromkeys(row["graph"] for row in document["rows"]))
    for ax, kind in zip(axes, KINDS, strict=True):
        for k, name in enumerate(names):
            rows = [row for row in document["rows"] if row["graph"] == name and row["kind"] == kind]
            regular = rows[0]["constant_diagonal"]
            style = {"marker": MARKERS[k % 7], "color": LINE_COLORS[k % len(LINE_COLORS)], "markersize": 5}
            style |= {"linestyle": "-" if regular else "--", "label": name}
            ax.plot([row["order"] for row in rows], [max(row["difference"], 1e-17) for row in rows], **style)
        ax.set(xlabel="order r", yscale="log", title=f"{kind} Laplacian")
        plain_axes(ax)
    axes[0].set_ylabel("difference, relative to the gain")
    legend_below(figure)
    return figure


SCRIPT = Script("special_case", __doc__, measure, page, draw, steps=lambda args: len(graphs(args.seed, args.quick)))
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
