"""Recurrences that run up and down, and the gradient in the entries of the matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cayleygsp.engine import edge_loops, packed, threads

# Columns: pieces of all sizes, and one that is left.
WIDTH = 45


def matrix(symmetric):
    """Return a dense matrix, and it and its transposed as the loops take them."""
    rng = np.random.default_rng(0)
    W = rng.random((12, 12)) * (rng.random((12, 12)) < 0.4)
    np.fill_diagonal(W, 0)
    W = W + W.T if symmetric else W
    d, scale = rng.random(12), np.full(12, 0.3)
    M = np.diag(scale * d - 1) - scale[:, None] * W
    graphs = []
    for part in (W, W.T):
        S = sparse.csr_array(part)
        graphs.append((S.indptr.astype(np.uint32), S.indices.astype(np.uint32), S.data, d, -1.0, scale))
    return M, *graphs


def dense_terms(M, x, n_terms):
    t = [x, M @ x]
    while len(t) < n_terms:
        t.append(2 * M @ t[-1] - t[-2])
    return t[:n_terms]


def dense_sums(M, g):
    """Return the sums of Clenshaw's rule, the last two zero."""
    u = [np.zeros_like(g[0])] * 2
    for k in range(len(g) - 1, -1, -1):
        u.insert(0, g[k] + (2 if k else 1) * M @ u[0] - u[1])
    return u


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("backwards", [True, False])
@pytest.mark.parametrize("symmetric", [True, False])
def test_loops_give_terms_sums_and_products(monkeypatch, n_threads, backwards, symmetric):
    monkeypatch.setattr(threads, "_NUMBERS_PER_THREAD", 1)
    monkeypatch.setattr(threads, "_NUMBERS_TO_SHARE", 0)
    monkeypatch.setattr(edge_loops, "_NUMBERS_TO_SHARE", 0)
    monkeypatch.setattr(packed, "_LEAST_CHUNK_WORK", 8)
    M, graph, transposed = matrix(symmetric)
    rng = np.random.default_rng(1)
    size = 6
    x, g = rng.standard_normal((12, WIDTH)), rng.standard_normal((size, 12, WIDTH))
    t = np.full((size + 2, 12, WIDTH), np.nan)
    t[2] = x
    edge_loops.ascend(graph, 0, size, t, n_threads)
    terms, sums = dense_terms(M, x, size), dense_sums(M.T, g)
    np.testing.assert_allclose(t[2:], terms, atol=1e-12)
    expected = sum((2 if k else 1) * sums[k + 1] @ terms[k].T for k in range(size))
    for first_is_u, tied in ((True, False), (False, False), *([(True, True)] if symmetric else [])):
        u = np.concatenate([g, np.zeros((2, 12, WIDTH))])
        back = np.full_like(t, np.nan)
        back[size - 1 : size + 1] = terms[size - 2 :]
        pattern = graph if first_is_u else transposed
        entries, diagonal = np.zeros(pattern[2].size), np.zeros(12)
        edge_loops.descend(
            transposed,
            graph,
            0,
            size,
            size - 1,
            u,
            back if backwards else t,
            backwards=backwards,
            first_is_u=first_is_u,
            tied=tied,
            entries=entries,
            diagonal=diagonal,
            limit=n_threads,
        )
        np.testing.assert_allclose(u, sums, atol=1e-12)
        if backwards:
            np.testing.assert_allclose(back[1 : size + 1], terms, atol=1e-12)
        wanted = expected if first_is_u else expected.T
        wanted = (wanted + wanted.T) / 2 if tied else wanted
        rows = np.repeat(np.arange(12), np.diff(pattern[0].astype(int)))
        np.testing.assert_allclose(entries, wanted[rows, pattern[1]], atol=1e-11)
        np.testing.assert_allclose(diagonal, np.diag(wanted), atol=1e-11)
