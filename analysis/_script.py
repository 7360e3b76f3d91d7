"""The frame of a script: its command line, its progress, its printed tables and the files with its result."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, cast

from matplotlib.figure import Figure

from cayleygsp._files import write_files
from cayleygsp._html import png_bytes
from cayleygsp._memory import format_bytes
from cayleygsp.cli.outputs import line_width, progress, table_text
from cayleygsp.engine.threads import thread_limit

Document = dict[str, Any]

PACKAGES = ("cayleygsp", "numpy", "scipy", "numba", "pygsp", "torch", "torch_geometric")

THREAD_SETTINGS = ("NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")

Step = Callable[[str], None]


class Table(NamedTuple):
    """A table with its title; cells are texts, and the first ``n_text`` columns are aligned left."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_text: int = 1


def print_table(table: Table) -> None:
    """Print a table with its title to stdout."""
    print(table.title)
    # a table of the reports, with a title
    print(table_text(cast(Any, table), line_width(sys.stdout)))


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; the first column is text, the others are aligned right."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [line(header), line(["---", *("---:" for _ in header[1:])]), *(line(row) for row in rows)]


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


def machine_facts() -> dict[str, Any]:
    """Return what the figures depend on: processor, cores, threads, caches and memory."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "threads": thread_limit(),
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
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


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


def header_lines(document: Document) -> list[str]:
    """Say in Markdown how a result came about."""
    machine = document["machine"]
    facts = {
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
    lines = [f"- {name}: {value}" for name, value in facts.items()]
    return [*lines, "- Quick run: sizes are small, ratios mean little."] if document["quick"] else lines


def page(title: str, document: Document, *lines: str, facts: Sequence[str] = ()) -> str:
    """Return a page of Markdown: a title, how the result came about, and what it says.

    Parameters
    ----------
    title : str
        The heading.
    document : dict
        The result.
    *lines : str
        What follows.
    facts : sequence of str
        More lines of how it came about.
    """
    return "\n".join([f"# {title}", "", *header_lines(document), *facts, "", *lines]).rstrip() + "\n"


@dataclass(frozen=True)
class Script:
    """What a script measures, and how it is shown; run it with :meth:`main`.

    Attributes
    ----------
    name : str
        ``python -m analysis.NAME`` runs the script.
    description : str
        For ``--help``.
    measure : callable
        ``measure(args, step)`` returns the numbers, as JSON knows them; ``step`` is told the name of what begins.
    markdown : callable
        ``markdown(document)`` returns the page.
    draw : callable
        ``draw(document)`` returns the picture.
    tables : callable
        ``tables(document)`` returns what is printed.
    lines : callable
        ``lines(document)`` returns sentences that are printed after the tables.
    steps : callable
        ``steps(args)`` returns how many steps ``measure`` will tell of; with none there is no bar.
    arguments : callable
        ``arguments(parser)`` adds options of the script's own.
    check : callable
        ``check(parser, args)`` rejects invalid options before anything is computed, and fills in what depends on
        others.
    output : str
        Name of the files; that of the script by default.

    Examples
    --------
    >>> from analysis._script import Script
    >>> script = Script("none", "Measure nothing.", lambda args, step: {"seed": args.seed}, str, lambda document: None)
    >>> script.parse(["--quick"]).quick
    True
    """

    name: str
    description: str
    measure: Callable[[argparse.Namespace, Step], Document]
    markdown: Callable[[Document], str]
    draw: Callable[[Document], Figure]
    tables: Callable[[Document], Sequence[Table]] = lambda document: ()
    lines: Callable[[Document], Sequence[str]] = lambda document: ()
    steps: Callable[[argparse.Namespace], int] = lambda args: 1
    arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    check: Callable[[argparse.ArgumentParser, argparse.Namespace], None] = lambda parser, args: None
    output: str = ""

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """Read the command line."""
        parser = argparse.ArgumentParser(prog=f"python -m analysis.{self.name}", description=self.description)
        parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to this file")
        parser.add_argument("--results", type=Path, metavar="DIR", help="write JSON, table and picture to this folder")
        parser.add_argument("--seed", type=int, default=0, help="seed of graphs and signals (default: 0)")
        self.arguments(parser)
        args = parser.parse_args(argv)
        if args.seed < 0:
            parser.error(f"--seed must be 0 or more, got {args.seed}")
        if args.json is not None and args.json.is_dir():
            parser.error(f"--json must be a file, got the folder {args.json}")
        if args.results is not None and args.results.exists() and not args.results.is_dir():
            parser.error(f"--results must be a folder, got the file {args.results}")
        self.check(parser, args)
        return args

    def compute(self, argv: Sequence[str], *, quiet: bool = False) -> tuple[argparse.Namespace, Document]:
        """Measure; return what was asked for and the result, which says how it came about.

        Parameters
        ----------
        argv : sequence of str
            The command line.
        quiet : bool
            Whether to say nothing of the progress.
        """
        args = self.parse(argv)
        args.quiet = quiet
        document = new_document(f"analysis.{self.name}", argv, args)
        n_steps = 0 if quiet else self.steps(args)
        if not n_steps:
            return args, document | self.measure(args, lambda name: None)
        with progress(n_steps) as step:
            return args, document | self.measure(args, step)

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Measure, print tables and sentences, and write what was asked for."""
        args, document = self.compute(sys.argv[1:] if argv is None else argv)
        for table in self.tables(document):
            print_table(table)
        for line in self.lines(document):
            print(line)
        self.write(args, document)
        return 0

    def write(self, args: argparse.Namespace, document: Document) -> None:
        """Write the JSON file that was asked for, and the folder of results with JSON, page and picture, all or none.

        Page and picture are made from what stands in the JSON file, nothing else.
        """
        text = (json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()
        name, contents = self.output or self.name, {}
        if args.results is not None:
            document = json.loads(text)
            contents[f"{name}.png"] = png_bytes(self.draw(document))
            contents[f"{name}.md"] = self.markdown(document).encode()
            contents[f"{name}.json"] = text
        if args.json is not None:
            write_files(args.json.parent, {args.json.name: text})
        if contents:
            write_files(args.results, contents)


def add_repeats(parser: argparse.ArgumentParser, full: int = 7, quick: int = 3) -> None:
    """Add the option that benchmarks have: how often to measure."""
    parser.add_argument("--repeats", type=int, help=f"rounds of every measurement (default: {full}, quick: {quick})")
    parser.set_defaults(default_repeats=(full, quick))


def check_repeats(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject an invalid number of rounds, and fill it in where none was given."""
    if args.repeats is None:
        args.repeats = args.default_repeats[args.quick]
    if args.repeats < 1:
        parser.error(f"--repeats must be 1 or more, got {args.repeats}")
