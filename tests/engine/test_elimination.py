import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from cayleygsp.engine.elimination import minimum_degree


def eliminate(pattern, order):
    """Return the lengths of the factor's columns, by filling in a dense pattern."""
    A = pattern[np.ix_(order, order)].copy()
    lengths = []
    for k in range(len(order)):
        later = k + 1 + np.flatnonzero(A[k, k + 1 :])
        lengths.append(later.size)
        A[np.ix_(later, later)] = True
    return np.array(lengths)


@given(n=st.integers(1, 30), density=st.floats(0, 1), seed=st.integers(0, 10**6), with_diagonal=st.booleans())
def test_lengths_are_those_of_elimination_in_the_order_that_is_returned(n, density, seed, with_diagonal):
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1)
    pattern = upper | upper.T
    A = sparse.csr_array(pattern + with_diagonal * np.eye(n))
    order, lengths, work = minimum_degree(A.indptr.astype(np.int64), A.indices.astype(np.int64), np.inf, np.inf)
    assert_array_equal(np.sort(order), np.arange(n))
    assert_array_equal(lengths, eliminate(pattern, order))
    assert work == np.sum(lengths**2)


def test_ordering_stops_when_there_is_too_much_work():
    A = sparse.csr_array(np.ones((50, 50)))
    indptr, indices = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    assert np.isfinite(minimum_degree(indptr, indices, 1e5, np.inf)[2])
    assert np.isinf(minimum_degree(indptr, indices, 1e4, np.inf)[2])
    assert np.isinf(minimum_degree(indptr, indices, 1e5, 1000.0)[2])
