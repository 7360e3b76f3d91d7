r"""PyGSP's filters at their default order beside the same filters with a tolerance: true errors and times.

Run ``python -m analysis.pygsp_errors``. On the Minnesota road network, heat kernels :math:`e^{-t\lambda}` and PyGSP's
banks are applied to a random signal by PyGSP (a Chebyshev polynomial of order 30) and by ``FilterBank.from_pygsp``;
both are compared with the dense eigendecomposition. PyGSP's ``Heat`` counts its scale in units of one over
:math:`\lambda_{max}`; the scale here is :math:`t\lambda_{max}`, so that t is the time of the diffusion.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis import _timing
from analysis._figures import new_axes
from analysis._script import Blocks, Document, Script, Step, Table, format_error, format_seconds, table_of
from cayleygsp._typing import Array, FloatArray
from cayleygsp.plotting import COLORS

TIMES = (1, 10, 100, 1000)
BANKS = ("MexicanHat", "Meyer", "Itersine", "Abspline", "HalfCosine", "Expwin", "Held", "Simoncelli", "Rectangular")
QUICK_BANKS = ("MexicanHat", "Itersine", "Rectangular")
ORDER = 30  # PyGSP's default
TOL = 1e-6
# What the first screen of the README shows.
README_HEADER = ("filter on the Minnesota road network", "PyGSP's error", "time", "error here", "time", "bound here")
README_ROWS = ("exp(−100λ)", "exp(−1000λ)", "Meyer, 6 filters")


def make_graph(quick: bool) -> Any:
    """Return PyGSP's Minnesota road network, or a small sensor network."""
    from pygsp import graphs

    G = graphs.Sensor(100, seed=0) if quick else graphs.Minnesota()
    G.estimate_lmax()
    return G


def make_filters(G: Any, quick: bool) -> dict[str, Any]:
    """Return PyGSP's filters by the names that the table has for them."""
    from pygsp import filters

    heats = {f"exp(−{t}λ)": filters.Heat(G, t * G.lmax) for t in TIMES}
    banks = [getattr(filters, name)(G) for name in (QUICK_BANKS if quick else BANKS)]
    return heats | {type(g).__name__ + (f", {g.n_filters} filters" if g.n_filters > 1 else ""): g for g in banks}


def exact_answer(G: Any, g: Any, basis: tuple[FloatArray, FloatArray], f: FloatArray) -> FloatArray:
    """Return the filtered signal by the eigendecomposition, one column per filter."""
    lam, Phi = basis
    values = np.asarray(g.evaluate(np.maximum(lam, 0.0))).reshape(g.n_filters, -1)
    return Phi @ (values.T * (Phi.T @ f)[:, None])


def worst_error(y: Array, exact: FloatArray) -> float:
    """Return the largest error among the filters, each relative to its own output."""
    difference = np.linalg.norm(y.reshape(exact.shape) - exact, axis=0)
    return float((difference / np.linalg.norm(exact, axis=0)).max())


