"""The frame of a script: its command line, its progress, its printed tables and the files with its result."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
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
Columns = dict[str, Any]  # a format of the row's numbers, or a function of the row

# What a page is made of: paragraphs, tables, and sentences, of which each becomes an item of a list.
Blocks = Sequence["str | Table | list[str]"]


class Table(NamedTuple):
    """A table with its title; cells are texts, and the first ``n_text`` columns are aligned left."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_text: int = 1

    def print(self) -> None:
        """Write it with its title to stdout."""
        print(self.title)
        # a table of the reports, with a title
        print(table_text(cast(Any, self), line_width(sys.stdout)))

    def markdown(self) -> str:
        """Return it in Markdown, without its title; the first column is text, the others are aligned right."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

        separator = line(["---", *("---:" for _ in self.header[1:])])
        return "\n".join([line(self.header), separator, *map(line, self.rows)])


def table_of(title: str, columns: Columns, rows: Iterable[Any], n_text: int = 1) -> Table:
    """Return a table with a line for each row; a column is a format of the row's numbers, or a function of the row.

    Examples
    --------
    >>> from analysis._script import format_seconds, table_of
    >>> columns = {"graph": "{graph}", "time": lambda row: format_seconds(row["seconds"])}
    >>> table_of("Times", columns, [{"graph": "ring", "seconds": 0.5}]).rows
    [['ring', '500 ms']]
    """
    cells = [[c.format_map(row) if isinstance(c, str) else c(row) for c in columns.values()] for row in rows]
    return Table(title, list(columns), cells, n_text)


def pivot(
    corner: Sequence[str],
    rows: Iterable[Document],
    line: Callable[[Document], Sequence[str]],
    column: Callable[[Document], Any],
    text: Callable[[Document], str],
    name: str,
) -> tuple[list[str], list[list[str]]]:
    """Return header and lines of a table: the text of each row in its line and column, and columns by their name.

    Examples
    --------
    >>> from analysis._script import pivot
    >>> rows = [{"model": "GCN", "order": r, "mean": 80 + r} for r in (1, 3)]
    >>> pivot(["model"], rows, lambda r: [r["model"]], lambda r: r["order"], lambda r: f"{r['mean']:.1f}", "r = {}")
    (['model', 'r = 1', 'r = 3'], [['GCN', '81.0', '83.0']])
    """
    cells: dict[tuple[str, ...], dict[Any, str]] = {}
    for row in rows:
        cells.setdefault(tuple(line(row)), {})[column(row)] = text(row)
    columns = sorted({at for texts in cells.values() for at in texts})
    header = [*corner, *(name.format(at) for at in columns)]
    return header, [[*first, *(texts.get(at, "") for at in columns)] for first, texts in cells.items()]


def bullets(lines: Iterable[str]) -> str:
    """Return sentences as a list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)


def format_seconds(seconds: float) -> str:
    """Write a time with three digits and a unit that suits."""
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    value = seconds * factor
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


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


@dataclass(frozen=True)
class Script:
    """What a script measures, and how it is shown; run it with :meth:`main`.

    Attributes
    ----------
    name : str
        ``python -m analysis.NAME`` runs the script.
    description : str
        For ``--help``: what the script says of itself at its beginning.
    measure : callable
        ``measure(args, step)`` returns the numbers, as JSON knows them; ``step`` is told the name of what begins.
    page : callable
        ``page(document)`` returns the title of the page and its blocks: paragraphs, tables and lists of sentences.
        Tables and sentences are printed too.
    draw : callable
        ``draw(document)`` returns the picture.
    facts : callable
        ``facts(document)`` returns lines of how the numbers came about, beside those that all pages have.
    steps : callable
        ``steps(args)`` returns how many steps ``measure`` will tell of; with none there is no bar, as for runs, which
        have one of their own.
    repeats : tuple of int, optional
        Rounds of every measurement, in full and in the quick form; with them there is the option ``--repeats``.
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
    >>> nothing = (lambda args, step: {}), (lambda document: ["Nothing"]), (lambda document: None)
    >>> script = Script("none", "Measure nothing.", *nothing)
    >>> script.parse(["--quick"]).quick
    True
    """

    name: str
    description: str | None
    measure: Callable[[argparse.Namespace, Step], Document]
    page: Callable[[Document], Blocks]
    draw: Callable[[Document], Figure]
    facts: Callable[[Document], Sequence[str]] = lambda document: ()
    steps: Callable[[argparse.Namespace], int] = lambda args: 0
    repeats: tuple[int, int] | None = None
    arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    check: Callable[[argparse.ArgumentParser, argparse.Namespace], None] = lambda parser, args: None
    output: str = ""

    def parse(self, argv: Sequence[str]) -> argparse.Namespace:
        """Read the command line."""
        plain = re.sub(r":\w+:`([^`]*)`|``", r"\1", self.description or "")
        title, _, more = plain.partition("\n\n")
        parser = argparse.ArgumentParser(prog=f"python -m analysis.{self.name}", description=title, epilog=more)
        parser.add_argument("--quick", action="store_true", help="small sizes, to see that everything runs")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to this file")
        parser.add_argument("--results", type=Path, metavar="DIR", help="write JSON, table and picture to this folder")
        parser.add_argument("--seed", type=int, default=0, help="seed of graphs and signals (default: 0)")
        if self.repeats:
            full, quick = self.repeats
            text = f"rounds of every measurement (default: {full}, quick: {quick})"
            parser.add_argument("--repeats", type=int, help=text)
        self.arguments(parser)
        args = parser.parse_args(argv)
        if self.repeats and args.repeats is None:
            args.repeats = self.repeats[args.quick]
        if self.repeats and args.repeats < 1:
            parser.error(f"--repeats must be 1 or more, got {args.repeats}")
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

    def markdown(self, document: Document) -> str:
        """Return the page in Markdown: a title, how the numbers came about, and what they say."""
        title, *blocks = self.page(document)
        texts = [b.markdown() if isinstance(b, Table) else bullets(b) if isinstance(b, list) else b for b in blocks]
        facts = "\n".join([*header_lines(document), *self.facts(document)])
        return "\n\n".join([f"# {title}", facts, *filter(None, texts)]) + "\n"

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Measure, print tables and sentences, and write what was asked for."""
        args, document = self.compute(sys.argv[1:] if argv is None else argv)
        blocks = self.page(document)
        for table in (block for block in blocks if isinstance(block, Table)):
            table.print()
        for line in (line for block in blocks if isinstance(block, list) for line in block):
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
