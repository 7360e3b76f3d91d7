"""Edges as rows: sorted, checked, normalized, bounded."""

import numpy as np
import pytest

from cayleygsp.engine import edge_rows

NONE = np.empty(0, np.int64)


def rows(sources, targets, weights=(), graphs=(), n=4, kind=edge_rows.PLAIN, keep_loops=True):
    arrays = np.array(sources, np.int64), np.array(targets, np.int64), np.array(weights, float)
    return edge_rows.rows_of_edges(*arrays, n, np.array(graphs, np.int64), kind=kind, keep_loops=keep_loops)


def test_rows_hold_the_edges_that_end_at_a_vertex():
    made = rows([0, 2, 1, 3], [1, 1, 0, 3], [1.0, 2.0, 5.0, 7.0])
    assert made.fault == 0
    assert made.asymmetry > 0.1
    np.testing.assert_array_equal(made.indptr, [0, 1, 3, 3, 4])
    np.testing.assert_array_equal(made.indices, [1, 0, 2, 3])
    np.testing.assert_array_equal(made.values, [5, 1, 2, 0])
    np.testing.assert_array_equal(made.degrees, [1, 5, 2, 7])
    np.testing.assert_array_equal(made.diagonal, [1, 5, 2, 0])
    np.testing.assert_array_equal(rows([3], [3], [7.0], keep_loops=False).degrees, np.zeros(4))


@pytest.mark.parametrize("kind", [edge_rows.SYMMETRIC, edge_rows.RANDOM_WALK])
@pytest.mark.parametrize("keep_loops", [False, True])
def test_rows_are_divided_by_degrees(kind, keep_loops):
    W = np.random.default_rng(0).random((5, 5)) * 1e-200
    W[3] = 0
    sources, targets = np.nonzero(W)
    made = rows(sources, targets, W[sources, targets], n=5, kind=kind, keep_loops=keep_loops)
    beside = W - np.diag(W.diagonal())
    d = W.sum(1) if keep_loops else beside.sum(1)
    power = {edge_rows.SYMMETRIC: -0.5, edge_rows.RANDOM_WALK: -1}[kind]
    by = np.power(d, power, out=np.zeros(5), where=d > 0)
    expected = (by[:, None] * beside * (by if kind == edge_rows.SYMMETRIC else 1)).T
    found = np.zeros((5, 5))
    found[np.repeat(np.arange(5), np.diff(made.indptr)), made.indices] = made.values
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    diagonal = np.divide(beside.sum(1), d, out=np.zeros(5), where=d > 0) if keep_loops else np.ones(5)
    np.testing.assert_allclose(made.diagonal, diagonal, rtol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (([0, 4], [1, 0]), edge_rows.FAULTY),
        (([0, -1], [1, 0]), edge_rows.FAULTY),
        (([0, 1], [1, 0], [1.0, np.nan]), edge_rows.FAULTY),
        (([0, 1], [1, 0], [1.0, -1.0]), edge_rows.NEGATIVE),
        (([0, 1], [1, 0], [1.0, 1.0], [0, 1, 1, 1]), edge_rows.FAULTY),
    ],
)
def test_faults_are_found(arguments, fault):
    assert rows(*arguments).fault == fault


def test_bounds_enclose_the_largest_eigenvalue_of_each_graph():
    rng = np.random.default_rng(0)
    W = np.zeros((12, 12))
    for part in (slice(0, 5), slice(5, 12)):
        size = part.stop - part.start
        W[part, part] = np.triu(rng.random((size, size)), 1)
    W += W.T
    sources, targets = np.nonzero(W)
    graphs = np.repeat([0, 1], [5, 7])
    made = rows(sources, targets, W[sources, targets], n=12)
    assert made.asymmetry < 1e-14
    matrix = made.indptr, made.indices, made.values, made.diagonal
    upper, lower = edge_rows.guaranteed_bound(*matrix, graphs, 8), edge_rows.rayleigh_bound(*matrix, graphs)
    for part in (slice(0, 5), slice(5, 12)):
        lmax = np.linalg.eigvalsh(np.diag(W[part, part].sum(1)) - W[part, part])[-1]
        assert 0.9 * lmax < lower[part].max() <= lmax * (1 + 1e-12)
        assert lmax <= upper[part].min() < 1.5 * lmax
    assert edge_rows.guaranteed_bound(*matrix, np.zeros(12, np.int64), 8).max() >= upper.max() * (1 - 1e-12)
