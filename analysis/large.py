r"""What is hard elsewhere, on large grids: a reconstruction, an extreme regularisation, a sharp step.

Run ``python -m analysis.large``. The eigenvectors of a grid are products of cosines, so that true errors are known at
every size. Tikhonov regularisation is compared with pyamg called by hand, preparation included on both sides.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy import fft, sparse

import cayleygsp as cg
from analysis import _timing
from analysis._figures import new_axes
from analysis._script import Blocks, Document, Script, Step, format_error, format_seconds, table_of
from cayleygsp._format import counted
from cayleygsp._memory import format_bytes
from cayleygsp._typing import Array, FloatArray, Method
from cayleygsp.plotting import COLORS

SIDE, STEP_SIDE = 1000, 316
QUICK_SIDE = 50
STRENGTH = 1e6
STRENGTH_TOL = 1e-8
STEP_WIDTH = 0.002  # relative to the bound of the spectrum
STEP_TOL = 1e-6
FRAME_TOL = 1e-10
COLUMNS = {
    "work": lambda row: row["work"].replace("e-0", "e-"),
    "how": "{how}",
    "time": lambda row: format_seconds(row["seconds"]),
    "true error": lambda row: format_error(row["error"]),
    "certified error": lambda row: format_error(row["bound"]),
    "certificate": lambda row: (
        row["certificate"] + ("" if row["converged"] is not False else ", tolerance not reached")
    ),
    "products": lambda row: "" if row["n_matvecs"] is None else f"{row['n_matvecs']:,}",
}


def grid_answer(side: int, response: Callable[[FloatArray], Array], f: FloatArray) -> FloatArray:
    """Return the filtered signal on a square grid by the discrete cosine transform, its eigenbasis."""
    one = 2 - 2 * np.cos(np.pi * np.arange(side) / side)
    spectrum = fft.dctn(f.reshape(side, side), norm="ortho")
    return fft.idctn(response(np.add.outer(one, one)) * spectrum, norm="ortho").ravel()


def row(work: str, how: str, seconds: float, error: float, info: cg.FilterInfo | None) -> Document:
    """Return what is said of one way; errors are relative to the gain times the norm of the signal."""
    return {
        "work": work,
        "how": how,
        "seconds": seconds,
        "error": error,
        "bound": None if info is None else float(np.max(info.relative_error_bound)),
        "certificate": "none" if info is None else info.certificate,
        "converged": None if info is None else info.converged,
        "n_matvecs": None if info is None else info.n_matvecs,
    }


def distance(y: Array, exact: FloatArray, f: FloatArray) -> float:
    """Return the distance of two signals over the norm of a third."""
    return float(np.linalg.norm(y - exact) / np.linalg.norm(f))


def reconstruct_rows(side: int, seed: int) -> list[Document]:
    """Analyse a signal with two filters and with a tight frame, and return to it from its coefficients."""
    L = cg.laplacian(cg.gallery.grid(side))
    f = np.random.default_rng(seed).standard_normal(L.n_vertices)
    pair = cg.FilterBank(L, [cg.responses.Heat(0.5), cg.responses.MexicanHat(0.25)], method="chebyshev")
    work = f"coefficients back to a signal, {side}² vertices, error ≤ {FRAME_TOL:.0e}"
    return [
        _reconstruct(work, "two filters, conjugate gradients", pair, f),
        _reconstruct(work, "with their complement, synthesis", pair.complement(), f),
    ]


def _reconstruct(work: str, how: str, bank: cg.FilterBank, f: FloatArray) -> Document:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        # as near as rounding allows, so that the error is that of the way back
        c = cg.FilterBank(bank.laplacian, bank.responses, method="chebyshev", tol=1e-14).filter(f)
    seconds, (x, info) = _timing.timed(lambda: bank.reconstruct(c, tol=FRAME_TOL, return_info=True))
    return row(work, how, seconds, distance(x, f, c) / float(info.gain), info)


def by_hand(side: int, strength: float, tol: float, make: str) -> Callable[[FloatArray], Array]:
    """Return what a user of pyamg would write; the residual bounds the error, as the least eigenvalue is 1."""
    import pyamg

    L = cg.laplacian(cg.gallery.grid(side)).matrix
    A = sparse.csr_matrix(sparse.eye_array(L.shape[0]) + strength * L)
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)

    def solve(f: FloatArray) -> Array:
        return getattr(pyamg, make)(A).solve(f, tol=tol, accel="cg")

    return solve


def tikhonov_rows(side: int, seed: int, repeats: int) -> tuple[list[Document], Document]:
    """Regularise by this package and by pyamg, in turns; return rows, and the ratios of the times."""
    L = cg.laplacian(cg.gallery.grid(side))
    g = cg.responses.Tikhonov(STRENGTH)
    f = np.random.default_rng(seed).standard_normal(L.n_vertices)
    exact = grid_answer(side, g, f)
    results: dict[str, tuple[Array, cg.FilterInfo | None]] = {}

    def ours(method: Method) -> Callable[[], None]:
        def run() -> None:
            results[method] = cg.KernelFilter(L, g, method=method, tol=STRENGTH_TOL).filter(f, return_info=True)

        return run

    def theirs(name: str) -> Callable[[], None]:
        solve = by_hand(side, STRENGTH, STRENGTH_TOL, name)
        return lambda: results.__setitem__(name, (solve(f), None))

    calls = {"auto": ours("auto"), "multigrid": ours("multigrid")}
    calls |= {name: theirs(name) for name in ("smoothed_aggregation_solver", "ruge_stuben_solver")}
    for call in calls.values():
        call()
    samples = _timing.interleave(calls, repeats, budget=120.0)
    work = f"Tikhonov, t = {STRENGTH:.0e}, {side}² vertices, error ≤ {STRENGTH_TOL:.0e}".replace("e+0", "e")
    rows = []
    for name, (y, info) in results.items():
        chosen = "" if info is None or name == info.method else f", which chose {info.method}"
        how = f"pyamg.{name}, by hand" if info is None else f'this package, method="{name}"{chosen}'
        rows.append(row(work, how, _timing.summary(samples[name])["median"], distance(y, exact, f), info))
    peers = [name for name in calls if results[name][1] is None]
    pairs = [(name, mine) for name in peers for mine in ("auto", "multigrid")]
    return rows, {
        f"pyamg.{name} over method={mine!r}": _timing.summary(_timing.ratios(samples[name], samples[mine]))
        for name, mine in pairs
    }


def step_rows(side: int, seed: int) -> list[Document]:
    """Apply a step in the middle of the spectrum whose transition is a small part of it."""
    L = cg.laplacian(cg.gallery.grid(side))
    g = cg.responses.LowPass(L.lmax / 2, transition=STEP_WIDTH * L.lmax)
    f = np.random.default_rng(seed).standard_normal(L.n_vertices)
    seconds, (y, info) = _timing.timed(lambda: cg.KernelFilter(L, g, tol=STEP_TOL).filter(f, return_info=True))
    work = f"step of relative width {STEP_WIDTH:g}, {side}² vertices, error ≤ {STEP_TOL:.0e}"
    return [row(work, info.method, seconds, distance(y, grid_answer(side, g, f), f), info)]


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure all three."""
    side, step_side = (QUICK_SIDE, QUICK_SIDE) if args.quick else (SIDE, STEP_SIDE)
    step("compilation")
    cg.KernelFilter(cg.gallery.grid(8), cg.responses.Heat(1.0), method="chebyshev").filter(np.ones(64))
    step("sharp step")
    rows = step_rows(step_side, args.seed)
    step("reconstruction")
    rows += reconstruct_rows(side, args.seed)
    step("Tikhonov")
    tikhonov, ratios = tikhonov_rows(side, args.seed, args.repeats)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"rows": rows + tikhonov, "ratios": ratios, "peak_bytes": peak}


