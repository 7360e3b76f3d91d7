"""The order that Cayley and Chebyshev filters need for narrow bands: the paper's central claim.

Run ``python -m analysis.design``. Three questions: the indicator of the frequencies that tell 15 communities apart, low
bands that get narrower, and bands in the middle of the spectrum that get narrower. Fits are minimax fits, so an order
is enough or it is not; the order of a Chebyshev polynomial is proved to be the least, the zoom of a Cayley polynomial
is searched.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis._figures import new_axes, plain_axes
from analysis._script import Blocks, Document, Script, Step, table_of
from cayleygsp import design
from cayleygsp.responses.base import Response

MAX_ERROR = 0.1
N_LOWEST = 15
ORDERS, QUICK_ORDERS = (1, 2, 3, 4, 5, 6), (1, 4)

# Shares of the spectrum: cutoffs of low bands; and widths of bands around CENTRE, relative to it.
CUTOFFS, QUICK_CUTOFFS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001), (0.1, 0.01)
CENTRE = 0.05
WIDTHS, QUICK_WIDTHS = (1.0, 0.7, 0.5, 0.35, 0.25), (1.0,)

# What applying a Cayley filter is allowed to be off by, relative to its gain, when products are counted.
TOL = 1e-3

COMMUNITY_COLUMNS = {
    "polynomial": "{name}",
    "real parameters": "{n_parameters}",
    "zoom": lambda row: "none" if row["zoom"] is None else f"{row['zoom']:.3g}",
    "error": "{error:.3f}",
    "largest coefficient": "{largest_coefficient:.2g}",
    "enough": lambda row: "yes" if row["error"] <= MAX_ERROR else "no",
}
BAND_COLUMNS = {
    "band": "{name}",
    "Cayley order": "{cayley_order}",
    "its parameters": "{cayley_parameters}",
    "its zoom · λmax": "{zoom:.3g}",
    "products to apply it": "{products}",
    "Chebyshev order": "{chebyshev_order}",
    "ratio of orders": lambda row: f"{row['chebyshev_order'] / row['cayley_order']:.1f}",
}


def measure_communities(args: argparse.Namespace) -> Document:
    """Fit the indicator of the lowest frequencies on the eigenvalues of the community graph."""
    L = cg.laplacian(cg.gallery.communities(N_LOWEST, rng=args.seed))
    lam = np.maximum(L.eigenvalues, 0.0)
    lmax = float(lam[-1])
    cut = float(lam[N_LOWEST - 1 : N_LOWEST + 1].mean())
    target = design.Indicator(0, cut)
    orders = QUICK_ORDERS if args.quick else ORDERS
    fits = [design.fit_cayley(target, r, lmax, weight=lam, norm="minimax") for r in orders]
    least = design.least_order(target, MAX_ERROR, lmax, lam, family="chebyshev")
    equal = [
        design.fit_chebyshev(target, f.n_parameters - 1, lmax, lam, ridge=0, norm="minimax")
        for f in fits
        if f.n_parameters - 1 < least.polynomial.order
    ]
    below = design.fit_chebyshev(target, least.polynomial.order - 1, lmax, lam, ridge=0, norm="minimax")
    return {
        "eigenvalues": lam.tolist(),
        "cut": cut,
        "n_vertices": L.n_vertices,
        "cayley": [fit_row("Cayley", f) for f in fits],
        "chebyshev": [fit_row("Chebyshev", f) for f in [*equal, least]],
        "chebyshev_below_bound": below.lower_bound,
    }


def fit_row(name: str, fit: design.Fit) -> Document:
    """Return what is reported of a fit, its coefficients included."""
    c = fit.polynomial.coeffs
    return {
        "name": f"{name}, r = {fit.polynomial.order}",
        "order": fit.polynomial.order,
        "n_parameters": fit.n_parameters,
        "zoom": fit.zoom,
        "error": fit.residual_max,
        "largest_coefficient": float(np.abs(c).max()),
        "peak": fit.peak,
        "coeffs": [[float(x.real), float(x.imag)] for x in c.astype(complex)],
    }


def measure_band(name: str, value: float, target: Response) -> Document:
    """Look for the least orders for one target on the interval [0, 1]."""
    cayley = design.least_order(target, MAX_ERROR, 1.0)
    chebyshev = design.least_order(target, MAX_ERROR, 1.0, family="chebyshev", max_order=4000)
    assert cayley.zoom is not None
    return {
        "name": name,
        "value": value,
        "cayley_order": cayley.polynomial.order,
        "cayley_parameters": cayley.n_parameters,
        "cayley_error": cayley.residual_max,
        "cayley_coefficient": float(np.abs(cayley.polynomial.coeffs).max()),
        "zoom": cayley.zoom,
        "products": cayley.polynomial.series(1.0, TOL * cayley.peak).degree,
        "chebyshev_order": chebyshev.polynomial.order,
        "chebyshev_error": chebyshev.residual_max,
    }


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Answer the three questions."""
    step("communities")
    document: Document = {"max_error": MAX_ERROR, "tol": TOL, "centre": CENTRE}
    document["communities"] = measure_communities(args)
    document["low_bands"], document["middle_bands"] = [], []
    for cut in QUICK_CUTOFFS if args.quick else CUTOFFS:
        step(f"low band up to {cut:g}")
        document["low_bands"].append(measure_band(f"0 to {cut:g}", cut, design.LowPass(cut, transition=cut)))
    for width in QUICK_WIDTHS if args.quick else WIDTHS:
        step(f"band of relative width {width:g}")
        half = width * CENTRE / 2
        target = design.BandPass(CENTRE - half, CENTRE + half, transition=half)
        document["middle_bands"].append(measure_band(f"{CENTRE:g} ± {half:.3g}", width, target))
    return document


