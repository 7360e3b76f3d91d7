"""Edge lists in pieces, text or parquet, read a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cayleygsp._text import quoted
from cayleygsp._typing import FloatArray, IntArray
from cayleygsp.io.limits import InputError

# Bytes of text, and rows of parquet, that are read together.
_TEXT_BYTES = 2**24
_ROWS = 2**20

# Names that the columns of a parquet file may have; the weight is optional.
_TAILS, _HEADS, _WEIGHTS = ("source", "src", "u"), ("target", "dst", "v"), ("weight", "w")

_LARGEST_VERTEX = 2**53


class Edges(NamedTuple):
    """Some edges of a piece.

    Attributes
    ----------
    ends : numpy.ndarray of int64, shape (n_edges, 2)
        Vertices.
    weights : numpy.ndarray of float64, shape (n_edges,)
        Weights.
    """

    ends: IntArray
    weights: FloatArray


def check_pieces(pieces: Sequence[str | Path]) -> list[Path]:
    """Return the files of an edge list, if they are all there."""
    if isinstance(pieces, str | Path):
        raise TypeError(f"`pieces` must be a list of files, got {pieces!r}")
    files = [Path(piece) for piece in pieces]
    if not files:
        raise ValueError("`pieces` must hold at least one file, got none")
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"`pieces` must be files, got {quoted(file)}, which is not a file")
    return files


def read_batches(file: Path) -> Iterator[Edges]:
    """Yield the edges of a piece, some at a time.

    Raises
    ------
    InputError
        If something in it is no edge with a finite weight of at least 0.
    """
    batches = _parquet_batches(file) if file.suffix == ".parquet" else _text_batches(file)
    n_before = 0
    for edges in batches:
        wrong = (edges.ends < 0).any(axis=1) | (edges.ends > _LARGEST_VERTEX).any(axis=1)
        wrong |= ~(np.isfinite(edges.weights) & (edges.weights >= 0))
        if wrong.any():
            i = int(np.argmax(wrong))
            u, v = edges.ends[i].tolist()
            raise InputError(
                f"{quoted(file)}, edge {n_before + i + 1}: expected vertices from 0 on and a finite weight of at least "
                f"0, got {u} {v} {edges.weights[i]:g}"
            )
        n_before += len(edges.weights)
        yield edges


def _text_batches(file: Path) -> Iterator[Edges]:
    rest = b""
    with open(file, "rb") as content:
        while block := content.read(_TEXT_BYTES):
            lines, newline, after = (rest + block).rpartition(b"\n")
            rest = after if newline else rest + block
            if newline:
                yield _parse_text(lines, file)
    if rest.strip():
        yield _parse_text(rest, file)


def _parse_text(lines: bytes, file: Path) -> Edges:
    if b"#" in lines or b"%" in lines:
        lines = b"\n".join(line.partition(b"#")[0].partition(b"%")[0] for line in lines.split(b"\n"))
    rows = lines.replace(b",", b" ").replace(b";", b" ").split(b"\n")
    full = [row for row in rows if row.strip()]
    if not full:
        return Edges(np.zeros((0, 2), np.int64), np.zeros(0))
    n_columns = len(full[0].split())
    try:
        numbers = np.array(b" ".join(full).split(), dtype=np.float64)
        table = numbers.reshape(len(full), n_columns)
        if n_columns not in (2, 3) or not (table[:, :2] == np.floor(table[:, :2])).all():
            raise ValueError
    except ValueError:
        raise InputError(
            f"{quoted(file)} must have two vertices as whole numbers and an optional weight in every line, such as "
            f"'3 17 0.5', and as many columns in all, got a line {full[0].decode('utf-8', 'replace')[:60]!r} and others"
        ) from None
    weights = table[:, 2].copy() if n_columns == 3 else np.ones(len(table))
    return Edges(table[:, :2].astype(np.int64), weights)


def _parquet_batches(file: Path) -> Iterator[Edges]:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        raise ImportError("edges in parquet files need pyarrow: install it, or give text") from None
    try:
        table = parquet.ParquetFile(file)
    except ArrowInvalid as error:
        raise InputError(f"{quoted(file)} is not a parquet file: {error}") from None
    names = table.schema_arrow.names
    tail, head, weight = (next((name for name in some if name in names), None) for some in (_TAILS, _HEADS, _WEIGHTS))
    if tail is None or head is None:
        raise InputError(
            f"{quoted(file)} must have columns 'source' and 'target', and 'weight' if there are weights, got "
            + ", ".join(map(repr, names))
        )
    columns = [tail, head] + ([weight] if weight else [])
    for batch in table.iter_batches(_ROWS, columns=columns):
        ends = np.stack([_whole(batch.column(k).to_numpy(zero_copy_only=False), file) for k in range(2)], axis=1)
        weights = batch.column(2).to_numpy(zero_copy_only=False).astype(np.float64) if weight else np.ones(len(ends))
        yield Edges(ends, weights)


def _whole(values: Any, file: Path) -> IntArray:
    if values.dtype.kind not in "iu":
        raise InputError(f"{quoted(file)} must have vertices as whole numbers, got {values.dtype}")
    return values.astype(np.int64)
