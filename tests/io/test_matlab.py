"""Graphs in MATLAB files of all versions."""

import sys

import numpy as np
import pytest
import scipy.io
from numpy.testing import assert_array_equal
from scipy import sparse

from cayleygsp.io import read_graph
from tests.io.helpers import EDGES, W, refusal, write


def save_mat(file, **variables):
    scipy.io.savemat(file, variables)
    return file


@pytest.mark.parametrize("name", ["W", "A", "adjacency"])
def test_mat_with_several_matrices_takes_the_usual_name(tmp_path, name):
    file = save_mat(tmp_path / "a.mat", **{"B": np.eye(3), name: W, "Z": np.eye(2)})
    assert_array_equal(read_graph(file).W.toarray(), W)


def test_mat_with_several_matrices_of_other_names_asks_for_one(tmp_path):
    file = save_mat(tmp_path / "a.mat", B=np.eye(3), C=W, n=4.0)
    assert "choose a `variable`: B, C" in refusal(file)
    assert_array_equal(read_graph(file, variable="C").W.toarray(), W)


def test_mat_of_suitesparse_takes_the_field_a(tmp_path):
    file = save_mat(tmp_path / "s.mat", Problem={"A": sparse.csc_array(W), "name": "x/y", "Zeros": np.zeros((4, 4))})
    assert_array_equal(read_graph(file).W.toarray(), W)
    assert_array_equal(read_graph(file, variable="Problem.A").W.toarray(), W)


def test_mat_refuses_unknown_and_unsuitable_variables(tmp_path):
    cell = np.empty((2, 2), dtype=object)
    cell[:] = 1
    file = save_mat(tmp_path / "a.mat", W=W, cell=cell, text="abc")
    with pytest.raises(ValueError, match=r"`variable` must be one of W, cell, text in .*, got 'V'"):
        read_graph(file, variable="V")
    for name in ("cell", "text"):
        with pytest.raises(ValueError, match=f"`variable` '{name}' of .* must be a matrix of numbers"):
            read_graph(file, variable=name)


def test_mat_without_a_square_matrix_lists_what_is_there(tmp_path):
    file = save_mat(tmp_path / "a.mat", x=np.arange(3.0), text="abc")
    assert "no square matrix of numbers, only: x, text" in refusal(file)


def test_variable_is_refused_for_other_formats(tmp_path):
    with pytest.raises(ValueError, match=r"`variable` must be left out unless the file is a \.mat"):
        read_graph(write(tmp_path / "a.txt", EDGES), variable="W")


def write_hdf5(file, matrix, dense=False, struct=False):
    """Write a matrix as MATLAB does in version 7.3, behind 512 bytes of its own."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(file, "w", userblock_size=512) as root:
        root.create_group("#refs#")
        text = root.create_dataset("note", data=np.array([[97], [98]], dtype=np.uint16))
        text.attrs["MATLAB_class"] = np.bytes_("char")
        parent = root.create_group("Problem") if struct else root
        name = "A" if struct else "graph"
        if dense:
            parent.create_dataset(name, data=matrix.T).attrs["MATLAB_class"] = np.bytes_("double")
            return file
        csc = sparse.csc_array(matrix)
        group = parent.create_group(name)
        group.attrs["MATLAB_class"] = np.bytes_("double")
        group.attrs["MATLAB_sparse"] = np.uint64(csc.shape[0])
        group["jc"] = csc.indptr.astype(np.uint64)
        if csc.nnz:
            group["data"], group["ir"] = csc.data, csc.indices.astype(np.uint64)
    return file


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("struct", [True, False])
@pytest.mark.parametrize("matrix", [W, np.zeros((3, 3))])
def test_mat_of_version_7_3_is_read(tmp_path, dense, struct, matrix):
    file = write_hdf5(tmp_path / "a.mat", matrix, dense=dense, struct=struct)
    assert_array_equal(read_graph(file).W.toarray(), matrix)


def test_mat_of_version_7_3_asks_for_h5py(tmp_path, monkeypatch):
    file = write_hdf5(tmp_path / "a.mat", W)
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert "install h5py" in refusal(file, ImportError)


def test_truncated_mat_of_version_7_3_is_refused(tmp_path):
    file = write_hdf5(tmp_path / "a.mat", W)
    file.write_bytes(file.read_bytes()[:700])
    assert "version 7.3" in refusal(file)
