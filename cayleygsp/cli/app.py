"""The program: commands, and what ends them."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from io import TextIOWrapper
from typing import Annotated, Any, get_type_hints

import typer

from cayleygsp._text import printable
from cayleygsp.cli.bound import bound_command
from cayleygsp.cli.decay import decay_command
from cayleygsp.cli.denoise import denoise_command
from cayleygsp.cli.design import design_command
from cayleygsp.cli.errors import (
    CANNOT_BE_USED,
    INTERRUPTED,
    OUTPUT_LOST,
    BadInput,
    OutputLost,
    flush_output,
    give_up,
    one_line,
)
from cayleygsp.cli.explore import explore_command
from cayleygsp.cli.features import features_command
from cayleygsp.cli.filter import filter_command
from cayleygsp.cli.info import info_command
from cayleygsp.cli.inpaint import inpaint_command
from cayleygsp.cli.report import report_command
from cayleygsp.cli.zoom import zoom_command


def flatten(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command in which every parameter that is a dataclass is replaced by the fields of that class.

    So an option that several commands have is declared once.
    """
    # get_type_hints would hide, on Python 3.10, what an option with the default None is annotated with
    hints = inspect.get_annotations(command, eval_str=True)
    bundles: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in bundles:
            parameters += _parameters(bundles[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def call(**given: Any) -> None:
        for name, bundle in bundles.items():
            given[name] = bundle(**{field.name: given.pop(field.name) for field in fields(bundle)})
        command(**given)

    del call.__wrapped__
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _parameters(bundle: Any) -> Iterator[inspect.Parameter]:
    """Yield a parameter for each field of a dataclass."""
    hints = get_type_hints(bundle, include_extras=True)
    for field in fields(bundle):
        default: Any = inspect.Parameter.empty if field.default is MISSING else field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
        )


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


# What the help lists, in this order, each with an example that begins with its name.
_COMMANDS: list[tuple[Callable[..., None], str]] = [
    (info_command, "info roads.mtx -o density.png"),
    (zoom_command, "zoom @minnesota --zoom 0.1 --zoom 1 --zoom 10 -o circles.png"),
    (filter_command, "filter roads.mtx speeds.csv --pass low:0.5 --tol 1e-6 -o smooth.csv"),
    (
        denoise_command,
        "denoise @minnesota noisy.npy --family heat --select gcv -o clean.npy --figure clean.png",
    ),
    (inpaint_command, "inpaint roads.mtx speeds.csv --strength 0.1 -o all_speeds.csv"),
    (features_command, "features roads.mtx speeds.csv --bands 4 -o features.npy"),
    (bound_command, "bound @communities --zoom 0.1 --order 12 --sweeps 80 -o bounds.png"),
    (decay_command, "decay @grid:31 --vertex 480 --zoom 1 --order 3 -o decay.png"),
    (design_command, "design --target low:0.5 --order 4 --lmax 8 -o low.json -o low.png"),
    (explore_command, "explore @communities -o communities.html"),
    (report_command, "report @minnesota -o minnesota.html"),
]

for function, example in _COMMANDS:
    # paragraphs without line ends of their own, so that a terminal breaks them
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    words = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(example.split()[0], help=words, epilog=f"Example: cayleygsp {example}")(flatten(function))

# typer brings its own copy of click, or uses the one that is installed: this is the base of its usage errors
_UsageProblem: Any = next(cls for cls in typer.BadParameter.__mro__ if cls.__name__ == "ClickException")


@functools.cache
def _program() -> Any:
    return typer.main.get_command(app)


def run_command(arguments: Sequence[str]) -> int:
    """Run one command, print an error in one line, and return the exit code; without arguments show the help."""
    streams = sys.stdout, sys.stderr
    for stream in streams:
        if isinstance(stream, TextIOWrapper):  # letters that a terminal cannot show are replaced
            stream.reconfigure(errors="replace")
    try:
        for argument in arguments:
            if "\0" in argument:  # which no file name may hold; some versions of click stumble over it
                raise BadInput(f"{argument!r} holds a null character")
        code = _program().main(list(arguments) or ["--help"], prog_name="cayleygsp", standalone_mode=False)
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
