"""Citation graphs in Planetoid's format: what is read, and what is never loaded."""

from __future__ import annotations

import os
import pickle
import tracemalloc
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from analysis import _planetoid
from analysis._pickled import as_array, as_matrix, unpickle
from analysis._planetoid import load_planetoid
from tests.analysis.helpers import real_cora


def write(folder: Path, name: str = "citeseer", protocol: int = 3, **changes) -> Path:
    """Write a small graph: five vertices with features, test vertices 5, 7 and 8; 6 has no row."""
    rng = np.random.default_rng(0)
    X = (rng.random((8, 4)) < 0.5).astype(np.float32)
    X[3] = 0
    Y = np.eye(3, dtype=np.int32)[[0, 1, 2, 0, 1, 2, 0, 1]]
    graph = defaultdict(list, {0: [1, 1, 0], 1: [2], 2: [3], 3: [4], 4: [5], 5: [7], 7: [8], 8: [0]})
    parts = {
        "x": sparse.csr_matrix(X[:3]),
        "y": Y[:3],
        "allx": sparse.csr_matrix(X[:5]),
        "ally": Y[:5],
        "tx": sparse.csr_matrix(X[5:]),
        "ty": Y[5:],
        "graph": graph,
    }
    for part, value in {**parts, **changes}.items():
        if part != "index":
            (folder / f"ind.{name}.{part}").write_bytes(pickle.dumps(value, protocol=protocol))
    (folder / f"ind.{name}.test.index").write_text(changes.get("index", "8\n5\n7\n"))
    return folder


def test_vertices_without_a_row_have_neither_features_nor_label(tmp_path):
    g = load_planetoid("citeseer", write(tmp_path))
    assert (g.n_vertices, g.n_classes) == (9, 3)
    assert g.labels.tolist() == [0, 1, 2, 0, 1, 0, -1, 1, 2]  # row 0 of the test features is vertex 8
    assert g.train.tolist() == [0, 1, 2]
    assert g.validation.tolist() == [3, 4]
    assert g.test.tolist() == [5, 7, 8]
    X = np.random.default_rng(0).random((8, 4)) < 0.5
    sums = g.features.sum(axis=1)
    assert set(np.flatnonzero(sums == 0)) >= {3, 6}
    np.testing.assert_allclose(sums[sums > 0], 1, rtol=1e-6)
    np.testing.assert_array_equal(g.features.toarray()[8] > 0, X[5])
    assert g.features.dtype == np.float32
    A = g.adjacency.toarray()
    np.testing.assert_array_equal(A, A.T)
    assert A.sum() == 16
    assert not A.diagonal().any()


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_files_of_every_protocol_are_the_same_graph(tmp_path, protocol):
    graphs = []
    for folder, number in ((tmp_path / "new", protocol), (tmp_path / "old", 3)):
        folder.mkdir()
        graphs.append(load_planetoid("citeseer", write(folder, protocol=number)))
    one, other = graphs
    assert (one.adjacency != other.adjacency).nnz == 0
    assert (one.features != other.features).nnz == 0
    np.testing.assert_array_equal(one.labels, other.labels)


