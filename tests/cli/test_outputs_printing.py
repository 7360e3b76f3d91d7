"""What commands print for people."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cayleygsp._html import Table
from cayleygsp.cli import main
from cayleygsp.cli.outputs import facts_text, json_text, table_text
from tests.cli.running import refused


def test_output_for_people_says_filter_method_and_error(folder, capsys):
    assert main(["filter", "@communities", "f.csv", "--pass", "mexican:1", "-o", "y.csv"]) == 0
    out = capsys.readouterr().out
    for word in ("mexican-hat (scale 1)", "method", "error bound", "within --tol 1e-06", "y.csv"):
        assert word in out
    for command in (["bound", "--zoom", "1", "--order", "2"], ["decay", "--target", "heat:1"], ["zoom"]):
        assert main([command[0], "@ring:20", *command[1:]]) == 0
        assert "20 vertices" in capsys.readouterr().out


def test_one_is_not_many(folder, capsys):
    (folder / "edge.txt").write_text("0 1\n")
    np.save("point.npy", np.zeros((1, 1)))
    np.save("loop.npy", np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert main(["zoom", "edge.txt", "--lowest", "1"]) == 0
    out = capsys.readouterr().out
    assert "2 vertices, 1 edge," in out
    assert "1 frequency, up to" in out
    assert "half circle" in out
    assert "lowest 1 " not in out
    assert main(["bound", "point.npy", "--zoom", "1", "--order", "1", "--sweeps", "1"]) == 0
    out = capsys.readouterr().out
    assert "1 vertex, 0 edges" in out
    assert "With 1 sweep " in out
    assert main(["info", "loop.npy"]) == 0
    out = capsys.readouterr().out
    assert "1 and 1 self-loop\n" in out
    assert "2, the largest of 2 vertices" in out
    assert "without edges  1 vertex\n" in out
    assert main(["report", "edge.txt", "-o", "page.html"]) == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "2 vertices and 1 edge:" in page
    assert "The lowest frequency goes up to" in page


TABLES = {
    "zoom": ["zoom", "@ring:40"],
    "bound": ["bound", "@ring:40", "--zoom", "1", "--order", "3"],
    "decay": ["decay", "@ring:40", "--zoom", "1", "--order", "3"],
    "design": ["design", "--target", "low:1", "--lmax", "4", "--order", "2"],
}


@pytest.mark.parametrize("columns", ["80", "60", "40"])
@pytest.mark.parametrize("name", TABLES)
def test_tables_fit_and_break_no_word(capsys, monkeypatch, name, columns):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert main(TABLES[name]) == 0
    words = set(capsys.readouterr().out.replace("─", " ").split())
    monkeypatch.setenv("COLUMNS", columns)
    assert main(TABLES[name]) == 0
    narrow = capsys.readouterr().out
    assert max(map(len, narrow.splitlines())) <= int(columns)
    assert set(narrow.replace("─", " ").split()) == words


@pytest.mark.parametrize("columns", ["80", "60"])
@pytest.mark.parametrize("name", ["info", "zoom", "filter", "bound", "decay", "design", "report"])
def test_help_breaks_no_option(capsys, monkeypatch, name, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert main([name, "--help"]) == 0
    help_ = capsys.readouterr().out
    for word in ("--laplacian", "--symmetrize", "--output", "--quiet", "combinatorial", "normalized"):
        assert word in help_, word


def test_headers_take_as_few_lines_as_fit():
    table = Table(["a", "one two three"], [["1", "2"]], n_text=1)
    assert table_text(table).splitlines() == ["", "a  one two three", "─  ─────────────", "1              2", ""]
    assert table_text(table, 10).splitlines() == ["", "   one two", "a    three", "─  ───────", "1        2", ""]
    assert table_text(table, 7).splitlines() == ["", "a              1", "one two three  2", ""]


def test_facts_are_broken_between_words():
    assert facts_text({"a": "one two three", "bc": "x"}, 12) == "a   one two\n    three\nbc  x\n"
    assert facts_text({"a": "one\x1b[31m"}) == "a  one\\x1b[31m\n"


def test_json_holds_nothing_that_a_terminal_obeys():
    name = "\x1b[31m \x9b \u202e \x7f é"
    text = json_text({"name": name, "value": float("inf")})
    assert text.replace("\n", "").isprintable()
    assert json.loads(text) == {"name": name, "value": None}
    assert "é" in text


@pytest.mark.parametrize("command", ["info", "zoom", "report"])
def test_escape_sequences_in_a_name_do_not_reach_the_terminal(folder, capsys, command):
    name = "evil\x1b]0;owned\x07\x1b[31m\u202e.txt"
    (folder / name).write_text("0 1\n1 2\n2 0\n")
    output = "page\x1b[31m.html" if command == "report" else "page\x1b[31m.png"
    assert main([command, name, "-o", output]) == 0
    captured = capsys.readouterr()
    assert captured.out.replace("\n", "").isprintable()
    assert r"evil\x1b]0;owned\x07\x1b[31m\u202e" in captured.out
    assert r"page\x1b[31m" in captured.out
    assert captured.err == ""
    if command == "report":
        assert "\x1b" not in (folder / output).read_text(encoding="utf-8")


def test_quiet_prints_nothing_but_what_is_asked_for(folder, capsys):
    assert main(["info", "@ring:9", "--quiet"]) == 0
    assert main(["zoom", "@ring:9", "-q", "-o", "z.csv"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (folder / "z.csv").exists()
    assert main(["info", "@ring:9", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_vertices"] == 9
    assert "no file" in refused(capsys, "info", "missing.mtx", "--quiet")


def test_progress_is_shown_on_a_terminal_alone(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert main(["zoom", "@ring:9"]) == 0
    assert "files" in capsys.readouterr().err
    assert main(["zoom", "@ring:9", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
