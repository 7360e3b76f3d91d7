"""Graphs as lists of edges."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from cayleygsp.io import read_edges, read_graph
from tests.io.helpers import EDGES, W, read_text, refusal, write


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


def test_names_are_sorted_as_people_do(tmp_path):
    text = "v10 v9\nv9 v1\nv2 v10\na v02\n"
    assert read_text(tmp_path, text).labels.tolist() == ["a", "v1", "v02", "v2", "v9", "v10"]


def test_directed_lists_are_taken_on_request(tmp_path):
    file = write(tmp_path / "a.txt", "a b 1\nb a 3\nc a 4\nc c 5\nc a 4\n")
    message = refusal(file)
    assert "that of the same edge in line 1 in the other direction (symmetrize 'max' or 'mean'" in message
    assert_array_equal(read_graph(file, symmetrize="max").W.toarray(), [[0, 3, 4], [3, 0, 0], [4, 0, 5]])
    assert_array_equal(read_graph(file, symmetrize="mean").W.toarray(), [[0, 2, 2], [2, 0, 0], [2, 0, 5]])


def test_directed_lists_have_one_weight_for_each_direction(tmp_path):
    message = refusal(write(tmp_path / "a.txt", "0 1 1\n1 0 2\n0 1 3\n"), symmetrize="max")
    assert "line 3: expected weight 1.0, that of the same edge in line 1; " in message


def test_escape_sequences_are_written_out_in_messages(tmp_path):
    message = refusal(write(tmp_path / "a.txt", "0 1 \x1b[31mred\n"))
    assert "\x1b" not in message
    assert "\\x1b[31mred" in message
    with pytest.raises(FileNotFoundError) as caught:
        read_graph(tmp_path / "evil\x1b]0;title\x07.txt")
    assert "evil\\x1b]0;title\\x07.txt" in str(caught.value)


def test_a_stream_is_read_as_a_list(tmp_path):
    graph = read_edges(BytesIO(EDGES.encode()))
    assert_array_equal(graph.W.toarray(), W)
    assert_array_equal(read_edges(BytesIO(b"0 1 1\n1 0 3\n"), symmetrize="mean").W.toarray(), [[0, 2], [2, 0]])
    for content, message in ((b"", "'standard input' is empty"), (b"0 1\n1\n", "'standard input', line 2")):
        with pytest.raises(ValueError, match=message):
            read_edges(BytesIO(content))
