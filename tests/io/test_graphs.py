"""Files of every format give the graph that was written, bad ones an error that names them."""

import pickle
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
from numpy.testing import assert_array_equal
from scipy import sparse

from cayleygsp.graph import Graph
from cayleygsp.io import read_graph
from tests.io.helpers import EDGES, W, refusal, write

EDGE_LISTS = (".txt", ".edges", ".edgelist", ".csv", ".tsv")


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
