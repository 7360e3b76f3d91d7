"""Graphs that commands load: files, standard input, built in."""

import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from cayleygsp.cli import main
from cayleygsp.cli.errors import BadInput
from cayleygsp.cli.inputs import load_graph, load_signal
from cayleygsp.io import files
from tests.cli.running import refused


def standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(content)))


@pytest.mark.parametrize("name", ["@ring:9", "@minnesota", "-"])
def test_variable_goes_with_files_only(name):
    with pytest.raises(BadInput, match=r"--variable goes with a \.mat file, got 'W' for"):
        load_graph(name, "W")


def test_symmetrize_goes_with_files_only():
    with pytest.raises(BadInput, match="--symmetrize goes with a file"):
        load_graph("@ring:9", symmetrize="max")


def test_edges_come_from_standard_input(monkeypatch):
    standard_input(monkeypatch, b"ann bob 2\nbob cy 3\n")
    graph = load_graph("-")
    assert graph.labels.tolist() == ["ann", "bob", "cy"]
    assert_array_equal(graph.W.toarray(), [[0, 2, 0], [2, 0, 3], [0, 3, 0]])
    standard_input(monkeypatch, b"0 1 2\n1 0 4\n")
    assert_array_equal(load_graph("-", symmetrize="mean").W.toarray(), [[0, 3], [3, 0]])
    standard_input(monkeypatch, b"")
    with pytest.raises(BadInput, match="'standard input' is empty"):
        load_graph("-")


def test_directed_files_are_taken_on_request(tmp_path):
    np.save(tmp_path / "a.npy", [[0.0, 1.0], [3.0, 0.0]])
    with pytest.raises(BadInput, match="symmetrize 'max' or 'mean' takes directed graphs"):
        load_graph(str(tmp_path / "a.npy"))
    assert_array_equal(load_graph(str(tmp_path / "a.npy"), symmetrize="max").W.toarray(), [[0, 3], [3, 0]])


@pytest.mark.parametrize(
    "name",
    [
        "@ring:999999999999",
        "@grid:999999999:999999999",
        "@grid:9999999",
        "@star:99999999999",
        "@path:99999999999",
        "@sensor:9999999999",
        "@mnist:999999",
        "@communities:9999999",
        "@regular:99999999:9999",
        "@regular:9999999:9999998",
    ],
)
def test_built_in_graphs_that_do_not_fit_are_refused_at_once(name, monkeypatch):
    monkeypatch.setattr(files, "available_memory", lambda: 2**35)
    with pytest.raises(BadInput, match=f"'{name}' is too large: the graph would need about .* and the limit is 16 GiB"):
        load_graph(name)


@pytest.mark.parametrize("name", ["@ring:1\x1b[31m", "@\x1b[31m:1", "@ring:" + "9" * 5000, "@ring:٣"])
def test_strange_names_are_refused_in_printable_words(name):
    with pytest.raises(BadInput) as caught:
        load_graph(name)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


GRAPHS = {
    "empty.txt": (b"", "is empty"),
    "garbage.npz": (bytes(range(256)) * 4, "cannot be read"),
    "garbage.npy": (b"\x93NUMPY\x01\x00nonsense", "cannot be read"),
    "garbage.csv": (b"\xff\xfe\x00\x81" * 50, "garbage.csv"),
    "bad_line.txt": (b"0 1\n1 2\n2 three four five\n", "line 3"),
    "bad_weight.csv": (b"0,1,1.5\n1,2,x\n", "line 2"),
    "negative.txt": (b"0 1 1\n1 2 -3\n", "non-negative"),
    "graph.pdf": (b"%PDF", "must have one of the endings"),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("command", ["filter", "report"])
def test_bad_graphs_are_refused(folder, capsys, name, command):
    content, message = GRAPHS[name]
    (folder / name).write_bytes(content)
    before = sorted(path.name for path in folder.iterdir())
    rest = ["f.npy", "--pass", "low:1", "-o", "out.npy"] if command == "filter" else ["-o", "out.html"]
    printed = refused(capsys, command, name, *rest)
    assert message in printed
    assert name in printed
    assert sorted(path.name for path in folder.iterdir()) == before


def test_asymmetric_matrix_is_refused(folder, capsys):
    sparse.save_npz("w.npz", sparse.csr_array([[0.0, 1.0], [2.0, 0.0]]))
    assert "must be symmetric, got W[0, 1] = 1.0 but W[1, 0] = 2.0" in refused(capsys, "info", "w.npz")


def test_folder_is_no_graph(folder, capsys):
    (folder / "d.txt").mkdir()
    assert "is not a file" in refused(capsys, "info", "d.txt")


def test_standard_input_is_an_array_or_text(monkeypatch):
    array = BytesIO()
    np.save(array, np.array([1.0, 2.0], dtype=np.float32))
    standard_input(monkeypatch, array.getvalue())
    assert load_signal(Path("-"), 2).dtype == np.float32
    standard_input(monkeypatch, b"1\n2\n")
    assert_array_equal(load_signal(Path("-"), 2), [1, 2])
    standard_input(monkeypatch, b",f\nbob,2\nann,1\n")
    assert_array_equal(load_signal(Path("-"), 2, ["ann", "bob"]), [1, 2])
    standard_input(monkeypatch, b"")
    with pytest.raises(BadInput, match="'standard input' is empty"):
        load_signal(Path("-"), 2)


def test_no_columns_are_refused_before_work(tmp_path):
    np.save(tmp_path / "f.npy", np.zeros((3, 0)))
    with pytest.raises(BadInput, match="must have at least one signal"):
        load_signal(tmp_path / "f.npy", 3)


def test_filter_matches_rows_by_name(tmp_path, capsys):
    (tmp_path / "g.csv").write_text("ann,bob\nbob,cy\n")
    (tmp_path / "f.csv").write_text(",f\ncy,3\nann,1\nbob,2\n")
    files = [str(tmp_path / name) for name in ("g.csv", "f.csv", "y.npy")]
    assert main(["filter", *files[:2], "--coeffs", "1,0", "--zoom", "1", "-o", files[2]]) == 0
    np.testing.assert_allclose(np.load(files[2]), [1, 2, 3], rtol=1e-6)
