"""Moving rows between signals and tiles.

Signals have the shape (batch, n, features), blocks of them (batch, n, n_blocks, features); columns of a tile are those
of batch * features.
"""

from __future__ import annotations

import numpy as np

from cayleygsp.engine.compiling import compiled_helper
from cayleygsp.engine.tile_rows import copy_row


@compiled_helper()
def gather(first, last, x, column, n_columns, t):  # type: ignore[no-untyped-def]
    """Copy columns of x, shape (batch, n, features), into the rows of a tile, with zeros up to its width."""
    n, n_features, width = x.shape[1], x.shape[2], t.shape[1]
    x, t = x.reshape(-1), t.reshape(-1)
    for i in range(first, last):
        k = 0
        while k < n_columns:
            b, f = divmod(column + k, n_features)
            run = min(n_features - f, n_columns - k)
            copy_row(x, np.int64((b * n + i) * n_features + f), t, np.int64(i * width + k), np.int64(run))
            k += run
        for q in range(i * width + n_columns, (i + 1) * width):
            t[q] = 0


@compiled_helper()
def scatter(first, last, t, column, n_columns, y):  # type: ignore[no-untyped-def]
    """Copy the rows of a tile to columns of y, shape (batch, n, features)."""
    n, n_features, width = y.shape[1], y.shape[2], t.shape[1]
    y, t = y.reshape(-1), t.reshape(-1)
    for i in range(first, last):
        k = 0
        while k < n_columns:
            b, f = divmod(column + k, n_features)
            run = min(n_features - f, n_columns - k)
            copy_row(t, np.int64(i * width + k), y, np.int64((b * n + i) * n_features + f), np.int64(run))
            k += run


@compiled_helper()
def scatter_blocks(i, rows, start, stride, first, n_blocks, column, n_columns, y, fresh):  # type: ignore[no-untyped-def]
    """Copy rows of a tile, at start + s * stride, to blocks first + s of vertex i, or add them."""
    n, per_vertex, n_features = y.shape[1], y.shape[2] * y.shape[3], y.shape[3]
    y = y.reshape(-1)
    k = 0
    while k < n_columns:
        b, f = divmod(column + k, n_features)
        run = min(n_features - f, n_columns - k)
        base = np.uint64((b * n + i) * per_vertex + first * n_features + f)
        if not fresh:
            for s in range(np.uint64(n_blocks)):
                for q in range(np.uint64(run)):
                    y[base + s * np.uint64(n_features) + q] += rows[np.uint64(start + k) + s * np.uint64(stride) + q]
        elif run == 1:
            for s in range(np.uint64(n_blocks)):
                y[base + s * np.uint64(n_features)] = rows[np.uint64(start + k) + s * np.uint64(stride)]
        else:
            for s in range(n_blocks):
                where = np.int64(base) + s * n_features
                copy_row(rows, np.int64(start + k + s * stride), y, where, np.int64(run))
        k += run


@compiled_helper()
def gather_blocks(i, z, first, n_blocks, column, n_columns, rows, start, stride, width):  # type: ignore[no-untyped-def]
    """Copy blocks first + s of vertex i into rows of a tile at start + s * stride, with zeros up to its width."""
    n, per_vertex, n_features = z.shape[1], z.shape[2] * z.shape[3], z.shape[3]
    z = z.reshape(-1)
    k = 0
    while k < n_columns:
        b, f = divmod(column + k, n_features)
        run = min(n_features - f, n_columns - k)
        base = (b * n + i) * per_vertex + first * n_features + f
        if run == 1:
            for s in range(np.uint64(n_blocks)):
                rows[np.uint64(start + k) + s * np.uint64(stride)] = z[np.uint64(base) + s * np.uint64(n_features)]
        else:
            for s in range(n_blocks):
                where = np.int64(start + k + s * stride)
                copy_row(z, np.int64(base + s * n_features), rows, where, np.int64(run))
        k += run
    for s in range(n_blocks):
        for q in range(n_columns, width):
            rows[start + s * stride + q] = 0
