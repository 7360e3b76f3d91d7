"""Graphs that commands are given."""

from __future__ import annotations

import pytest
from scipy import sparse

from tests.cli.running import refused

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
