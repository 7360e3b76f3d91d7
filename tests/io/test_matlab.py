"""Graphs in MATLAB files of all versions."""

import re
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pygsp
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from cayleygsp.io import read_graph
from cayleygsp.io.matlab import is_hdf5, open_variables
from tests.io.helpers import EDGES, W, mat_element, mat_file, mat_matrix, peak_memory, refusal, write


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


@pytest.mark.parametrize("end", [126, 128])
def test_a_header_without_a_byte_order_is_named(tmp_path, end):
    file = tmp_path / "a.mat"
    scipy.io.savemat(file, {"W": W})
    content = file.read_bytes()
    file.write_bytes(content[:126] + b"XY"[: end - 126] + content[end:] * (end == 128))
    assert "its header does not give the byte order" in refusal(file)


def test_truncated_mat_of_version_7_3_is_refused(tmp_path):
    file = write_hdf5(tmp_path / "a.mat", W)
    file.write_bytes(file.read_bytes()[:700])
    assert "version 7.3" in refusal(file)


# Against scipy's reader.

REAL = Path(scipy.io.__file__).parent / "matlab" / "tests" / "data"


def of_scipy(file, name):
    """Return a variable, or a field of a struct, as scipy reads it."""
    value = scipy.io.loadmat(file)
    for part in name.split("."):
        value = value[part]
        if isinstance(value, np.ndarray) and (value.dtype.names or value.dtype == object):
            value = value.reshape(-1)[0]
    return value


def assert_equal_to_scipy(file):
    with open_variables(file) as variables:
        for name, variable in variables.items():
            if variable.shape is not None:
                ours, theirs = variable.read(), of_scipy(file, name)
                assert ours.shape == theirs.shape == variable.shape
                assert sparse.issparse(ours) == sparse.issparse(theirs)
                ours, theirs = (x.toarray() if sparse.issparse(x) else x for x in (ours, theirs))
                assert_array_equal(ours, theirs)
        return variables


def random_sparse(**options):
    return sparse.random(5, 5, density=0.4, format="csc", rng=np.random.default_rng(0), **options)


VARIABLES = {
    "double": np.arange(16.0).reshape(4, 4),
    "small": np.array([[-3, 4]], dtype=np.int8),
    "unsigned": np.array([[3, 40000]], dtype=np.uint16),
    "complex": np.array([[1 + 2j, 3], [4, 5j]]),
    "sparse": random_sparse(),
    "complex_sparse": random_sparse() * 1j,
    "no_entries": sparse.csc_array((3, 3)),
    "text": "abc",
    "scalar": 3.0,
    "nothing": np.zeros((0, 0)),
}
ONLY_5 = {
    "single": np.ones((2, 3), dtype=np.float32),
    "long": np.array([[2**60, 1]]),
    "truth": np.array([[True, False]]),
    "cube": np.arange(24.0).reshape(2, 3, 4),
    "sparse_truth": random_sparse() > 0,
    "cell": np.array([1.0, "x"], dtype=object),
    "struct": {"A": random_sparse(), "aux": {"coord": np.ones((5, 2))}, "name": "x"},
}


@pytest.mark.parametrize(("version", "packed"), [("5", False), ("5", True), ("4", False)])
def test_every_kind_of_variable_is_read_as_scipy_does(tmp_path, version, packed):
    variables = VARIABLES | (ONLY_5 if version == "5" else {})
    scipy.io.savemat(tmp_path / "a.mat", variables, format=version, do_compression=packed)
    shapes = {name: variable.shape for name, variable in assert_equal_to_scipy(tmp_path / "a.mat").items()}
    assert shapes["text"] is None
    assert shapes["sparse"] == (5, 5)
    if version == "5":
        assert shapes["struct.aux.coord"] == (5, 2)
        assert shapes["cell"] is None


@pytest.mark.skipif(not REAL.is_dir(), reason="scipy is installed without its tests")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "stem", ["matrix", "sparse", "sparsecomplex", "complex", "struct", "structnest", "3dmatrix", "multi", "minus"]
)
def test_files_written_by_matlab_are_read_as_scipy_does(stem):
    files = [file for file in REAL.glob(f"test{stem}_*.mat") if not is_hdf5(file)]
    assert files
    for file in files:
        assert assert_equal_to_scipy(file)


@pytest.mark.skipif(not REAL.is_dir(), reason="scipy is installed without its tests")
def test_sparse_truth_values_of_matlab_are_bytes_called_doubles():
    assert_equal_to_scipy(REAL / "logical_sparse.mat")


