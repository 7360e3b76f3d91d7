"""What the scripts share: how a result came about, files with it, the command line, progress."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from cayleygsp._files import write_files
from cayleygsp._memory import format_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Document = dict[str, Any]

PACKAGES = ("cayleygsp", "numpy", "scipy", "numba", "pygsp", "torch", "torch_geometric")
THREAD_SETTINGS = ("NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


# -------------------------------------------------------------------------------------------------- facts


def machine_facts() -> dict[str, Any]:
    """Return what the figures depend on: processor, cores, threads, caches and memory."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "threads": numba.get_num_threads(),
        "thread_settings": {name: os.environ[name] for name in THREAD_SETTINGS if name in os.environ},
        "load_average": os.getloadavg()[0],
        "last_level_cache_bytes": last_level_cache(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def last_level_cache() -> int:
    """Return the bytes of the largest cache that the first core sees; 32 MiB where the system does not tell."""
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    sizes = []
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text(encoding="ascii").strip()
        sizes.append(int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text))
    return max(sizes, default=2**25)


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that the figures depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def now() -> str:
    """Return date and time as they stand in results."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def new_document(module: str, argv: Sequence[str], args: argparse.Namespace) -> Document:
    """Return the part of a result that says how it came about."""
    return {
        "command": shlex.join(["python", "-m", module, *argv]),
        "date": now(),
        "seed": args.seed,
        "quick": args.quick,
        "machine": machine_facts(),
        "versions": package_versions(),
    }


# ------------------------------------------------------------------------------------------------ writing


def header_lines(document: Document) -> list[str]:
    """Say in Markdown how a result came about."""
    machine = document["machine"]
    said = {
        "Command": f"`{document['command']}`",
        "Date": document["date"],
        "CPU": f"{machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads, last-level cache "
        f"{format_bytes(machine['last_level_cache_bytes'])}, load average at the start {machine['load_average']:.2f}",
        "Thread settings": ", ".join(f"{k}={v}" for k, v in machine["thread_settings"].items()) or "defaults",
        "Memory": format_bytes(machine["memory_bytes"]),
        "System": machine["system"],
        "Versions": ", ".join(f"{name} {number}" for name, number in document["versions"].items()),
        "Seed": str(document["seed"]),
    }
    lines = [f"- {name}: {value}" for name, value in said.items()]
    return [*lines, "- Quick run: sizes are small, ratios mean little."] if document["quick"] else lines


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; the first column is text, the others are aligned right."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [line(header), line(["---", *("---:" for _ in header[1:])]), *(line(row) for row in rows)]


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table to stdout, in full width where it does not go to a terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    table = Table(title=title, title_justify="left", show_lines=False)
    for k, name in enumerate(header):
        table.add_column(name, justify="right" if k else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    console.print(table)


def format_seconds(seconds: float) -> str:
    """Write a time with three digits and a unit that suits."""
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{_three_digits(seconds * factor)} {unit}"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def format_error(error: float | None) -> str:
    """Write an error with two digits."""
    return "none" if error is None else f"{error:.1e}"


def finite(value: float) -> float | None:
    """Return None for what JSON has no number for."""
    return float(value) if math.isfinite(value) else None


def write_outputs(
    args: argparse.Namespace,
    name: str,
    document: Document,
    markdown: Callable[[Document], str],
    draw: Callable[[Document], Figure],
) -> None:
    """Write the JSON file that was asked for, and the folder of results with JSON, table and picture."""
    text = (json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()
    if args.json is not None:
        write_files(args.json.parent, {args.json.name: text})
    if args.results is not None:
        # table and picture are made from what was written, nothing else
        document = json.loads(text)
        png = BytesIO()
        draw(document).savefig(png, format="png", dpi=150)
        files = {f"{name}.png": png.getvalue(), f"{name}.md": markdown(document).encode(), f"{name}.json": text}
        write_files(args.results, files)


# ------------------------------------------------------------------------------------------- command line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what all scripts understand."""
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to this file")
    parser.add_argument("--results", type=Path, metavar="DIR", help="write JSON, table and picture to this folder")
    parser.add_argument("--seed", type=int, default=0, help="seed of graphs and signals (default: 0)")


def add_repeats(parser: argparse.ArgumentParser) -> None:
    """Add what only benchmarks understand: how often to measure."""
    parser.add_argument("--repeats", type=int, help="rounds of every measurement (default: 7, quick: 3)")


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Refuse what cannot be, before anything is computed, and fill in what depends on other arguments."""
    if "repeats" in args:
        if args.repeats is None:
            args.repeats = 3 if args.quick else 7
        if args.repeats < 1:
            parser.error(f"--repeats must be 1 or more, got {args.repeats}")
    if args.seed < 0:
        parser.error(f"--seed must be 0 or more, got {args.seed}")
    if args.json is not None and args.json.is_dir():
        parser.error(f"--json must be a file, got the folder {args.json}")
    if args.results is not None and args.results.exists() and not args.results.is_dir():
        parser.error(f"--results must be a folder, got the file {args.results}")


@contextmanager
def progress_steps(n_steps: int) -> Iterator[Callable[[str], None]]:
    """Show on stderr, if it is a terminal, how far a run is; what is yielded is told the name of each step."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("start", total=n_steps, completed=-1)
        yield lambda name: progress.update(task, description=name, advance=1)
