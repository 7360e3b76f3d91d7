"""Files written all or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, by their names, into a folder that is made if need be, all or none; other files in it stay.

    They are renamed in this order: put the one that people open last.
    """
    folder.mkdir(parents=True, exist_ok=True)
    replace_files({folder / name: content for name, content in files.items()})


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Write files, in any folders that exist, all or none: each in full beside its place, then all are renamed.

    If one cannot be renamed, or the work is interrupted, those that were renamed before are taken back: the old files
    are there again.
    """
    with ExitStack() as stack:
        staged = {
            path: _stage(path, content, Path(stack.enter_context(temporary_folder(path.parent))))
            for path, content in contents.items()
        }
        done: list[Path] = []
        try:
            for path, (new, _) in staged.items():
                done.append(path)
                os.replace(new, path)
        except BaseException:
            for path in done:
                new, old = staged[path]
                if new.exists():  # it was not renamed
                    continue
                with suppress(OSError):
                    if old is None:
                        path.unlink()
                    else:
                        os.replace(old, path)
            raise


def check_writable(path: Path) -> None:
    """Raise an OSError if a file cannot be written or replaced in a folder that exists; nothing is left or changed."""
    if path.exists():
        with path.open("r+b"):  # refused for files that are protected
            pass
    with temporary_folder(path.parent) as temporary:
        (Path(temporary) / path.name).touch()


def temporary_folder(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """Return a folder inside another one, that is removed at the end."""
    return tempfile.TemporaryDirectory(dir=folder, prefix=".writing-")


def _stage(path: Path, content: bytes, temporary: Path) -> tuple[Path, Path | None]:
    """Write what is new, and keep what is old, beside the place of a file."""
    (temporary / "new").mkdir()
    new = temporary / "new" / path.name
    new.write_bytes(content)
    if not path.exists():
        return new, None
    shutil.copymode(path, new)
    (temporary / "old").mkdir()
    old = temporary / "old" / path.name
    try:
        os.link(path, old)
    except OSError:  # not every file system has links
        shutil.copy2(path, old)
    return new, old
