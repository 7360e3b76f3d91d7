"""How fast the explorer's page moves in a browser: updates per second while the zoom goes over the whole slider.

Run ``python -m analysis.benchmark_explorer``; it needs Chromium. An update computes the series, the filtered impulse,
degree, sweeps and decay, and draws all pictures; the page measures itself (``#measure=120`` in its address). The rate
says little on a machine that is busy with other work.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from matplotlib.figure import Figure

import cayleygsp as cg
from analysis._figures import new_axes, plain_axes
from analysis._script import Blocks, Document, Script, Step, format_seconds, table_of
from cayleygsp.explorer import write_explorer
from cayleygsp.plotting import COLORS

# Updates of a run, and in the quick form.
UPDATES, QUICK_UPDATES = 120, 10
COLUMNS = {
    "graph": "{graph}",
    "vertices": "{n_vertices:,}",
    "edges": "{n_edges:,}",
    "page": lambda row: f"{row['bytes'] / 1e6:.2f} MB",
    "time to write it": lambda row: format_seconds(row["seconds"]),
    "updates per second": lambda row: f"{median(row['rates']):.3g} ({min(row['rates']):.3g}–{max(row['rates']):.3g})",
}

# What the explorer should reach, and where.
WANTED, WANTED_AT = 30, 5000


def browser() -> str | None:
    """Return where Chromium is."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def graphs(seed: int, quick: bool) -> dict[str, cg.Graph]:
    """Return the graphs by the names that they have in the tables."""
    if quick:
        return {"communities": cg.gallery.communities(3, rng=seed)}
    return {
        "communities": cg.gallery.communities(rng=seed),
        "sensor, 5,000": cg.gallery.sensor(5000, rng=seed),
        "sensor, 10,000": cg.gallery.sensor(10_000, rng=seed),
    }


def open_page(program: str, path: Path, count: int) -> float:
    """Open a page in a window of 1280 × 900 points and return the rate that it measured."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        options += ["--disable-component-update", "--disable-sync", f"--user-data-dir={profile}"]
        address = f"{path.as_uri()}#measure={count}"
        command = [program, *options, "--window-size=1280,900", "--dump-dom", address]
        shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    rate = re.search(r'data-updates-per-second="([0-9.]+)"', shown)
    if rate is None:
        raise RuntimeError(f"the page {path.name} did not measure itself")
    return float(rate.group(1))


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Write the pages and let them measure themselves."""
    program, count = args.browser, QUICK_UPDATES if args.quick else UPDATES
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, graph in graphs(args.seed, args.quick).items():
            step(name)
            start = time.perf_counter()
            path = write_explorer(Path(folder) / "page.html", graph, rng=args.seed)
            seconds = time.perf_counter() - start
            rates = [open_page(program, path, count) for _ in range(args.repeats)]
            row = {"graph": name, "n_vertices": graph.n_vertices, "n_edges": graph.n_edges, "seconds": seconds}
            rows.append(row | {"bytes": path.stat().st_size, "rates": rates})
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return {"browser": version, "updates": count, "repeats": args.repeats, "rows": rows}


def conclusions(document: Document) -> list[str]:
    """Say whether the page is as fast as it should be, where that was measured."""
    return [
        f"{row['graph']}: {median(row['rates']):.3g} updates per second, {WANTED} wanted at {WANTED_AT:,} vertices"
        for row in document["rows"]
        if row["n_vertices"] == WANTED_AT
    ]


def page(document: Document) -> Blocks:
    """Return the title, what was measured, and the rates."""
    return [
        "The explorer in a browser",
        f"Each update takes another zoom, {document['updates']} of them spread over the slider from hλ_max = 0.1 to "
        "10,000, and draws everything in software, without a graphics card. Medians of "
        f"{document['repeats']} runs, with the least and the most, in {document['browser']}.",
        conclusions(document),
        table_of("The explorer in a browser", COLUMNS, document["rows"]),
    ]


def draw(document: Document) -> Figure:
    """Draw the rate of updates over the number of vertices."""
    figure, ax = new_axes((6.4, 3.6))
    sizes = [row["n_vertices"] for row in document["rows"]]
    for k in range(document["repeats"]):
        seen = [row["rates"][k] for row in document["rows"]]
        ax.plot(sizes, seen, "o", color=COLORS[0], alpha=0.5, markersize=4)
    ax.plot(sizes, [median(row["rates"]) for row in document["rows"]], color=COLORS[0], label="median")
    ax.axhline(WANTED, color=COLORS[1], linestyle="--", linewidth=1, label="wanted")
    ax.set(xlabel="vertices", ylabel="updates per second")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize="small")
    plain_axes(ax)
    return figure


def check(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject what cannot be measured."""
    args.browser = browser()
    if args.browser is None:
        parser.error("a browser is needed: chromium was not found")


SCRIPT = Script(
    "benchmark_explorer",
    __doc__,
    measure,
    page,
    draw,
    steps=lambda args: len(graphs(args.seed, args.quick)),
    repeats=(5, 1),
    check=check,
)
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
