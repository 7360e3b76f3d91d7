"""The lowest frequencies without an eigendecomposition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

import cayleygsp as cg
from cayleygsp.density import lowest_frequencies
from tests.oracle import eigenpairs


@st.composite
def forests(draw):
    """Graphs with several components, some of them single vertices."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(120, 200))
    W = np.triu(rng.random((n, n)) < draw(st.sampled_from([1.0, 3.0])) / n, 1) * rng.uniform(0.5, 2, (n, n))
    W[0, 1] = 1.0
    return cg.laplacian(W + W.T, draw(st.sampled_from(["combinatorial", "normalized"])))


@settings(max_examples=15, deadline=None)
@given(L=forests(), more=st.integers(0, 6))
def test_no_frequency_is_above_its_ritz_value_and_zeros_are_counted(L, more):
    m = min(L.n_components + more, 18)
    lam = np.clip(eigenpairs(L)[0], 0, None)
    values, residual, certificate = lowest_frequencies(L, m, rng=0)
    assert (values[: L.n_components] == 0).all()
    assert (lam[:m] <= values + 1e-13 * L.lmax).all()
    # as many eigenvalues as values within the residual of them; and here they are the lowest
    assert_allclose(values, lam[:m], atol=residual + 1e-9)
    assert certificate == ("exact" if m <= L.n_components else "at most")


def test_many_components_need_no_computation():
    W = sparse.block_diag([cg.gallery.ring(3).W] * 400)
    L = cg.laplacian(W.tocsr())
    values, residual, certificate = lowest_frequencies(L, 15)
    assert (certificate, residual) == ("exact", 0.0)
    assert not values.any()
    assert not L.has_eigenbasis


def test_known_eigenvalues_are_used():
    L = cg.laplacian(cg.gallery.ring(30))
    values, _, certificate = lowest_frequencies(L, 30)
    assert certificate == "exact"
    assert_allclose(values, eigenpairs(L)[0], atol=1e-12)


def test_more_than_there_are_is_refused():
    with pytest.raises(ValueError, match="`n_lowest` must be at most the number of vertices 5, got 6"):
        lowest_frequencies(cg.laplacian(cg.gallery.ring(5)), 6)
