"""Edges as rows: sorted, checked, normalized, bounded."""

import numpy as np
import pytest

from cayleygsp.engine import edge_rows

NONE = np.empty(0, np.int64)


def rows(sources, targets, weights=(), graphs=(), n=4, keep_loops=True):
    arrays = np.array(sources, np.int64), np.array(targets, np.int64), np.array(weights, float)
    return edge_rows.rows_of_edges(*arrays, n, np.array(graphs, np.int64), keep_loops=keep_loops)


def test_rows_hold_the_edges_that_end_at_a_vertex():
    fault, asymmetry, indptr, indices, values, degrees, loops = rows([0, 2, 1, 3], [1, 1, 0, 3], [1.0, 2.0, 5.0, 7.0])
    assert fault == 0
    assert asymmetry > 0.1
    np.testing.assert_array_equal(indptr, [0, 1, 3, 3, 4])
    np.testing.assert_array_equal(indices, [1, 0, 2, 3])
    np.testing.assert_array_equal(values, [5, 1, 2, 0])
    np.testing.assert_array_equal(degrees, [1, 5, 2, 7])
    np.testing.assert_array_equal(loops, [0, 0, 0, 7])
    np.testing.assert_array_equal(rows([3], [3], [7.0], keep_loops=False)[5], np.zeros(4))


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (([0, 4], [1, 0]), edge_rows.OUT_OF_RANGE),
        (([0, -1], [1, 0]), edge_rows.OUT_OF_RANGE),
        (([0, 1], [1, 0], [1.0, np.nan]), edge_rows.NOT_FINITE),
        (([0, 1], [1, 0], [1.0, -1.0]), edge_rows.NEGATIVE),
        (([0, 1], [1, 0], [1.0, 1.0], [0, 1, 1, 1]), edge_rows.TWO_GRAPHS),
    ],
)
def test_faults_are_found(arguments, fault):
    assert rows(*arguments)[0] == fault


def test_bounds_enclose_the_largest_eigenvalue_of_each_graph():
    rng = np.random.default_rng(0)
    W = np.zeros((12, 12))
    for part in (slice(0, 5), slice(5, 12)):
        size = part.stop - part.start
        W[part, part] = np.triu(rng.random((size, size)), 1)
    W += W.T
    sources, targets = np.nonzero(W)
    graphs = np.repeat([0, 1], [5, 7])
    _, asymmetry, indptr, indices, values, degrees, _ = rows(sources, targets, W[sources, targets], n=12)
    assert asymmetry < 1e-14
    matrix = indptr, indices, values, degrees
    upper, lower = edge_rows.guaranteed_bound(*matrix, graphs, 8), edge_rows.rayleigh_bound(matrix, graphs)
    for part in (slice(0, 5), slice(5, 12)):
        lmax = np.linalg.eigvalsh(np.diag(W[part, part].sum(1)) - W[part, part])[-1]
        assert 0.9 * lmax < lower[part].max() <= lmax * (1 + 1e-12)
        assert lmax <= upper[part].min() < 1.5 * lmax
    assert edge_rows.guaranteed_bound(*matrix, NONE, 8).max() >= upper.max() * (1 - 1e-12)


def test_labels_are_numbered_without_gaps():
    np.testing.assert_array_equal(edge_rows.consecutive(np.array([2, 2, 7, 9, 9])), [0, 0, 1, 2, 2])
    np.testing.assert_array_equal(edge_rows.consecutive(np.array([9, 2, 9])), [1, 0, 1])
    assert edge_rows.consecutive(NONE).size == 0
