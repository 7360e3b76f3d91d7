"""Matrices in files of numpy and scipy, and in Matrix Market files."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.io.helpers import W, read_text, refusal, write


def test_object_arrays_are_refused_by_reason(tmp_path):
    objects = np.array([[None, 1], [1, None]], dtype=object)
    np.save(tmp_path / "a.npy", objects)
    assert "Python objects, which are never unpickled" in refusal(tmp_path / "a.npy")
    np.savez(tmp_path / "b.npz", format="csr", data=objects, indices=[0], indptr=[0], shape=[1, 1])
    assert "Python objects, which are never unpickled" in refusal(tmp_path / "b.npz")


def test_npz_without_a_sparse_matrix_is_refused(tmp_path):
    np.savez(tmp_path / "plain.npz", W=W)
    assert "scipy.sparse.save_npz" in refusal(tmp_path / "plain.npz")


def test_matrix_that_is_no_adjacency_names_the_file(tmp_path):
    np.save(tmp_path / "a.npy", W[:3])
    assert "square" in refusal(tmp_path / "a.npy")
    np.save(tmp_path / "b.npy", np.triu(W))
    assert "W[0, 1] = 1.5 but W[1, 0] = 0.0" in refusal(tmp_path / "b.npy")
    np.save(tmp_path / "c.npy", W.astype(complex))
    refusal(tmp_path / "c.npy", TypeError)


def test_matrix_market_pattern_and_dense_forms(tmp_path):
    pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n% by hand\n3 3 2\n2 1\n3 2\n"
    assert_array_equal(read_text(tmp_path, pattern, "p.mtx").W.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    dense = "%%MatrixMarket matrix array real symmetric\n2 2\n0\n4\n0\n"
    assert_array_equal(read_text(tmp_path, dense, "d.mtx").W.toarray(), [[0, 4], [4, 0]])


def test_matrix_market_error_names_the_line(tmp_path):
    text = "%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 1\n9 2 1\n"
    assert "Line 4" in refusal(write(tmp_path / "a.mtx", text))


@pytest.mark.parametrize("end", ["1E", "1e-", "1e+\n\n"])
def test_matrix_market_that_ends_within_a_number_is_refused(tmp_path, end):
    text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 " + end
    assert "ends within a number" in refusal(write(tmp_path / "a.mtx", text))


def test_broken_gzip_says_so(tmp_path):
    file = tmp_path / "a.mtx.gz"
    file.write_bytes(b"%%MatrixMarket")
    assert "not a complete gzip file" in refusal(file)
