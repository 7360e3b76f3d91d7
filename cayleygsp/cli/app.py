"""The program: commands, and what ends them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer

from cayleygsp._text import printable
from cayleygsp.cli import commands
from cayleygsp.cli.errors import BadInput, one_line
from cayleygsp.cli.exit_codes import CANNOT_BE_USED, INTERRUPTED, OUTPUT_LOST
from cayleygsp.cli.streams import OutputLost, flush_output, give_up, show_every_letter

app = typer.Typer(
    name="cayleygsp",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Graph filters with a certified error, from the CayleyNets paper.",
    epilog="GRAPH is a file (.npz .npy .mtx .mat .graphml, or an edge list .txt .edges .csv .tsv), - for an edge list "
    "on standard input, or a built-in graph: @minnesota, @communities, @grid:30:40, @ring:64, @sensor:500, "
    "@regular:90:4, @path:9, @star:9, @scale_free:500, @collaboration:500, @mnist.\n\n"
    "Exit codes: 0 done; 1 standard output closed or full; 2 input that cannot be used, nothing written; "
    "3 written, but the tolerance was not reached; 130 interrupted.",
)


def _print_version(asked: bool) -> None:
    if asked:
        from cayleygsp import __version__

        print(f"cayleygsp {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and stop.")
    ] = False,
) -> None:
    """Graph filters with a certified error, from the CayleyNets paper."""


commands.register(app)

# typer brings its own copy of click, or uses the one that is installed: this is the base of its usage errors
_UsageProblem: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")


@functools.cache
def _command() -> Any:
    return typer.main.get_command(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command, print an error in one line, and return the exit code.

    Parameters
    ----------
    arguments : sequence of str
        The command and its arguments; help is shown if there are none.
    """
    show_every_letter()
    streams = sys.stdout, sys.stderr
    try:
        for argument in arguments:
            if "\0" in argument:  # which no file name may hold; some versions of click stumble over it
                raise BadInput(f"{argument!r} holds a null character")
        code = _command().main(list(arguments) or ["--help"], prog_name="cayleygsp", standalone_mode=False)
        flush_output()
    except BadInput as problem:
        return _end(CANNOT_BE_USED, str(problem))
    except _UsageProblem as problem:
        return _end(CANNOT_BE_USED, problem.format_message())
    except MemoryError as problem:
        return _end(CANNOT_BE_USED, str(problem) or "there is not enough memory")
    except ArithmeticError as problem:
        return _end(CANNOT_BE_USED, f"the numbers that were given leave the range of double precision: {problem}")
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except OutputLost as problem:
        return _end(OUTPUT_LOST, str(problem))
    except OSError as problem:
        return _end(OUTPUT_LOST, f"standard output or a file of the system cannot be written: {one_line(problem)}")
    except SystemExit:  # how typer leaves if whoever reads its help has gone
        sys.stdout, sys.stderr = streams
        return _end(OUTPUT_LOST, "standard output cannot be written: it is closed")
    return code if isinstance(code, int) else 0


def _end(code: int, message: str) -> int:
    """Print one line and return the exit code."""
    if code == OUTPUT_LOST:
        give_up(sys.stdout)
    with suppress(OSError):
        print(f"cayleygsp: error: {printable(' '.join(message.split()))}", file=sys.stderr, flush=True)
    return code
