"""The polynomials that commands are asked for."""

from __future__ import annotations

import re

import pytest

from cayleygsp.cli import options
from cayleygsp.design import MAX_CAYLEY_ORDER, fit_cayley
from tests.cli.running import refused, run_json


@pytest.mark.parametrize("name", ["bound", "decay"])
def test_large_zooms_are_answered(capsys, name):
    numbers = run_json(capsys, name, "@ring:9", "--zoom", "1e12", "--order", "2")
    if name == "bound":
        assert numbers["needs"]["sharp"] is None
        assert numbers["needs"]["series_degree"] is None
    else:
        assert numbers["mass"][-1] == 0


@pytest.mark.parametrize("name", ["bound", "decay", "report"])
def test_what_the_library_refuses_is_one_line(folder, capsys, monkeypatch, name):
    def refuse(*args, **kwargs):
        raise ValueError("`zoom` times the largest degree must be finite")

    place = {"bound": "bounds.kappa", "decay": "localization.decay_curve", "report": "report.page.report_on"}[name]
    monkeypatch.setattr(f"cayleygsp.{place}", refuse)
    rest = ["-o", "page.html"] if name == "report" else ["--zoom", "1", "--order", "2", "-o", "a.csv"]
    assert "`zoom` times the largest degree must be finite" in refused(capsys, name, "@ring:9", *rest)
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy"]


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (["bound", "@ring:9", "--zoom", "1", "--order"], options.MOST_ORDER),
        (["decay", "@ring:9", "--zoom", "1", "--order"], options.MOST_ORDER),
        (["bound", "@ring:9", "--target", "low:1", "--order"], MAX_CAYLEY_ORDER),
        (["filter", "@ring:9", "f.npy", "--pass", "low:1", "-o", "y.npy", "--order"], MAX_CAYLEY_ORDER),
        (["design", "--target", "low:1", "--lmax", "4", "--order"], MAX_CAYLEY_ORDER),
        (["report", "@ring:9", "-o", "page.html", "--order"], MAX_CAYLEY_ORDER),
    ],
)
def test_orders_have_a_ceiling_with_a_reason(folder, capsys, call, most):
    message = refused(capsys, *call, str(most + 1))
    assert re.search(rf"--order .*must be at most {most:,}, as time grows with .*, got {most + 1:,}", message)


def test_the_command_line_and_the_library_give_one_reason_for_the_ceiling_of_fits(capsys):
    message = refused(capsys, "design", "--target", "low:1", "--lmax", "4", "--order", str(MAX_CAYLEY_ORDER + 1))
    with pytest.raises(ValueError, match="time grows with the cube of the order"):
        fit_cayley("low:1", MAX_CAYLEY_ORDER + 1, 4.0)
    assert "time grows with its cube" in message


@pytest.mark.parametrize("error", [OverflowError("too large"), ZeroDivisionError("division by zero")])
def test_numbers_that_leave_the_range_are_one_line(folder, capsys, monkeypatch, error):
    def overflow(*args, **kwargs):
        raise error

    monkeypatch.setattr("cayleygsp.bounds.kappa", overflow)
    message = refused(capsys, "bound", "@ring:9", "--zoom", "1", "--order", "2", "-o", "b.csv")
    assert f"the numbers that were given leave the range of double precision: {error}" in message
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy"]


def test_errors_that_cannot_be_drawn_are_one_line(folder, capsys, monkeypatch):
    def refuse(rows):
        raise ValueError("`measured` must be finite")

    monkeypatch.setattr("cayleygsp.report.bound_figure.draw_bounds", refuse)
    message = refused(capsys, "bound", "@ring:9", "--zoom", "1", "--order", "2", "-o", "b.csv", "-o", "b.png")
    assert "`measured` must be finite" in message
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy"]