DAMAGED = {
    "cut": lambda content: content[:-20],
    "empty": lambda content: b"",
    "no pickle": lambda content: b"0 1\n1 2\n",
    "counts to a billion": lambda content: b"\x80\x02]r" + (10**9).to_bytes(4, "little") + b".",
    "counts to a billion in letters": lambda content: b"]p1000000000\n.",
    "counts below zero": lambda content: b"]p-5\n.",
    "bytes that are not there": lambda content: b"\x80\x04\x8e" + (2**40).to_bytes(8, "little") + b"abc.",
    "an array of bytes that is not there": lambda content: b"\x80\x05\x96" + (2**40).to_bytes(8, "little") + b"abc.",
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_named_and_takes_no_memory(tmp_path, damage):
    file = write(tmp_path) / "ind.citeseer.tx"
    file.write_bytes(DAMAGED[damage](file.read_bytes()))
    tracemalloc.start()
    try:
        with pytest.raises(pickle.UnpicklingError, match=r"^ind\.citeseer\.tx: the file .*"):
            load_planetoid("citeseer", tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


class Evil:
    """Runs a command when it is unpickled by pickle itself."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


@pytest.mark.parametrize("part", ["x", "graph"])
def test_a_malicious_file_is_refused_by_name_and_runs_nothing(tmp_path, part):
    marker = tmp_path / "ran"
    write(tmp_path, **{part: Evil(marker)})
    with pytest.raises(pickle.UnpicklingError, match=r"names (posix|nt)\.system, which no file"):
        load_planetoid("citeseer", tmp_path)
    assert not marker.exists()
    with pytest.raises(pickle.UnpicklingError, match=r"builtins\.eval|__builtin__\.eval"):
        unpickle(b"c__builtin__\neval\n(S'1'\ntR.")


ARRAY = b"cnumpy\nndarray\n"
LIST = b"c__builtin__\nlist\n"
CSR = b"cscipy.sparse.csr\ncsr_matrix\n"


def test_a_forged_file_makes_no_object_of_numpy(tmp_path):
    # list(ndarray((1,), dtype("O8"), "AAAAAAAA")): numpy would take the bytes for the address of an object
    dtype = b"cnumpy\ndtype\n(S'O8'\ntR"
    forged = unpickle(LIST + b"(" + ARRAY + b"((I1\nt" + dtype + b"S'AAAAAAAA'\ntRtR.")
    assert not isinstance(forged, np.ndarray | list)
    with pytest.raises(ValueError, match="expected an array of numbers, got Record"):
        as_array(forged)
    # memory that nobody has written: no bytes come with the shape
    for content in (ARRAY + b"((I64\ntS'u1'\ntR.", ARRAY + b"."):
        with pytest.raises(ValueError, match="expected an array of numbers"):
            as_array(unpickle(content))


@pytest.mark.parametrize("name", [ARRAY, LIST, CSR, b"ccollections\ndefaultdict\n"])
def test_a_file_cannot_change_what_it_names(name):
    for state in (b"(N(dS'__setstate__'\nI1\nst", b"(dS'__call__'\nI1\ns"):
        with pytest.raises((pickle.UnpicklingError, TypeError)):
            unpickle(name + state + b"b.")
    X = sparse.csr_matrix(np.eye(3, dtype=np.float32))
    np.testing.assert_array_equal(as_matrix(unpickle(pickle.dumps(X, protocol=3))).toarray(), X.toarray())


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<i8", "|u1", "|b1"])
def test_arrays_are_those_that_were_pickled(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    for one in (array, array.T, array[:, :0]):
        read = as_array(unpickle(pickle.dumps(one, protocol=3)))
        np.testing.assert_array_equal(read, one)
        assert read.dtype == array.dtype.newbyteorder("=")
        assert read.flags.writeable


@pytest.mark.parametrize("forged", [np.array([None]), np.array(["a"]), np.array([1j]), np.zeros(2, "f4,i4")])
def test_arrays_of_anything_but_real_numbers_are_refused(forged):
    with pytest.raises(ValueError, match="must be of one of the types"):
        as_array(unpickle(pickle.dumps(forged, protocol=3)))


def test_damaged_parts_are_refused(tmp_path):
    broken = sparse.csr_matrix(np.eye(4, dtype=np.float32))
    broken.indices[0] = 1000
    for changes, message in (
        ({"tx": broken}, "indices"),
        ({"allx": np.eye(4)}, "allx must be a sparse matrix"),
        ({"ally": [[1]]}, "ally must be a matrix of labels"),
        ({"graph": {0: [99]}}, "vertices from 0 to 8"),
        ({"graph": [1]}, "graph must be a dictionary"),
        ({"index": "8\n5\n"}, "must be as many"),
        ({"index": "8\n5\n5\n"}, "every vertex once"),
        ({"index": "8\nfive\n7\n"}, "one vertex per line"),
        ({"index": "8\n5\n2\n"}, "come after the 5 others"),
    ):
        with pytest.raises(ValueError, match=message):
            load_planetoid("citeseer", write(tmp_path, **changes))


def test_another_file_in_the_place_of_a_known_one_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"ind\.cora\.x' must have the SHA-256 checksum"):
        load_planetoid("cora", write(tmp_path, "cora"))


def test_folders_are_looked_at_in_order(tmp_path, monkeypatch):
    monkeypatch.setenv("CAYLEYGSP_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(FileNotFoundError, match=r"data/citeseer.*cache/cayleygsp.*CAYLEYGSP_DATA"):
        load_planetoid("citeseer")
    for folder in ("cache/cayleygsp", "data/citeseer"):
        (tmp_path / folder).mkdir(parents=True)
        write(tmp_path / folder)
        assert _planetoid.find_folder("citeseer") == tmp_path / folder
    with pytest.raises(ValueError, match="`name` must be one of"):
        load_planetoid("karate")


def test_cora_is_what_it_is_known_to_be():
    g = real_cora()
    assert (g.n_vertices, g.n_classes, g.adjacency.nnz) == (2708, 7, 2 * 5278)
    assert np.bincount(g.labels).tolist() == [351, 217, 418, 818, 426, 298, 180]
    assert (g.train.size, g.validation.size, g.test.size) == (140, 500, 1000)
    assert g.features.nnz == 31_261 + 17_955
    assert np.bincount(g.labels[g.train]).tolist() == [20] * 7