def conclusions(document: Document) -> list[str]:
    """Say the orders for the communities and how orders grow as bands get narrower."""
    communities = document["communities"]
    enough = [row["order"] for row in communities["cayley"] if row["error"] <= document["max_error"]]
    least = communities["chebyshev"][-1]["order"]
    lines = [
        f"communities: a Cayley polynomial of order {min(enough)} is within {document['max_error']:g} of the indicator "
        f"at every eigenvalue; of the Chebyshev polynomials, order {least} is, and no order below (proved: order "
        f"{least - 1} misses by {communities['chebyshev_below_bound']:.4f} at least)"
        if enough
        else f"communities: no Cayley order tried is enough; Chebyshev order {least} is",
    ]
    for name, key in (("low bands", "low_bands"), ("bands in the middle", "middle_bands")):
        rows = document[key]
        if len(rows) > 1:
            a, b = rows[0], rows[-1]
            lines.append(
                f"{name}, {a['value'] / b['value']:.3g} times narrower: Cayley order {a['cayley_order']} → "
                f"{b['cayley_order']}, Chebyshev order {a['chebyshev_order']} → {b['chebyshev_order']}"
            )
    return lines


def page(document: Document) -> Blocks:
    """Return the title, what an order is, what was found, and three tables."""
    communities = document["communities"]
    tables = [
        table_of(
            f"The {N_LOWEST} lowest frequencies of the community graph",
            COMMUNITY_COLUMNS,
            [*communities["cayley"], *communities["chebyshev"]],
        ),
        table_of("Low bands, shares of λmax", BAND_COLUMNS, document["low_bands"]),
        table_of(f"Bands around {document['centre']:g} λmax", BAND_COLUMNS, document["middle_bands"]),
    ]
    return [
        "Orders for narrow bands",
        f"An order is enough if its minimax fit is within {document['max_error']:g} of the target: at every eigenvalue "
        "of the community graph, or on all of [0, λmax] but for transition bands (as wide as a low band, half as wide "
        "as a band in the middle). A Cayley polynomial of order r has 2r + 1 real coefficients and its zoom, a "
        "Chebyshev polynomial r + 1. The order is not the cost: products are those with the Laplacian that the "
        f"Chebyshev method takes to apply the Cayley filter to {document['tol']:g} of its gain; a Chebyshev filter "
        "takes as many as its order. What the Cayley form saves is parameters.",
        conclusions(document),
        *(block for table in tables for block in (f"## {table.title}", table)),
    ]


