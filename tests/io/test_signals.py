"""Signals in files, by the order or by the names of the vertices."""

import csv
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from cayleygsp import gallery
from cayleygsp.graph import Graph
from cayleygsp.io import read_signal
from cayleygsp.io.signals import SignalTable, ordered_signal, parse_table, read_table

PATH = np.diag(np.ones(2), 1) + np.diag(np.ones(2), -1)
NAMED = Graph(PATH, labels=["ann", "bob", "cy"])
PLAIN = Graph(PATH)


def read(tmp_path, text, graph=NAMED, name="f.csv"):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_signal(tmp_path / name, graph)


@pytest.mark.parametrize(
    "text",
    [
        ",f\nann,1\nbob,2\ncy,3\n",
        ",f\ncy,3\nann,1\nbob,2\n",
        "vertex,f\ncy,3\nann,1\nbob,2\n",
        "cy,3\nann,1\nbob,2\n",
        "cy;3\nann;1\nbob;2\n",
        "cy\t3\nann\t1\nbob\t2\n",
        "cy 3\nann 1\n\nbob 2\n",
        '# ages\n,"f"\n"cy", 3\n"ann", 1\n\n"bob", 2  # years\n',
        ",0\r\ncy,3\r\nann,1\r\nbob,2\r\n",
        "\ufeff,f\nann,1\nbob,2\ncy,3\n",
        "vertex,0\ncy,3\nann,1\nbob,2\n",
        "1\n2\n3\n",
        "f\n1\n2\n3\n",
        '"1"\n"2"\n"3"\n',
        '"cy"  3\n"ann" 1 \n"bob" 2\n',
    ],
)
def test_rows_are_matched_by_name_or_taken_in_order(tmp_path, text):
    assert_array_equal(read(tmp_path, text), [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "text", [",a,b\n2,5,6\n0,1,2\n1,3,4\n", "vertex,a,b\n2,5,6\n0,1,2\n1,3,4\n", ",0,1\n2.0,5,6\n0.0,1,2\n1.0,3,4\n"]
)
@pytest.mark.parametrize("labels", [None, [7, 7, 8], ["a", "a", "b"]])
def test_names_are_numbers_of_vertices_without_labels_that_differ(tmp_path, text, labels):
    assert_array_equal(read(tmp_path, text, Graph(PATH, labels=labels)), [[1, 2], [3, 4], [5, 6]])


def test_names_are_numbers_where_labels_are(tmp_path):
    graph = Graph(PATH, labels=[1, 2, 30])
    assert_array_equal(read(tmp_path, ",f\n30,3\n1,1\n2,2\n", graph), [1, 2, 3])


def test_header_without_names_is_skipped(tmp_path):
    assert_array_equal(read(tmp_path, "a,b\n1,2\n3,4\n5,6\n"), [[1, 2], [3, 4], [5, 6]])


def test_complex_numbers_are_kept(tmp_path):
    assert_array_equal(read(tmp_path, ",f\nbob,2i\nann,1\ncy,1.5-2j\n"), [1, 2j, 1.5 - 2j])
    assert read(tmp_path, "1+0j\n2\n3\n").dtype == np.float64


def test_names_with_commas_and_quotes_follow_the_csv_module(tmp_path):
    names = ['Smith, "Al"', "line\nend", "# 3"]
    stream = StringIO()
    csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC).writerows([["", "f"], [names[2], 3], [names[0], 1], [names[1], 2]])
    assert_array_equal(read(tmp_path, stream.getvalue(), Graph(PATH, labels=names)), [1, 2, 3])


def test_pandas_default_is_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"f": [3.0, 1.0, 2.0], "g": [6, 4, 5]}, index=["cy", "ann", "bob"])
    frame.to_csv(tmp_path / "f.csv")
    assert_array_equal(read_signal(tmp_path / "f.csv", NAMED), [[1, 4], [2, 5], [3, 6]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",f\nann,1\nbob,2\n", "must name the 3 vertices of the graph, got 1 without a row: 'cy'"),
        (",f\nann,1\nbob,2\ncy,3\ndan,4\n", "got 1 that the graph does not have: 'dan'"),
        (",f\nAnn,1\nbob,2\ncy,3\n", "got 1 without a row: 'ann'; 1 that the graph does not have: 'Ann'"),
        (",f\nann,1\nbob,2\nann,3\ncy,4\n", "must have one row for each vertex, got two for 'ann'"),
        (",f\nann,1\nbob,x\ncy,3\n", "line 3: expected numbers, got 'bob x'"),
        (",f\nann,1\nbob,2,3\ncy,3\n", "line 3: expected 1 number as before, got 2"),
        ("1,2\n3\n4,5\n", "line 2: expected 2 numbers as before, got 1"),
        ("1\nx\n3\n", "line 2: expected numbers, got 'x'"),
        ("1,x\n3,4\n5,6\n", "line 1: expected numbers, got '1 x'"),
        ("ann,x\nbob,2\ncy,3\n", "got 1 without a row: 'ann'"),
        ("1\n2\n3,4\n", "line 3: expected 1 number as before, got 2"),
        (",f\nann,\nbob,2\ncy,3\n", "line 2: expected numbers"),
        ('"ann,1\nbob,2\n', "unexpected end of data"),
        ("1\n2\n", "must have shape"),
        ("1\nnan\n2\n", "must be finite"),
        ("f\n", "line 1: expected numbers, got 'f'"),
        ("# only\n", "holds no numbers"),
        (",f\n\x1b[31mann,1\nbob,2\ncy,3\n", r"'\x1b[31mann'"),
        ("", "is empty"),
        (b"\xff\xfe\x81", "is not a text file"),
    ],
)
def test_bad_text_is_refused_by_what_is_wrong(tmp_path, text, message):
    with pytest.raises(ValueError, match=r"f\.csv") as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


