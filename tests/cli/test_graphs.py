"""Graphs that commands load: files, standard input, built in."""

import sys
from io import BytesIO, TextIOWrapper

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cayleygsp.cli.errors import BadInput
from cayleygsp.cli.graphs import load_graph
from cayleygsp.io import files


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
