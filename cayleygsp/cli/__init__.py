"""The command line ``cayleygsp``: what the package does, on graphs and signals in files.

Exit codes: 0 if all went well; 2 for input that cannot be used, with one line on stderr and nothing written; 130 after
Ctrl-C. Tracebacks are for bugs alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any

import typer

from cayleygsp.cli import commands
from cayleygsp.cli.errors import BadInput

__all__ = ["app", "main"]

app = typer.Typer(
    name="cayleygsp",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Graph filters with a certified error, from the CayleyNets paper.",
    epilog="GRAPH is a file (.npz .npy .mtx .mat .graphml, or an edge list .txt .edges .csv .tsv) or a built-in graph: "
    "@minnesota, @communities, @grid:30:40, @ring:64, @sensor:500, @regular:90:4, @path:9, @star:9, @mnist.",
)
commands.register(app)

# typer brings its own copy of click, or uses the one that is installed: this is the base of its usage errors
_UsageProblem: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default.

    Examples
    --------
    >>> from cayleygsp.cli import main
    >>> main(["info", "@ring:8", "--json"])  # doctest: +ELLIPSIS
    {
      "name": "ring",
    ...
    0
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # letters that a terminal cannot show are no reason to fail, nor are file names that are no text
            stream.reconfigure(errors="replace")
    command = typer.main.get_command(app)
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        code = command.main(arguments or ["--help"], prog_name="cayleygsp", standalone_mode=False)
        sys.stdout.flush()
    except BadInput as problem:
        return _refuse(str(problem))
    except _UsageProblem as problem:
        return _refuse(problem.format_message())
    except MemoryError as problem:
        return _refuse(str(problem) or "there is not enough memory")
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        # whoever read our output has enough; what is left must not fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code if isinstance(code, int) else 0


def _refuse(message: str) -> int:
    print(f"cayleygsp: error: {' '.join(message.split())}", file=sys.stderr)
    return 2
