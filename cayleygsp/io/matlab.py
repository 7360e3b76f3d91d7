"""Adjacency matrices in MATLAB files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
from scipy import sparse

from cayleygsp.io.files import parsing

_MAT_NAMES = ("W", "A", "adjacency", "Problem.A")


_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read_mat(file: Path, variable: str | None = None) -> tuple[Any, None]:
    """Return the adjacency matrix in a MATLAB file."""
    contents = _hdf5_variables(file) if _is_hdf5(file) else _mat_variables(file)
    if variable is None:
        return contents[_adjacency_name(contents, file)], None
    if variable not in contents:
        raise ValueError(f"`variable` must be one of {', '.join(contents) or 'none'} in '{file}', got {variable!r}")
    if not _is_numeric(contents[variable]):
        raise ValueError(f"`variable` {variable!r} of '{file}' must be a matrix of numbers")
    return contents[variable], None


def _is_hdf5(file: Path) -> bool:
    """Tell whether the file is of version 7.3, that is HDF5, mostly behind 512 bytes of MATLAB's own."""
    with file.open("rb") as stream:
        head = stream.read(512 + len(_HDF5_SIGNATURE))
    return head.startswith(_HDF5_SIGNATURE) or head[512:] == _HDF5_SIGNATURE


def _mat_variables(file: Path) -> dict[str, Any]:
    """Return the variables of a file up to version 7, fields of a struct as ``struct.field``."""
    with parsing(file, "a MATLAB file"), file.open("rb") as stream:
        contents = scipy.io.loadmat(stream)
    variables: dict[str, Any] = {}
    for name, value in contents.items():
        if name.startswith("__"):
            continue
        if isinstance(value, np.ndarray) and value.dtype.names and value.size == 1:
            record = value.reshape(-1)[0]
            variables |= {f"{name}.{field}": record[field] for field in value.dtype.names}
        else:
            variables[name] = value
    return variables


def _hdf5_variables(file: Path) -> dict[str, Any]:
    """Return the numeric variables of a file of version 7.3, fields of a struct as ``struct.field``."""
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"'{file}' is a MATLAB file of version 7.3; install h5py to read it: pip install h5py"
        ) from None
    variables: dict[str, Any] = {}
    with parsing(file, "a MATLAB file of version 7.3"), h5py.File(file, "r") as root:
        for name, item in root.items():
            if name.startswith("#"):
                continue
            if isinstance(item, h5py.Group) and "MATLAB_sparse" not in item.attrs:
                variables |= {f"{name}.{field}": _hdf5_matrix(value) for field, value in item.items()}
            else:
                variables[name] = _hdf5_matrix(item)
    return variables


def _hdf5_matrix(item: Any) -> Any:
    """Return a sparse or dense matrix as MATLAB stored it, None for what is no matrix of numbers."""
    if "MATLAB_sparse" in item.attrs:
        column_ends = item["jc"][()].astype(np.int64)
        shape = (int(item.attrs["MATLAB_sparse"]), len(column_ends) - 1)
        if "data" not in item:
            return sparse.csc_array(shape)
        return sparse.csc_array((item["data"][()], item["ir"][()].astype(np.int64), column_ends), shape=shape)
    text = item.attrs.get("MATLAB_class", b"") in (b"char", "char")
    if text or "MATLAB_empty" in item.attrs or getattr(item, "dtype", np.dtype("O")).kind not in "biuf":
        return None
    return item[()].T


def _is_numeric(value: Any) -> bool:
    is_array = sparse.issparse(value) or isinstance(value, np.ndarray)
    return is_array and value.dtype.kind in "biufc"


def _adjacency_name(contents: dict[str, Any], file: Path) -> str:
    square = [
        name
        for name, value in contents.items()
        if _is_numeric(value) and value.ndim == 2 and value.shape[0] == value.shape[1] > 1
    ]
    if len(square) == 1:
        return square[0]
    for name in _MAT_NAMES:
        if name in square:
            return name
    if square:
        raise ValueError(f"'{file}' has several square matrices, choose a `variable`: {', '.join(square)}")
    raise ValueError(f"'{file}' has no square matrix of numbers, only: {', '.join(contents) or 'nothing'}")
