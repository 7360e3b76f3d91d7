"""How tables and numbers are written."""

from __future__ import annotations

from analysis import _script


def test_times_are_written_with_a_unit():
    assert [_script.format_seconds(t) for t in (1234.5, 0.0123, 4.56e-5)] == ["1,234 s", "12.3 ms", "45.6 µs"]


def test_bars_in_cells_do_not_end_them():
    assert _script.Table("", ["a", "b"], [["x|y", "1"]]).markdown() == "| a | b |\n| --- | ---: |\n| x\\|y | 1 |"


def test_table_is_printed_with_its_title(capsys):
    _script.Table("Times [s]", ["work", "time"], [["[bold]", "3 s"]]).print()
    out = capsys.readouterr().out
    assert out.startswith("Times [s]\n")
    assert "[bold]" in out
    assert "3 s" in out
