"""Matrices in files of numpy and scipy, and in Matrix Market files."""

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from cayleygsp.io import read_graph
from cayleygsp.io.files import Request
from cayleygsp.io.matrices import read_mtx
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


HEAD = "%%MatrixMarket matrix coordinate real symmetric\n% by hand\n\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "3 3 2\n2 1 1\n9 2 1\n", "line 6: Row index out of bounds, got '9 2 1'"),
        (HEAD + "3 3 2\n2 1 1\n\n0 2 1\n", "line 7: Row index out of bounds, got '0 2 1'"),
        (HEAD + "3 3 2\n2 1 1\n1.5 2 1\n", "line 6: expected 3 numbers, got '1.5 2 1'"),
        (HEAD + "3 3 2\n2 1 1\nnan 2 1\n", "line 6: expected 3 numbers, got 'nan 2 1'"),
        (HEAD + "3 3 2\n2 1 1\n3 2 1E", "line 6: expected 3 numbers, got '3 2 1E'"),
        (HEAD + "3 3 2\n2 1 1\n3 2 1e-", "line 6: expected 3 numbers, got '3 2 1e-'"),
        (HEAD + "3 3 2\n2 1 1\n3 2 1e+\n\n", "line 6: expected 3 numbers, got '3 2 1e+'"),
        (HEAD + "3 3 2\n2 1 1 7\n3 2 1\n", "line 5: expected 3 numbers, got '2 1 1 7'"),
        (HEAD + "3 3 2\n2 1\n3 2 1\n", "line 5: expected 3 numbers, got '2 1'"),
        (HEAD + "3 3 2\n2 1 1 3 2 1\n", "line 5: expected 3 numbers"),
        (HEAD + "3 3 2\n2 1 1.5000\n", "Truncated file. Expected another 1 lines"),
        (HEAD + "3 3 1\n2 1 1\n3 2 1\n", "line 6: Too many lines in file (file too long), got '3 2 1'"),
        (HEAD + "3 3 2\n2 1 1\n3 2 \x1b[31m\n", r"line 6: expected 3 numbers, got '3 2 \x1b[31m'"),
        (HEAD + "3 3\n", "Invalid integer value. It begins with '%%MatrixMarket"),
        (HEAD + "3 3 -2\n", "line 4: Matrix NNZ can't be negative, got '3 3 -2'"),
        (HEAD + "3 4 1\n2 1 1\n", "expected as many rows as columns, as it is symmetric, got 3 and 4"),
        (HEAD, "Invalid MatrixMarket header: Premature EOF"),
        ("%%MatrixMarket vector coordinate real general\n3 1\n2 1\n", "line 3: expected 3 numbers, got '2 1'"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n2 1 1 1\n", "got coordinate complex"),
        ("%%MatrixMarket matrix array pattern general\n2 2\n", "got array pattern"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\nx\n4\n", "line 5: expected a number, got 'x'"),
    ],
)
def test_matrix_market_errors_name_the_line(tmp_path, text, message):
    assert message in refusal(write(tmp_path / "a.mtx", text))


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrix_market_is_read_as_scipy_does(tmp_path, symmetry, dense, field):
    if dense and field == "pattern":
        return
    lower = np.tril(np.random.default_rng(0).integers(0, 4, (5, 5)), -1)
    matrix = {"general": lower + 1, "symmetric": lower + lower.T + np.eye(5), "skew-symmetric": lower - lower.T}[
        symmetry
    ]
    matrix = matrix.astype(np.float64 if field == "real" else np.int64)
    written = matrix if dense else sparse.coo_array(matrix)
    scipy.io.mmwrite(tmp_path / "a.mtx", written, field=field, symmetry=symmetry, precision=17)
    ours, theirs = read_mtx(tmp_path / "a.mtx", Request()).matrix, scipy.io.mmread(tmp_path / "a.mtx")
    ours, theirs = (x if isinstance(x, np.ndarray) else x.toarray() for x in (ours, theirs))
    assert_array_equal(ours, theirs)


def test_plus_in_front_of_a_number_is_read(tmp_path):
    text = "%%MatrixMarket matrix coordinate real symmetric\n+2 2 1\n+2\t1\t+1.5e+00"
    assert_array_equal(read_text(tmp_path, text, "a.mtx").W.toarray(), [[0, 1.5], [1.5, 0]])


