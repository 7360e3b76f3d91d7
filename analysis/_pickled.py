"""Pickles of arrays of numbers and sparse matrices, read without running anything of theirs.

What a file names is looked up in a short list. What stands there are records that keep what they are given and do
nothing: no object of numpy or scipy is made while the file is read, which a forged one could fill with addresses of
its own. Arrays are made afterwards from their bytes, of a few known types, and sizes are compared first. The file is
looked through before it is read: numbers in it that would take much memory are larger than a file of its length has.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

# Types of numbers, as dtypes are pickled: one letter and the bytes of a number.
_TYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")

_CLASSES = {("scipy.sparse.csr", "csr_matrix"), ("scipy.sparse._csr", "csr_matrix")}


class _Record:
    """Keeps the arguments and the state of what a file names."""

    __slots__ = ("args", "state")

    def __init__(self, *args: Any) -> None:
        self.args: tuple[Any, ...] = args
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Dtype(_Record):
    __slots__ = ()


class _Array(_Record):
    __slots__ = ()


class _Csr(_Record):
    __slots__ = ()


class _Callable:
    """A name of the file that it calls; it has no attributes that the file could set."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make

    def __call__(self, *args: Any) -> Any:
        return self._make(*args)

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("the file changes what it names; it is not loaded")


def _dictionary(*args: Any) -> dict[Any, Any]:
    """Return an empty dictionary in the place of one with a default."""
    return {}


def _encoded(text: Any, encoding: Any) -> bytes:
    """Return bytes that Python 3 wrote for Python 2 as text."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes must be written as latin1, got {encoding!r:.20}")
    return text.encode("latin1")


def _from_buffer(content: Any, dtype: Any, shape: Any, order: Any) -> _Array:
    """Return the record of an array that was written in one piece, as newer files have them."""
    array = _Array()
    array.state = (1, shape, dtype, order == "F", content)
    return array


# What a file may name. Of a sparse matrix pickle wants a class: each name gets one of its own.
_CALLABLE: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.numeric", "_frombuffer"): _from_buffer,
    ("numpy.core.numeric", "_frombuffer"): _from_buffer,
    ("_codecs", "encode"): _encoded,
    ("collections", "defaultdict"): _dictionary,
    ("__builtin__", "list"): _Record,
    ("builtins", "list"): _Record,
}


class RestrictedUnpickler(pickle.Unpickler):
    """An unpickler that knows lists and dictionaries, and makes records of arrays and sparse matrices."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what takes the place of a name, if it is on the list."""
        if (module, name) in _CLASSES:
            return type(name, (_Csr,), {"__slots__": ()})
        try:
            return _Callable(_CALLABLE[module, name])
        except KeyError:
            raise pickle.UnpicklingError(
                f"the file names {module}.{name}, which no file of Planetoid needs; it is not loaded"
            ) from None


def unpickle(content: bytes) -> Any:
    """Return what a file of Python 2 or 3 holds; :func:`as_array` and :func:`as_matrix` make arrays of its records.

    Raises
    ------
    pickle.UnpicklingError
        If the file is damaged, or names anything that is not on the list.
    """
    try:
        _look_through(content)
        return RestrictedUnpickler(io.BytesIO(content), encoding="latin1").load()
    except pickle.UnpicklingError:
        raise
    except Exception as error:  # what a damaged file leads to is of many kinds
        raise pickle.UnpicklingError(f"the file is damaged: {error or type(error).__name__}") from error


def _look_through(content: bytes) -> None:
    """Reject a file that keeps something under a number that no file of its length reaches.

    Lists of what is kept are as long as the largest number. Other lengths are compared with the file as it is read.
    """
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and not 0 <= int(str(argument)) <= len(content):
            raise pickle.UnpicklingError(f"the file has {len(content)} bytes and counts to {argument}; it is damaged")


def as_array(value: Any) -> np.ndarray:
    """Return the array that was pickled.

    Raises
    ------
    ValueError
        If it is none, or its bytes are not those of its shape and type.
    """
    state = value.state if isinstance(value, _Array) else None
    if not (isinstance(state, tuple) and len(state) == 5 and _is_shape(state[1])):
        raise ValueError(f"expected an array of numbers, got {type(value).__name__.lstrip('_')}")
    _, shape, dtype, by_columns, stored = state
    kind = _as_dtype(dtype)
    content = stored.encode("latin1") if isinstance(stored, str) else stored  # strings of Python 2 are bytes
    size = math.prod(shape) * kind.itemsize
    if not isinstance(content, bytes | bytearray) or len(content) != size:
        raise ValueError(f"an array of shape {shape} and type {kind} must have {size} bytes")
    array = np.frombuffer(content, kind).reshape(shape, order="F" if by_columns else "C")
    return array.astype(kind.newbyteorder("="))


def as_matrix(value: Any) -> sparse.csr_array:
    """Return the sparse matrix that was pickled, checked; raises ValueError if it is none."""
    state = value.state if isinstance(value, _Csr) else None
    if not isinstance(state, dict):
        raise ValueError(f"expected a sparse matrix of numbers, got {type(value).__name__.lstrip('_')}")
    shape: Any = state.get("_shape") or state.get("shape")
    if not _is_shape(shape) or len(shape) != 2:
        raise ValueError(f"a sparse matrix must have a shape of two numbers, got {shape!r:.50}")
    matrix = sparse.csr_array(tuple(as_array(state.get(name)) for name in ("data", "indices", "indptr")), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _as_dtype(value: Any) -> np.dtype:
    code = value.args[0] if isinstance(value, _Dtype) and value.args else None
    state = value.state if isinstance(value, _Dtype) else None
    order = state[1] if isinstance(state, tuple) and len(state) > 1 else ""
    if not isinstance(code, str) or code not in _TYPES or order not in ("<", ">", "|"):
        raise ValueError(f"numbers must be of one of the types {', '.join(_TYPES)}, got {code!r:.50}")
    return np.dtype(f"{order}{code}")


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