def test_of_many_names_the_first_few_are_shown(tmp_path):
    graph = Graph(gallery.path(1000).W, labels=[f"v{i}" for i in range(1000)])
    with pytest.raises(ValueError, match=r"got 999 without a row: 'v1', 'v2', 'v3', 'v4', 'v5' and 994 more$"):
        read(tmp_path, ",f\nv0,1\n", graph)


@pytest.mark.parametrize("shape", [(3, 0), (0, 3)])
def test_no_signals_are_refused(tmp_path, shape):
    np.save(tmp_path / "f.npy", np.zeros(shape))
    message = (
        "must have at least one signal, got shape \\(3, 0\\): no columns" if shape == (3, 0) else "must have shape"
    )
    with pytest.raises(ValueError, match=message):
        read_signal(tmp_path / "f.npy", PLAIN)


@pytest.mark.parametrize("dtype", [">f8", ">c16", ">f4", ">i4", "?", "<f4", "<c8"])
def test_arrays_come_in_the_byte_order_of_the_machine(tmp_path, dtype):
    f = np.array([1, 0, 1]).astype(dtype)
    np.save(tmp_path / "f.npy", f)
    result = read_signal(tmp_path / "f.npy", PLAIN)
    assert result.dtype.isnative
    assert_array_equal(result, f)


@pytest.mark.parametrize("array", [np.array([None] * 3), np.zeros(3, dtype=[("a", "f8")]), np.array(["a", "b", "c"])])
def test_arrays_of_other_things_are_refused(tmp_path, array):
    np.save(tmp_path / "f.npy", array)
    with pytest.raises((ValueError, TypeError), match=r"f\.npy"):
        read_signal(tmp_path / "f.npy", PLAIN)


def test_streams_are_arrays_or_text():
    array = BytesIO()
    np.save(array, np.array([1.0, 2.0, 3.0], dtype=">f8"))
    name = Path("standard input")
    for content in (array.getvalue(), b"1\n2\n3\n", b",f\ncy,3\nann,1\nbob,2\n"):
        table = read_table(name, BytesIO(content))
        assert_array_equal(ordered_signal(table, name, 3, NAMED.labels), [1, 2, 3])
    for content in (array.getvalue()[:-1], array.getvalue()[:20], b"", b"1\nx\n"):
        with pytest.raises(ValueError, match="'standard input'"):
            read_table(name, BytesIO(content))


def test_missing_files_and_other_endings_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*no\.csv"):
        read_signal(tmp_path / "no.csv", PLAIN)
    with pytest.raises(ValueError, match=r"must end in \.npy or \.csv or \.txt"):
        read_signal(tmp_path / "no.wav", PLAIN)


@given(
    values=st.lists(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=2), min_size=1, max_size=6),
    separator=st.sampled_from([" ", ",", ", ", ";", "\t"]),
)
def test_numbers_are_read_to_the_last_digit(values, separator):
    text = "".join(separator.join(map(repr, row)) + "\n" for row in values)
    assert_array_equal(parse_table(text, Path("f")).values, np.array(values))
    worded = text + "nan" + separator.strip(" ").rjust(1) + "nan\n"
    assert_array_equal(parse_table(worded, Path("f")).values[:-1], np.array(values))


def test_missing_values_stay_where_they_are_allowed():
    table = SignalTable(np.array([1.0, np.nan, 3.0]), ["2", "0", "1"])
    assert np.array_equal(
        ordered_signal(table, Path("a.csv"), 3, None, missing=True), [np.nan, 3.0, 1.0], equal_nan=True
    )
    with pytest.raises(ValueError, match="must be finite, got nan"):
        ordered_signal(table, Path("a.csv"), 3, None)
    with pytest.raises(ValueError, match="must be finite, got inf"):
        ordered_signal(SignalTable(np.array([np.inf, np.nan])), Path("a.csv"), 2, None, missing=True)