def compare(name: str, g: Any, f: FloatArray, exact: FloatArray, repeats: int) -> Document:
    """Filter by both, measure errors, and take the times in turns."""
    first_seconds, bank = _timing.timed(lambda: cg.FilterBank.from_pygsp(g, tol=TOL))
    seconds, (ours, info) = _timing.timed(lambda: bank.filter(f, return_info=True))
    theirs = g.filter(f)
    calls = {"pygsp": lambda: g.filter(f), "ours": lambda: bank.filter(f)}
    samples = _timing.interleave(calls, repeats, budget=20.0)
    return {
        "filter": name,
        "n_filters": len(bank),
        "pygsp_order": ORDER,
        "pygsp_error": worst_error(theirs, exact),
        "pygsp_seconds": _timing.summary(samples["pygsp"]),
        "error": worst_error(ours, exact),
        "seconds": _timing.summary(samples["ours"]),
        "first_seconds": first_seconds + seconds,
        "ratio": _timing.summary(_timing.ratios(samples["pygsp"], samples["ours"])),
        "method": info.method,
        "degree": info.n_matvecs,
        "bound": float(np.max(info.relative_error_bound)),
        "certificate": info.certificate,
        "converged": info.converged,
    }


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Compare every filter on one signal."""
    step("graph and its eigendecomposition")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyGSP's, and that a kernel with jumps has no short series
        G = make_graph(args.quick)
        basis = np.linalg.eigh(G.L.toarray())
        f = np.random.default_rng(args.seed).standard_normal(G.N)
        chosen = make_filters(G, args.quick)
        cg.FilterBank.from_pygsp(chosen["exp(−1λ)"]).filter(f)  # compiles, if anything is to be compiled
        rows = []
        for name, g in chosen.items():
            step(name)
            rows.append(compare(name, g, f, exact_answer(G, g, basis, f), args.repeats))
    return {
        "graph": type(G).__name__,
        "n_vertices": int(G.N),
        "lmax": float(basis[0][-1]),
        "pygsp_lmax": float(G.lmax),
        "tol": TOL,
        "rows": rows,
    }


def certificate(row: Document) -> str:
    """Return how our bound is certified, and whether it keeps the tolerance."""
    return str(row["certificate"]) if row["converged"] else f"{row['certificate']}, tolerance not reached"


PYGSP = {
    "error": lambda row: format_error(row["pygsp_error"]),
    "time": lambda row: format_seconds(row["pygsp_seconds"]["median"]),
}
OURS = {
    "error": lambda row: format_error(row["error"]),
    "time": lambda row: format_seconds(row["seconds"]["median"]),
}
COLUMNS = {
    "filter": "{filter}",
    **{f"PyGSP, {name}": column for name, column in PYGSP.items()},
    **{f"ours, {name}": column for name, column in OURS.items()},
    "first call": lambda row: format_seconds(row["first_seconds"]),
    "degree": "{degree:,}",
    "certified error": lambda row: format_error(row["bound"]),
    "certificate": certificate,
}


def readme_table(document: Document) -> list[str]:
    """Return the lines that stand in the README."""
    rows = {row["filter"]: row for row in document["rows"]}
    columns = ["{filter}", *PYGSP.values(), *OURS.values(), certificate]
    shown = [rows[name] for name in README_ROWS if name in rows]
    short = table_of("", {str(k): column for k, column in enumerate(columns)}, shown)
    return Table("", README_HEADER, short.rows).markdown().splitlines()


def conclusions(document: Document) -> list[str]:
    """Say how many of PyGSP's answers are off by more than a hundredth, and how many of ours miss their bound."""
    rows = document["rows"]
    off = [row["filter"] for row in rows if row["pygsp_error"] > 1e-2]
    missed = [row["filter"] for row in rows if not row["converged"]]
    slower = [row["filter"] for row in rows if row["ratio"]["median"] < 1]
    return [
        f"PyGSP at order {ORDER}: off by more than 1 % of the output for {', '.join(off) or 'none'}",
        f"tolerance {document['tol']:g} of the gain: not certified for {', '.join(missed) or 'none'}",
        f"ours slower than PyGSP at its order: {', '.join(slower) or 'none'}",
    ]


def page(document: Document) -> Blocks:
    """Return the title, what was measured, what it shows, and the table."""
    return [
        "PyGSP's filters: true errors and times",
        f"One random signal on {document['graph']}, {document['n_vertices']:,} vertices, combinatorial Laplacian, "
        f"λ_max = {document['lmax']:.4g}. Errors are those of the worst filter of a bank, relative to the norm of its "
        "exact output by the dense eigendecomposition. PyGSP filters at its default order "
        f"{ORDER}; ours is `FilterBank.from_pygsp(g, tol={document['tol']:g})`, whose tolerance and certified error "
        "are relative to the gain of each filter and the norm of the signal. Times are medians over rounds in which "
        "both took turns; the first call is preparation and filtering together. exp(−tλ) is PyGSP's "
        "`Heat(G, t * G.lmax)`, which counts its scale in units of 1/λ_max.",
        conclusions(document),
        table_of("PyGSP's filters, true errors and times", COLUMNS, document["rows"]),
    ]


def draw(document: Document) -> Figure:
    """Draw both errors of every filter, and the tolerance."""
    rows = document["rows"][::-1]
    figure, ax = new_axes((8.5, 0.35 * len(rows) + 1.4))
    places = np.arange(len(rows))
    theirs, ours = ([row[key] for row in rows] for key in ("pygsp_error", "error"))
    ax.plot(theirs, places, "s", color=COLORS[1], label=f"PyGSP, order {ORDER}")
    ax.plot(ours, places, "o", color=COLORS[0], label="with a tolerance")
    ax.axvline(document["tol"], color="0.5", linewidth=0.8, linestyle="--", label="tolerance, of the gain")
    ax.set_yticks(places, [row["filter"] for row in rows])
    ax.set(xlabel="error relative to the output, of the worst filter", xscale="log")
    ax.grid(color="0.9", linewidth=0.6, axis="x")
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize="small")
    return figure


SCRIPT = Script(
    "pygsp_errors",
    __doc__,
    measure,
    page,
    draw,
    steps=lambda args: 1 + len(TIMES) + len(QUICK_BANKS if args.quick else BANKS),
    repeats=(7, 3),
)
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
