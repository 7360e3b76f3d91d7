"""Files written all or nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder: each in full beside its place first, and only then all are renamed.

    Parameters
    ----------
    folder : pathlib.Path
        Made if it does not exist; other files in it stay.
    files : mapping of str to bytes
        Names and contents; renamed in this order, so put the one that people open last.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as temporary:
        for name, content in files.items():
            (Path(temporary) / name).write_bytes(content)
        for name in files:
            os.replace(Path(temporary) / name, folder / name)
