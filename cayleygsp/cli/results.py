"""Results of a command: files, and numbers or text on the screen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Any

from cayleygsp._text import printable
from cayleygsp.cli.errors import BadInput
from cayleygsp.cli.options import OutputOptions
from cayleygsp.cli.outputs import STANDARD, check_outputs, text_ending, write_outputs
from cayleygsp.cli.printing import facts_text, json_text, line_width, paragraph_text, progress, table_text
from cayleygsp.cli.streams import write_output

if TYPE_CHECKING:
    from cayleygsp._html import Table

    Part = Mapping[str, str] | Table | str


class Results:
    """Where the results of a command go; checked when made, before any work.

    Parameters
    ----------
    options : OutputOptions
        What the user asked for.
    endings : tuple of str
        What the command can write.
    """

    def __init__(self, options: OutputOptions, endings: tuple[str, ...]) -> None:
        check_outputs(options.output, endings, options.force)
        if STANDARD in options.output and options.json:
            raise BadInput("--json and -o - must not both be given: both are for standard output")
        self._options = options
        self._endings = {
            path: (text_ending(endings) or "") if path == STANDARD else path.suffix.lower() for path in options.output
        }

    def wants(self, ending: str) -> bool:
        """Return whether a file with this ending is to be written."""
        return ending in self._endings.values()

    def progress(self, n_steps: int) -> AbstractContextManager[Callable[..., None]]:
        """Show how far the work is, unless the user wants quiet."""
        return progress(n_steps, self._options.quiet)

    def write(self, make: Callable[[str], bytes]) -> None:
        """Write all files, or none.

        Parameters
        ----------
        make : callable
            Makes the content of a file from its ending; called for all before the first is written.
        """
        contents = {path: make(ending) for path, ending in self._endings.items()}
        write_outputs(contents)

    def show(self, numbers: Mapping[str, Any], *parts: Part) -> None:
        """Print numbers as JSON if the user wants that, else words: facts, tables and sentences.

        Parameters
        ----------
        numbers : mapping
            For JSON.
        *parts : mapping of str to str, Table or str
            For people; they go to stderr if standard output is taken by a result, and nowhere if quiet is wanted.
        """
        if self._options.json:
            write_output(json_text(numbers))
        elif not self._options.quiet:
            to_stderr = STANDARD in self._endings
            width = line_width(sys.stderr if to_stderr else sys.stdout)
            text = "".join(_part_text(part, width) for part in self._with_written(parts))
            if to_stderr:
                with suppress(OSError):
                    sys.stderr.write(text)
            else:
                write_output(text)

    def _with_written(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Add the names of the files, to the facts where these come last."""
        paths = [printable(path) for path in self._endings if path != STANDARD]
        if not paths:
            return parts
        written = {"written": ", ".join(paths)}
        *before, last = parts
        return (*before, {**last, **written}) if isinstance(last, Mapping) else (*parts, written)


def _part_text(part: Part, width: int | None) -> str:
    if isinstance(part, str):
        return paragraph_text(part, width)
    if isinstance(part, Mapping):
        return facts_text(part, width)
    return table_text(part, width)
