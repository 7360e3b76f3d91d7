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
    assert "W[0, 1] = 1.0 but W[1, 0] = 0.0; symmetrize 'max' or 'mean' takes directed" in refusal(file)
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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "iso-8859-1", "ascii"])
@pytest.mark.parametrize("declared", [False, True])
def test_document_types_are_found_in_every_encoding(tmp_path, encoding, declared):
    declaration = (
        f'<?xml version="1.0" encoding="{encoding.removesuffix("-le").removesuffix("-be")}"?>' if declared else ""
    )
    text = declaration + '<!DOCTYPE g [<!ENTITY a "bbbb">]><graphml>&a;</graphml>'
    file = write(tmp_path / "a.graphml", text.encode(encoding))
    message = refusal(file)
    assert "document type declaration" in message or (
        encoding.startswith(("utf-32", "utf-16-")) and "cannot be read" in message
    )


def test_document_type_behind_long_comments_is_found(tmp_path):
    text = "<!--" + "x" * 200_000 + "-->" + "<!DOCTYPE g><graphml></graphml>"
    assert "document type declaration" in refusal(write(tmp_path / "a.graphml", text))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_words_of_a_document_type_in_a_name_are_no_document_type(tmp_path, encoding):
    graph = nx.Graph([("<!DOCTYPE g>", "b")])
    nx.write_graphml(graph, tmp_path / "a.graphml", encoding=encoding)
    assert_array_equal(read_graph(tmp_path / "a.graphml").labels, ["<!DOCTYPE g>", "b"])


@pytest.mark.parametrize("names", [("x", "y"), ("x", "y", "z"), ("lon", "lat"), ("longitude", "latitude")])
def test_coordinates_are_kept(tmp_path, names):
    graph = nx.path_graph(3)
    for vertex in graph:
        graph.nodes[vertex].update({name: float(vertex + k) for k, name in enumerate(names)})
    nx.write_graphml(graph, tmp_path / "a.graphml")
    assert_array_equal(
        read_graph(tmp_path / "a.graphml").coords, [[v + k for k in range(len(names))] for v in range(3)]
    )


def test_coordinates_of_some_vertices_are_left_out(tmp_path):
    graph = nx.path_graph(3)
    for vertex in (0, 1):
        graph.nodes[vertex].update(x=1.0, y=2.0)
    nx.write_graphml(graph, tmp_path / "a.graphml")
    assert read_graph(tmp_path / "a.graphml").coords is None
    graph.nodes[2].update(x=float("nan"), y=2.0)
    nx.write_graphml(graph, tmp_path / "a.graphml")
    assert read_graph(tmp_path / "a.graphml").coords is None


def test_directed_graphml_is_taken_on_request(tmp_path):
    file = tmp_path / "a.graphml"
    nx.write_graphml(nx.DiGraph([(0, 1, {"weight": 1.0}), (1, 0, {"weight": 3.0}), (1, 1, {"weight": 5.0})]), file)
    assert "symmetrize 'max' or 'mean'" in refusal(file)
    assert_array_equal(read_graph(file, symmetrize="max").W.toarray(), [[0, 3], [3, 5]])
    assert_array_equal(read_graph(file, symmetrize="mean").W.toarray(), [[0, 2], [2, 5]])


def test_undirected_graphml_is_as_it_is_on_request(tmp_path):
    file = tmp_path / "a.graphml"
    nx.write_graphml(nx.Graph([(0, 1, {"weight": 3.0})]), file)
    assert_array_equal(read_graph(file, symmetrize="mean").W.toarray(), [[0, 3], [3, 0]])