@given(st.data())
def test_damaged_files_are_refused_or_read_but_never_crash(tmp_path_factory, data):
    file = tmp_path_factory.getbasetemp() / "damaged.mat"
    version = data.draw(st.sampled_from(["4", "5"]))
    scipy.io.savemat(file, {"W": W, "S": {"A": sparse.csc_array(W)} if version == "5" else W}, format=version)
    content = bytearray(file.read_bytes())
    first = 0 if version == "4" else 128
    for place in data.draw(st.lists(st.integers(first, len(content) - 1), min_size=1, max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    file.write_bytes(bytes(content))
    for variable in (None, "W", "S.A"):
        try:
            read_graph(file, variable=variable)
        except (ValueError, TypeError) as error:
            assert str(file) in str(error)  # noqa: PT017


def packed(content, declared=None):
    data = zlib.compress(content if declared is None else struct.pack("<2I", 14, declared) + content[8:])
    return struct.pack("<2I", 15, len(data)) + data


ONES = np.ones(4).tobytes()
ENDS = struct.pack("<3i", 0, 1, 2)
NUMBERS = mat_matrix(6, (2, 2), (9, ONES))

# Of version 5, of which scipy alone would crash, or take much memory.
HOSTILE = {
    "unpacks to more than it says": packed(NUMBERS + b"\0" * 2**24, declared=len(NUMBERS) - 8),
    "unpacks to less than it says": packed(NUMBERS, declared=1000),
    "a kind out of the table": mat_matrix(6, (2, 2), (1_000_000, ONES)),
    "text as numbers": mat_matrix(6, (2, 2), (16, ONES)),
    "packed within": mat_matrix(6, (2, 2), (15, ONES)),
    "flags of another size": mat_element(14, mat_element(6, b"\0" * 16) + NUMBERS[24:]),
    "no dimensions": mat_matrix(6, (), (9, ONES)),
    "negative dimensions": mat_matrix(6, (-2, -2), (9, ONES)),
    "40 dimensions": mat_matrix(6, (1,) * 40, (9, ONES)),
    "rows out of range": mat_matrix(5, (2, 2), (5, struct.pack("<2i", 7, -7)), (5, ENDS), (9, ONES)),
    "ends that fall": mat_matrix(5, (2, 2), (5, struct.pack("<2i", 0, 1)), (5, struct.pack("<3i", 2, 0, 2)), (9, ONES)),
    "ends without rows": mat_matrix(5, (2, 2), (5, b""), (5, struct.pack("<3i", 0, 1, 9)), (9, b"")),
    "cells of two billion": mat_matrix(1, (2**16, 2**15)),
    "text of two billion": mat_matrix(4, (2**16, 2**15), (16, b"")),
    "structs of two billion": mat_matrix(2, (2**16, 2**15), (5, struct.pack("<i", 8)), (1, b"A\0\0\0\0\0\0\0")),
    "fields without a width": mat_matrix(2, (1, 1), (5, struct.pack("<i", 0)), (1, b"A\0\0\0\0\0\0\0")),
    "fields of negative width": mat_matrix(2, (1, 1), (5, struct.pack("<i", -1)), (1, b"A\0\0\0\0\0\0\0")),
    "a function": mat_matrix(16, (1, 1), (14, b"")),
    "an opaque object": mat_element(14, mat_element(6, struct.pack("<2I", 17, 0)) + mat_element(1, b"MCOS") * 3),
    "an object": mat_matrix(3, (1, 1), (1, b"cls"), (5, struct.pack("<i", 8)), (1, b"")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_elements_are_refused_in_little_memory(tmp_path, name):
    file = write(tmp_path / "a.mat", mat_file(HOSTILE[name]))
    _, peak = peak_memory(refusal, file)
    assert peak < 2**20


def test_cells_in_cells_are_no_calls_in_calls(tmp_path):
    inner = b""
    for _ in range(5_000):
        inner = mat_matrix(1, (1, 1), name=b"c")[8:] + mat_element(14, inner)
    content = mat_element(14, inner) + NUMBERS
    file = write(tmp_path / "a.mat", mat_file(content))
    assert_array_equal(read_graph(file).W.toarray(), np.ones((2, 2)))


@pytest.mark.parametrize("shape", [(-1, 22), (22, -1), (-1, -1), (2**31 - 1, 2**31 - 1)])
def test_sizes_of_version_4_that_lead_back_are_refused(tmp_path, shape):
    file = write(tmp_path / "a.mat", struct.pack("<5i", 50, *shape, 0, 2) + b"W\0" + b"\1" * 60)
    refusal(file)


# Edges, coordinates.


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("dtype", [np.float64, np.uint16])
def test_edge_lists_count_from_zero_or_one(tmp_path, base, dtype):
    i, j = np.nonzero(np.triu(W))
    lists = {"i_inds": (i + base).astype(dtype)[:, None], "j_inds": (j + base).astype(dtype)[:, None]}
    graph = read_graph(save_mat(tmp_path / "a.mat", **lists, weights=W[i, j]))
    assert_array_equal(graph.W.toarray(), W)
    graph = read_graph(save_mat(tmp_path / "b.mat", **lists, x=np.arange(4.0), y=np.ones((4, 1))))
    assert_array_equal(graph.W.toarray(), W > 0)
    assert_array_equal(graph.coords, [[0, 1], [1, 1], [2, 1], [3, 1]])


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"i_inds": [1, 2], "j_inds": [2.5, 3]}, "j_inds of .* must have whole numbers"),
        ({"i_inds": [-1, 2], "j_inds": [2, 3]}, "i_inds of .* must have whole numbers"),
        ({"i_inds": [1, np.nan], "j_inds": [2, 3]}, "i_inds of .* must have whole numbers"),
        ({"i_inds": [1, 2], "j_inds": [2, 3, 4]}, "must be of the same length, got 2, 3 and 2"),
        ({"i_inds": np.ones((2, 3)), "j_inds": [2, 3]}, "i_inds of .* must be a vector"),
        ({"i_inds": [1, 2], "j_inds": [2, 2_000_000_000]}, "declares 2,000,000,000 vertices"),
        ({"i_inds": [1, 2], "j_inds": [2, 1], "weights": [3, 4]}, "got 3.0 at 0 and 4.0 at 1; symmetrize"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_bad_edge_lists_are_refused(tmp_path, lists, message):
    file = save_mat(tmp_path / "a.mat", **lists)
    assert re.search(message, refusal(file))


def test_directed_edge_lists_are_taken_on_request(tmp_path):
    file = save_mat(tmp_path / "a.mat", i_inds=[1, 2, 3], j_inds=[2, 1, 1], weights=[1.0, 3.0, 4.0])
    assert_array_equal(read_graph(file, symmetrize="max").W.toarray(), [[0, 3, 4], [3, 0, 0], [4, 0, 0]])
    assert_array_equal(read_graph(file, symmetrize="mean").W.toarray(), [[0, 2, 2], [2, 0, 0], [2, 0, 0]])


@pytest.mark.parametrize("name", ["xy", "coords", "coordinates"])
@pytest.mark.parametrize("n_columns", [2, 3])
def test_coordinates_are_kept(tmp_path, name, n_columns):
    coords = np.arange(4.0 * n_columns).reshape(4, n_columns)
    assert_array_equal(read_graph(save_mat(tmp_path / "a.mat", graph=W, **{name: coords})).coords, coords)


def test_coordinates_of_suitesparse_are_kept(tmp_path):
    coords = np.arange(12.0).reshape(4, 3)
    problem = {"A": sparse.csc_array(W), "aux": {"coord": coords}, "name": "x"}
    assert_array_equal(read_graph(save_mat(tmp_path / "a.mat", Problem=problem)).coords, coords)


def test_coordinates_of_version_7_3_are_kept(tmp_path):
    h5py = pytest.importorskip("h5py")
    coords = np.arange(8.0).reshape(4, 2)
    with h5py.File(write_hdf5(tmp_path / "a.mat", W), "a") as root:
        root["xy"] = coords.T
    assert_array_equal(read_graph(tmp_path / "a.mat").coords, coords)


def test_coordinates_that_do_not_fit_are_left_out(tmp_path):
    for coords in (np.ones((3, 2)), np.ones((4, 4)), np.full((4, 2), np.nan), np.ones((4, 2)) * 1j):
        assert read_graph(save_mat(tmp_path / "a.mat", W=W, coords=coords)).coords is None


def test_coordinates_of_two_vertices_are_no_adjacency_matrix(tmp_path):
    graph = read_graph(save_mat(tmp_path / "a.mat", B=np.ones((2, 2)), xy=np.array([[0.0, 1.0], [2.0, 3.0]])))
    assert_array_equal(graph.W.toarray(), np.ones((2, 2)))
    assert_array_equal(graph.coords, [[0, 1], [2, 3]])


def test_airfoil_of_pygsp_is_read_from_its_file():
    graph = read_graph(Path(pygsp.__file__).parent / "data" / "pointclouds" / "airfoil.mat")
    airfoil = pygsp.graphs.Airfoil()
    assert ((airfoil.W > 0) != graph.W).nnz == 0
    assert_array_equal(graph.coords, airfoil.coords)


def test_names_of_variables_are_made_printable(tmp_path):
    content = save_mat(tmp_path / "a.mat", xyz=np.ones((2, 3))).read_bytes()
    (tmp_path / "a.mat").write_bytes(content.replace(b"xyz", b"\x1b[m"))
    assert "only: \\x1b[m" in refusal(tmp_path / "a.mat")
