"""Files of every format give the graph that was written, bad ones an error that names them."""

import gzip
import pickle
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from cayleygsp.graph import Graph
from cayleygsp.io import read_graph

W = np.array([[0.0, 1.5, 0.0, 2.0], [1.5, 0.0, 0.25, 0.0], [0.0, 0.25, 3.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
EDGES = "0 1 1.5\n0 3 2\n1 2 0.25\n2 2 3\n"
EDGE_LISTS = (".txt", ".edges", ".edgelist", ".csv", ".tsv")


def write(file, content):
    data = content if isinstance(content, bytes) else content.encode()
    file.write_bytes(gzip.compress(data) if file.name.lower().endswith(".gz") else data)
    return file


def read_text(tmp_path, content, name="list.txt"):
    return read_graph(write(tmp_path / name, content))


def refusal(file, kind=ValueError):
    """Return what reading the file is refused with; the message names the file, and no cause is shown."""
    with pytest.raises(kind) as caught:
        read_graph(file)
    message = str(caught.value)
    assert str(file) in message
    assert "Traceback" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


# Matrices.


def write_npz(file):
    sparse.save_npz(file, sparse.csc_array(W))


def write_npy(file):
    np.save(file, W)


def write_mtx(file):
    scipy.io.mmwrite(file, sparse.coo_array(W), symmetry="symmetric")


def write_mtx_gz(file):
    lines = ["%%MatrixMarket matrix coordinate real general", "4 4 7"]
    lines += [f"{i + 1} {j + 1} {W[i, j]}" for i, j in zip(*np.nonzero(W), strict=True)]
    write(file, "\n".join(lines))


def write_mat(file):
    scipy.io.savemat(file, {"graph": sparse.csc_array(W), "note": "text", "x": np.arange(4.0)})


def write_graphml(file):
    graph = nx.Graph()
    graph.add_nodes_from(range(4))
    graph.add_weighted_edges_from((i, j, float(W[i, j])) for i, j in zip(*np.nonzero(np.triu(W)), strict=True))
    nx.write_graphml(graph, file)


WRITERS = {
    ".npz": write_npz,
    ".npy": write_npy,
    ".mtx": write_mtx,
    ".mtx.gz": write_mtx_gz,
    ".mat": write_mat,
    ".graphml": write_graphml,
    **dict.fromkeys(EDGE_LISTS, lambda file: write(file, EDGES)),
    **dict.fromkeys([ending + ".gz" for ending in EDGE_LISTS], lambda file: write(file, EDGES)),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_graph(tmp_path, ending):
    file = tmp_path / f"my.graph{ending}"
    WRITERS[ending](file)
    for path in (file, str(file)):
        graph = read_graph(path)
        assert isinstance(graph, Graph)
        assert graph.name == "my.graph"
        assert_array_equal(graph.W.toarray(), W)


@pytest.mark.parametrize("ending", WRITERS)
def test_upper_case_endings_are_known(tmp_path, ending):
    file = tmp_path / f"a{ending}"
    WRITERS[ending](file)
    graph = read_graph(file.rename(tmp_path / f"B{ending.upper()}"))
    assert graph.name == "B"
    assert_array_equal(graph.W.toarray(), W)


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize(
    "garbage", [b"\x00\xff\xfe\x01garbage" * 40, bytes(range(256)) * 4, b"PK\x03\x04" + b"\x07" * 60, b"<a><b></a>"]
)
def test_garbage_is_refused_by_name(tmp_path, ending, garbage):
    file = tmp_path / f"bad{ending}"
    file.write_bytes(garbage)
    assert f"bad{ending}" in refusal(file)


@pytest.mark.parametrize("ending", [*WRITERS])
def test_truncated_files_never_show_an_inner_error(tmp_path, ending):
    file = tmp_path / f"cut{ending}"
    WRITERS[ending](file)
    whole = file.read_bytes()
    for length in range(1, len(whole), max(1, len(whole) // 25)):
        file.write_bytes(whole[:length])
        try:
            read_graph(file)
        except ValueError as error:
            assert str(file) in str(error)  # noqa: PT017 - shorter lists may be lists as well


@pytest.mark.parametrize("ending", WRITERS)
def test_empty_file_says_so(tmp_path, ending):
    file = tmp_path / f"nothing{ending}"
    file.write_bytes(b"")
    assert "is empty" in refusal(file)


def test_missing_file_is_named(tmp_path):
    assert "absent.npz" in refusal(tmp_path / "absent.npz", FileNotFoundError)


def test_folder_is_refused(tmp_path):
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert "is not a file" in refusal(folder)


def test_unknown_ending_lists_the_known_ones(tmp_path):
    message = refusal(write(tmp_path / "graph.xyz", "0 1"))
    assert ".npz" in message
    assert ".edgelist.gz" in message


@pytest.mark.parametrize("path", [None, 3, b"a.npz"])
def test_path_of_another_kind_is_a_type_error(path):
    with pytest.raises(TypeError, match="`path` must be a string or a path"):
        read_graph(path)


@pytest.mark.parametrize("ending", [".npy", ".npz", ".mat"])
def test_pickles_are_never_loaded(tmp_path, ending):
    trace = tmp_path / "trace"

    class Evil:
        def __reduce__(self):
            return (Path.touch, (trace,))

    file = tmp_path / f"evil{ending}"
    file.write_bytes(pickle.dumps(Evil()))
    assert "evil" in refusal(file)
    assert not trace.exists()
    pickle.loads(file.read_bytes())  # the payload works: only not loading it leaves no trace
    assert trace.exists()


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


# MATLAB.


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


# GraphML.


def test_graphml_names_become_labels(tmp_path):
    nx.write_graphml(nx.Graph([("ann", "bob"), ("bob", "cy")]), tmp_path / "a.graphml")
    graph = read_graph(tmp_path / "a.graphml")
    assert_array_equal(graph.labels, ["ann", "bob", "cy"])
    assert_array_equal(graph.W.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_directed_graphml_is_refused_unless_symmetric(tmp_path):
    file = tmp_path / "a.graphml"
    nx.write_graphml(nx.DiGraph([(0, 1)]), file)
    assert "it is directed" in refusal(file)
    nx.write_graphml(nx.DiGraph([(0, 1), (1, 0), (1, 1)]), file)
    assert_array_equal(read_graph(file).W.toarray(), [[0, 1], [1, 1]])


def test_malformed_graphml_names_the_position(tmp_path):
    assert "line 1, column 8" in refusal(write(tmp_path / "a.graphml", "<a><b></a>"))


def test_graphml_weight_that_is_no_number_is_refused(tmp_path):
    nx.write_graphml(nx.Graph([(0, 1, {"weight": "heavy"})]), tmp_path / "a.graphml")
    assert "'heavy'" in refusal(tmp_path / "a.graphml", TypeError)


# Edge lists.


@pytest.mark.parametrize("separator", [" ", "  ", "\t", ",", ", ", ";", " ; "])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends_are_known(tmp_path, separator, newline):
    graph = read_text(tmp_path, EDGES.replace(" ", separator).replace("\n", newline))
    assert_array_equal(graph.W.toarray(), W)
    assert graph.labels is None


def test_comments_blank_lines_and_byte_order_mark_are_skipped(tmp_path):
    text = "\ufeff# title\n\n  % note\n" + EDGES.replace("\n", "  # half\n\n", 1)
    assert_array_equal(read_text(tmp_path, text).W.toarray(), W)


def test_hash_inside_a_name_is_no_comment(tmp_path):
    assert_array_equal(read_text(tmp_path, "C# F#\nF# 100%\n").labels, ["100%", "C#", "F#"])


def test_two_columns_have_weight_one(tmp_path):
    assert_array_equal(read_text(tmp_path, "0 1\n1 2").W.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_numbers_from_one_are_kept_as_labels(tmp_path):
    graph = read_text(tmp_path, "1 2\n2 3\n")
    assert_array_equal(graph.labels, [1, 2, 3])
    assert_array_equal(graph.W.toarray(), [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_unused_numbers_are_vertices_without_edges(tmp_path):
    graph = read_text(tmp_path, "0 1\n3 4\n")
    assert graph.n_vertices == 5
    assert graph.labels is None
    assert graph.W.sum(axis=1)[2] == 0


@pytest.mark.parametrize("text", ["100 7\n7 2000000000\n", "-5 0\n0 3", f"{2**60 + 1} {2**60}\n", "0 1000000000000\n"])
def test_scattered_numbers_are_relabelled_in_sorted_order(tmp_path, text):
    numbers = sorted({int(number) for number in text.split()})
    graph = read_text(tmp_path, text)
    assert_array_equal(graph.labels, numbers)
    assert graph.n_edges == len(numbers) - 1


def test_numbers_beyond_64_bits_are_names(tmp_path):
    assert_array_equal(read_text(tmp_path, f"{10**30} 1\n").labels, ["1", str(10**30)])


def test_whole_numbers_written_as_floats_are_vertices(tmp_path):
    np.savetxt(tmp_path / "a.txt", [[0, 1, 0.5], [1, 2, 2.0]])
    assert_array_equal(read_graph(tmp_path / "a.txt").W.toarray(), [[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]])


def test_words_and_numbers_mix_as_words(tmp_path):
    assert_array_equal(read_text(tmp_path, "1 a\n2 b\n").labels, ["1", "2", "a", "b"])
    assert_array_equal(read_text(tmp_path, "nan inf\n").labels, ["inf", "nan"])
    assert_array_equal(read_text(tmp_path, "zoë 日本 1\n").labels, ["zoë", "日本"])


def test_an_edge_listed_in_both_directions_counts_once(tmp_path):
    graph = read_text(tmp_path, "0 1 2.5\n1 0 2.5\n0 1 2.5\n1 1 4\n1 1 4\n")
    assert_array_equal(graph.W.toarray(), [[0, 2.5], [2.5, 4]])


def test_zero_weight_keeps_the_vertices_without_the_edge(tmp_path):
    graph = read_text(tmp_path, "0 1 1\n1 2 0\n")
    assert (graph.n_vertices, graph.n_edges) == (3, 1)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("0 1 1\n# note\n1 0 2\n", 3, "expected weight 1.0, that of the same edge in line 1"),
        ("a b 1\n\nb a 2\n", 3, "expected weight 1.0, that of the same edge in line 1"),
        ("5 6 1\n6 5 2\n0 1 1\n1 0 3\n", 2, "expected weight 1.0, that of the same edge in line 1"),
        ("0 1\n1 2 3\n", 2, "expected 2 columns as in the lines before, got 3"),
        ("0 1 1\n\n1 2\n", 3, "expected 3 columns as in the lines before, got 2"),
        ("0 1\n1\n", 2, "got 1 column"),
        ("0 1 2 3\n", 1, "got 4 column"),
        ("0 1\n1 2 3 4\n", 2, "got 4 column"),
        ("0,1,1\n1,,2\n", 2, "a field is empty"),
        ("0,1,\n", 1, "a field is empty"),
        (",0,1\n", 1, "a field is empty"),
        ("0 1 1\n1 2 x\n", 2, "expected a finite number as weight, got 'x'"),
        ("0 1 1\n1 2 nan\n", 2, "expected a finite number as weight, got 'nan'"),
        ("0 1 1\n1 2 1e999\n", 2, "expected a finite non-negative weight, got 1e999"),
        ("0 1 1\n1 2 -1\n", 2, "expected a finite non-negative weight, got -1"),
        ("0 1\n1 2.5\n", 2, "expected whole numbers or words as vertex names"),
        ("source,target\n0,1\n1,2\n", 1, "if it is a header, put # in front of it"),
        ("source,target,weight\n0,1,1\n", 1, "if it is a header, put # in front of it"),
    ],
)
def test_bad_line_is_named_and_shown(tmp_path, text, line, problem):
    message = refusal(write(tmp_path / "a.txt", text))
    assert f"line {line}: " in message
    assert problem in message
    assert repr(text.split("\n")[line - 1]) in message


def test_long_bad_line_is_shortened(tmp_path):
    assert len(refusal(write(tmp_path / "a.txt", "0 1\n" + "x" * 10_000))) < 400 + len(str(tmp_path))


def test_only_comments_have_no_edges(tmp_path):
    assert "no edges" in refusal(write(tmp_path / "a.txt", "# nothing\n%\n"))


@pytest.mark.parametrize("content", ["0 1\n".encode("utf-16"), b"0 1\n\xff\xfe 2\n"])
def test_edge_list_must_be_utf_8(tmp_path, content):
    file = tmp_path / "a.txt"
    file.write_bytes(content)
    assert "not a text file in UTF-8" in refusal(file)


@given(
    edges=st.dictionaries(
        st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted).map(tuple), st.floats(1e-6, 1e6), min_size=1
    ),
    words=st.booleans(),
    both=st.booleans(),
)
def test_numbers_and_words_give_the_graph_that_was_written(tmp_path_factory, edges, words, both):
    prefix = "v" if words else ""
    lines = [f"{prefix}{i} {prefix}{j} {weight!r}" for (i, j), weight in edges.items()]
    if both:
        lines += [f"{prefix}{j};{prefix}{i};{weight!r}" for (i, j), weight in edges.items()]
    graph = read_text(tmp_path_factory.getbasetemp(), "\n".join(lines))
    names = [f"{prefix}{i}" for i in (range(graph.n_vertices) if graph.labels is None else graph.labels)]
    if words:
        names = graph.labels.tolist()
    position = {name: vertex for vertex, name in enumerate(names)}
    expected = np.zeros((graph.n_vertices, graph.n_vertices))
    for (i, j), weight in edges.items():
        u, v = position[f"{prefix}{i}"], position[f"{prefix}{j}"]
        expected[u, v] = expected[v, u] = weight
    assert_array_equal(graph.W.toarray(), expected)


def test_long_list_of_numbers_takes_the_fast_way(tmp_path, monkeypatch):
    monkeypatch.setattr("cayleygsp.io.edge_lists._parse_lines", None)
    edges = np.random.default_rng(0).integers(0, 10_000, size=(100_000, 2))
    text = "# many\n" + "\n".join(f"{i},{j}" for i, j in edges.tolist())
    graph = read_text(tmp_path, text, "many.csv.gz")
    assert graph.n_edges == len({tuple(sorted(edge)) for edge in edges.tolist()})


def test_graphml_with_a_document_type_is_refused(tmp_path):
    file = tmp_path / "entities.graphml"
    file.write_text('<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "b">]><graphml></graphml>')
    with pytest.raises(ValueError, match=r"entities\.graphml' must be plain GraphML, got a document type declaration"):
        read_graph(file)
