"""The frame of a script: its command line, its progress, its printed tables and the files with its result."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analysis._document import Document, new_document
from analysis._tables import Table, print_table
from cayleygsp._files import write_files
from cayleygsp._html import png_bytes
from cayleygsp.cli.outputs import progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Step = Callable[[str], None]


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
