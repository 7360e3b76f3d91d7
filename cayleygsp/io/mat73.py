"""MATLAB files of version 7.3, that is HDF5."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._text import quoted
from cayleygsp.io.files import parsing
from cayleygsp.io.limits import (
    BYTES_PER_ENTRY,
    DEFLATE_RATIO,
    FREE_TEXT,
    check_memory,
    check_room,
    check_vertices,
)
from cayleygsp.io.mat_variable import MOST_LEVELS, MatVariable

_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(file: Path) -> bool:
    """Tell whether the file is of version 7.3, that is HDF5, mostly behind 512 bytes of MATLAB's own."""
    with file.open("rb") as stream:
        head = stream.read(512 + len(_SIGNATURE))
    return head.startswith(_SIGNATURE) or head[512:] == _SIGNATURE


@contextmanager
def variables_73(file: Path) -> Iterator[dict[str, MatVariable]]:
    """Give the variables of a file while it is open, fields of a struct as ``struct.field``."""
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"{quoted(file)} is a MATLAB file of version 7.3; install h5py to read it: pip install h5py"
        ) from None
    with parsing(file, "a MATLAB file of version 7.3"), h5py.File(file, "r") as root:
        yield dict(_variables(root, "", MOST_LEVELS, file, set()))


def _variables(group: Any, prefix: str, levels: int, file: Path, seen: set[Any]) -> Iterator[tuple[str, MatVariable]]:
    """Yield the variables in a group; links to other files and to groups that were seen are not followed."""
    import h5py

    for name in group:
        if name.startswith("#") or not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        item = group[name]
        if isinstance(item, h5py.Dataset) or "MATLAB_sparse" in item.attrs:
            yield prefix + name, _variable(item, file)
            continue
        place = h5py.h5o.get_info(item.id).addr
        if levels > 1 and place not in seen:
            seen.add(place)
            yield from _variables(item, f"{prefix}{name}.", levels - 1, file, seen)


def _variable(item: Any, file: Path) -> MatVariable:
    if "MATLAB_sparse" in item.attrs:
        shape = (int(item.attrs["MATLAB_sparse"]), item["jc"].shape[0] - 1)
        return MatVariable(shape, partial(_sparse, item, shape, file))
    text = item.attrs.get("MATLAB_class", b"") in (b"char", "char")
    if text or "MATLAB_empty" in item.attrs or item.shape is None or item.dtype.kind not in "biuf":
        return MatVariable()
    return MatVariable(item.shape[::-1], lambda: _numbers(item, file).T)


def _numbers(item: Any, file: Path) -> Any:
    """Return the numbers in a data set of the file itself, if the file can hold them."""
    if item.external or item.is_virtual:
        raise ValueError("numbers in other files")
    # What was never written takes no room and reads as zeros.
    room = max(FREE_TEXT, DEFLATE_RATIO * item.id.get_storage_size())
    check_room(file, "bytes of numbers", item.size * item.dtype.itemsize, room)
    check_memory(file, f"an array of shape {item.shape}", item.size * (item.dtype.itemsize + 3 * 8))
    return item[()]


def _sparse(item: Any, shape: tuple[int, int], file: Path) -> Any:
    ends = _numbers(item["jc"], file).astype(np.int64)
    check_vertices(file, max(shape), 8 * len(ends))
    if "data" not in item:
        return sparse.csc_array(shape)
    n_entries = item["data"].size
    check_memory(file, f"a matrix of {n_entries:,} entries", BYTES_PER_ENTRY * n_entries)
    rows = _numbers(item["ir"], file).astype(np.int64)
    return sparse.csc_array((_numbers(item["data"], file), rows, ends), shape=shape)