def conclusions(document: Document) -> list[str]:
    """Say how the times compare, and what memory it took."""
    missed = [one for one in document["rows"] if one["converged"] is False]
    lines = [
        f"Tikhonov, time of {name}: {value['median']:.2f} ({value['low']:.2f} to {value['high']:.2f})"
        for name, value in document["ratios"].items()
    ]
    return [
        *lines,
        f"tolerances that were not certified: {counted(len(missed), 'row')}",
        f"largest memory of the process: {format_bytes(document['peak_bytes'])}",
    ]


def page(document: Document) -> Blocks:
    """Return the title, what was measured, what it shows, and the table."""
    return [
        "Large grids",
        "Random signals on square grids. Errors are relative to the gain and to the signal (for a reconstruction to "
        "all coefficients), true ones by the discrete cosine transform. Times have preparation and application in "
        "them. For Tikhonov both sides took turns, and pyamg solves (I + tΔ)x = f to a residual of the tolerance, "
        "which bounds the error as the least eigenvalue is 1.",
        conclusions(document),
        table_of("Large grids", COLUMNS, document["rows"], n_text=2),
    ]


def draw(document: Document) -> Figure:
    """Draw the times, with the true errors beside them."""
    rows: list[Any] = document["rows"][::-1]
    figure, ax = new_axes((9.5, 0.45 * len(rows) + 1.0))
    places = np.arange(len(rows))
    ax.barh(places, [one["seconds"] for one in rows], color=[COLORS[1 if one["bound"] is None else 0] for one in rows])
    for place, one in zip(places, rows, strict=True):
        ax.annotate(
            f" {format_seconds(one['seconds'])}, error {format_error(one['error'])}",
            (one["seconds"], place),
            va="center",
        )
    ax.set_yticks(places, [f"{one['work'].split(',')[0]}: {one['how']}" for one in rows], fontsize="small")
    ax.set(xlabel="seconds", xlim=(0, 1.5 * max(one["seconds"] for one in rows)))
    ax.spines[["top", "right"]].set_visible(False)
    return figure


SCRIPT = Script("large", __doc__, measure, page, draw, steps=lambda args: 4, repeats=(3, 1))
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
