import numpy as np
import pytest
from scipy import sparse

import cayleygsp as cg
from cayleygsp.engine.packed import cut_rows, prepare_graph


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_equal_weights_are_not_stored(kind):
    L = cg.laplacian(cg.gallery.ring(50), kind)
    graph = prepare_graph(L.matrix, np.float64)
    assert graph.arrays[2].size == 0
    assert graph.n_bytes < L.matrix.data.nbytes + L.matrix.indices.nbytes
    weighted = prepare_graph(cg.laplacian(cg.gallery.sensor(50, rng=0), kind).matrix, np.float64)
    assert weighted.arrays[2].size > 0


def test_indices_take_32_bits_even_if_scipy_s_are_wider():
    L = cg.laplacian(cg.gallery.ring(50)).matrix
    wide = sparse.csr_array((L.data, L.indices.astype(np.int64), L.indptr.astype(np.int64)), shape=L.shape)
    graph = prepare_graph(wide, np.float64)
    assert graph.arrays[0].dtype == graph.arrays[1].dtype == np.uint32


def test_chunks_cover_all_rows_and_share_the_entries():
    L = cg.laplacian(cg.gallery.communities(n_vertices=5000, p_in=0.05, rng=0)).matrix
    chunks = prepare_graph(L, np.float64).chunks
    assert chunks[0] == 0
    assert chunks[-1] == 5000
    assert (np.diff(chunks) > 0).all()
    entries = np.diff(L.indptr[chunks])
    assert entries.max() < 3 * entries.mean()


@pytest.mark.parametrize(("n_chunks", "strip"), [(1, 64), (2, 8), (7, 8), (30, 1), (300, 1)])
def test_rows_are_cut_where_the_work_is(n_chunks, strip):
    lengths = np.random.default_rng(0).integers(0, 30, 200)
    lengths[50] = 1000
    indptr = np.append(0, np.cumsum(lengths))
    work = indptr + 4 * np.arange(201)
    wanted = np.linspace(0, work[-1], min(n_chunks, 200) + 1).astype(int)
    expected = np.unique(np.append(np.searchsorted(work, wanted[:-1]) // strip * strip, 200))
    np.testing.assert_array_equal(cut_rows(indptr, n_chunks), expected)


@pytest.mark.parametrize(("n_chunks", "strip"), [(3, 512), (20, 64), (150, 8), (1000, 1)])
def test_long_pieces_begin_at_round_numbers_of_rows(n_chunks, strip):
    """Pieces are as even as that allows."""
    n = 5003
    chunks = cut_rows(2 * np.arange(n + 1), n_chunks).astype(int)
    assert chunks[0] == 0
    assert chunks[-1] == n
    assert not (chunks[:-1] % strip).any()
    assert np.diff(chunks).max() <= n / n_chunks + strip
    assert np.diff(chunks)[:-1].min() >= n / n_chunks - strip


def test_large_work_is_cut_into_larger_pieces():
    for n, n_chunks in ((3 * 10**5, 128), (3 * 10**6, 128), (10**7, 305)):
        chunks = cut_rows(np.arange(0, 4 * n + 1, 4, dtype=np.int64)).astype(int)
        assert chunks.size == n_chunks + 1
        assert np.diff(chunks).max() <= n / n_chunks + 512


def test_small_work_is_not_cut():
    assert cut_rows(cg.laplacian(cg.gallery.ring(50)).matrix.indptr).tolist() == [0, 50]
    assert cut_rows(np.array([0, 3])).tolist() == [0, 1]
    assert cut_rows(np.array([0])).tolist() == [0]
