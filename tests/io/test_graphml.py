"""Graphs in GraphML files."""

import networkx as nx
import pytest
from numpy.testing import assert_array_equal

from cayleygsp.io import read_graph
from tests.io.helpers import refusal, write


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


def test_graphml_with_a_document_type_is_refused(tmp_path):
    file = tmp_path / "entities.graphml"
    file.write_text('<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "b">]><graphml></graphml>')
    with pytest.raises(ValueError, match=r"entities\.graphml' must be plain GraphML, got a document type declaration"):
        read_graph(file)