def draw(document: Document) -> Figure:
    """Draw orders against band widths, and the fits for the communities."""
    figure, axes = new_axes((10, 7.4), 2, 2)
    _draw_orders(axes[0, 0], document["low_bands"], "low band: cutoff / λmax")
    _draw_orders(axes[0, 1], document["middle_bands"], f"band at {document['centre']:g} λmax: width / centre")
    _draw_communities(axes[1, 0], document["communities"])
    _draw_errors(axes[1, 1], document["communities"])
    return figure


def _draw_orders(ax: Any, rows: Sequence[Document], label: str) -> None:
    x = [row["value"] for row in rows]
    ax.plot(x, [row["chebyshev_order"] for row in rows], "s--", color="#D55E00", label="Chebyshev order")
    ax.plot(x, [row["products"] for row in rows], "^:", color="0.4", label="products to apply Cayley")
    ax.plot(x, [row["cayley_order"] for row in rows], "o-", color="#0072B2", label="Cayley order")
    ax.set(xscale="log", xlabel=label + " (narrower to the right)", yscale="log", ylabel="order, or number of products")
    ax.invert_xaxis()
    _finish(ax)


def _draw_communities(ax: Any, communities: Document) -> None:
    """Draw the responses at the eigenvalues, which is all that the graph sees."""
    lam = np.array(communities["eigenvalues"])
    cayley = next((r for r in communities["cayley"] if r["error"] <= MAX_ERROR), communities["cayley"][-1])
    ax.axhspan(-MAX_ERROR, MAX_ERROR, color="0.92", zorder=0)
    ax.axhspan(1 - MAX_ERROR, 1 + MAX_ERROR, color="0.92", zorder=0)
    ax.axvline(communities["cut"], color="0.5", linewidth=0.8)
    equal = min(communities["chebyshev"], key=lambda row: abs(row["n_parameters"] - cayley["n_parameters"]))
    ax.plot(
        lam, response_at(equal, lam), "s", color="#D55E00", markersize=3.5, markerfacecolor="none", label=equal["name"]
    )
    ax.plot(lam, response_at(cayley, lam), "o", color="#0072B2", markersize=3, label=cayley["name"])
    ax.set_xscale("symlog", linthresh=0.5)
    ax.set(xlabel=r"eigenvalue $\lambda$", ylabel=r"response $g(\lambda)$")
    _finish(ax)


def response_at(row: Document, lam: Any) -> Any:
    """Return the response of a fit at some frequencies."""
    c = np.array([complex(*pair) for pair in row["coeffs"]])
    if row["zoom"] is None:
        return cg.ChebyshevPolynomial(c.real, float(lam[-1]))(lam)
    return cg.CayleyPolynomial(c, row["zoom"])(lam)


def _draw_errors(ax: Any, communities: Document) -> None:
    """Draw the error against the number of parameters."""
    rows = communities["cayley"]
    ax.plot([r["n_parameters"] for r in rows], [r["error"] for r in rows], "o-", color="#0072B2", label="Cayley")
    rows = communities["chebyshev"]
    ax.plot([r["n_parameters"] for r in rows], [r["error"] for r in rows], "s--", color="#D55E00", label="Chebyshev")
    ax.axhline(MAX_ERROR, color="0.5", linewidth=0.8, label="allowed")
    ax.set(xlabel="real parameters, communities", ylabel="largest error at an eigenvalue", yscale="log")
    _finish(ax)


def _finish(ax: Any) -> None:
    plain_axes(ax)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small", frameon=False)


SCRIPT = Script(
    "design",
    __doc__,
    measure,
    page,
    draw,
    steps=lambda args: 1 + (len(QUICK_CUTOFFS + QUICK_WIDTHS) if args.quick else len(CUTOFFS + WIDTHS)),
)
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