@pytest.mark.parametrize(
    "text",
    [
        "matrix coordinate real general\n2 2 1\n1 2 1E",
        "matrix coordinate real general\n2 2 1\n1 2 1\0\n",
        "matrix coordinate real general\n2 2 1\n1 2 1\0",
        "matrix coordinate real general\n2 2 1\n1 2 1d5\n",
        "matrix coordinate integer general\n2 2 1\n1 2 1.5\n",
        "matrix array real symmetric\n4 400\n" + "1\n" * 700,
        "matrix array real general\n3037000500 3037000500\n1\n",
        "matrix coordinate real general\n9223372036854775807 2 1\n1 2 1\n",
        "matrix coordinate real general\n2 2 9223372036854775807\n1 2 1\n",
        "matrix coordinate unsigned-integer skew-symmetric\n2 2 1\n2 1 18446744073709551615\n",
        "matrix coordinate complex hermitian\n2 2 1\n2 1 1 1\n",
        "vector coordinate real general\n2 1\n1 2\n",
        "matrix coordinate real general\n2 2 1\n" + " " * 100_000 + "x",
        "matrix coordinate real general\n2 2 1\n1 2 " + "1" * 100_000 + "x",
    ],
    ids=range(14),
)
def test_files_that_scipy_misreads_or_crashes_on_are_refused(tmp_path, text):
    refusal(write(tmp_path / "a.mtx", "%%MatrixMarket " + text))


@given(st.data())
def test_damaged_matrix_market_files_are_refused_or_read(tmp_path_factory, data):
    file = tmp_path_factory.getbasetemp() / "damaged.mtx"
    scipy.io.mmwrite(file, sparse.coo_array(W), symmetry="symmetric")
    content = bytearray(file.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
        content[place : place + 1] = data.draw(
            st.sampled_from([b"", b" ", b"\n", b"9", b"-", b"e", b".", b"%", b"\xff"])
        )
    file.write_bytes(bytes(content))
    try:
        read_graph(file)
    except ValueError as error:
        assert str(file) in str(error)  # noqa: PT017


def test_broken_gzip_says_so(tmp_path):
    file = tmp_path / "a.mtx.gz"
    file.write_bytes(b"%%MatrixMarket")
    assert "not a complete gzip file" in refusal(file)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("cls", ["array", "matrix"])
@pytest.mark.parametrize("packed", [False, True])
def test_every_sparse_format_is_read(tmp_path, kind, cls, packed):
    sparse.save_npz(tmp_path / "a.npz", getattr(sparse, f"{kind}_{cls}")(W), compressed=packed)
    assert_array_equal(read_graph(tmp_path / "a.npz").W.toarray(), W)


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">i2", "<f2", ">f2", "?", "u1", "g"])
def test_any_byte_order_and_precision_is_read(tmp_path, dtype):
    dense = np.round(W * 4).astype(dtype)
    expected = dense.astype(np.float64)
    np.save(tmp_path / "a.npy", dense)
    assert_array_equal(read_graph(tmp_path / "a.npy").W.toarray(), expected)
    csr = sparse.csr_array(expected)
    index = ">i4" if dtype.startswith(">") else "<i8"
    parts = {"data": csr.data.astype(dtype), "indices": csr.indices.astype(index), "indptr": csr.indptr.astype(index)}
    np.savez(tmp_path / "a.npz", format=np.array(b"csr"), shape=np.array(csr.shape, dtype=">i8"), **parts)
    assert_array_equal(read_graph(tmp_path / "a.npz").W.toarray(), expected)


@pytest.mark.parametrize("change", [{"format": "xyz"}, {"shape": [3]}, {"indptr": [0, 5, 1]}, {"indices": [7, 7]}])
def test_damaged_archives_are_refused(tmp_path, change):
    parts = {"format": "csr", "shape": [2, 2], "data": [1.0, 1.0], "indices": [1, 0], "indptr": [0, 1, 2]}
    np.savez(tmp_path / "a.npz", **(parts | change))
    refusal(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", **{name: part for name, part in parts.items() if name not in change})
    assert "cannot be read as a sparse matrix" in refusal(tmp_path / "a.npz")


@pytest.mark.parametrize("ending", [".npy", ".npz", ".mtx"])
def test_directed_matrices_are_taken_on_request(tmp_path, ending):
    directed = np.array([[0.0, 1.0, 4.0], [3.0, 0.0, 0.0], [0.0, 0.0, 5.0]])
    file = tmp_path / f"a{ending}"
    if ending == ".npy":
        np.save(file, directed)
    elif ending == ".npz":
        sparse.save_npz(file, sparse.csr_array(directed))
    else:
        scipy.io.mmwrite(file, sparse.coo_array(directed))
    assert "W[0, 1] = 1.0 but W[1, 0] = 3.0; symmetrize 'max' or 'mean' takes directed graphs" in refusal(file)
    assert_array_equal(read_graph(file, symmetrize="max").W.toarray(), [[0, 3, 4], [3, 0, 0], [4, 0, 5]])
    assert_array_equal(read_graph(file, symmetrize="mean").W.toarray(), [[0, 2, 2], [2, 0, 0], [2, 0, 5]])
    with pytest.raises(ValueError, match="`symmetrize` must be one of 'max', 'mean', got 'min'"):
        read_graph(file, symmetrize="min")
