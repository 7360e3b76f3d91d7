"""The polynomials that commands are asked for."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cayleygsp.cli import options
from cayleygsp.cli.errors import BadInput
from cayleygsp.cli.polynomial import load_coefficients
from cayleygsp.design import fit_cayley
from cayleygsp.design.fit import MAX_CAYLEY_ORDER
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

    place = {"bound": "bounds.kappa", "decay": "cli.decay.filter_decay", "report": "cli.report.report_on"}[name]
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

    monkeypatch.setattr("cayleygsp.cli.bound.draw_bounds", refuse)
    message = refused(capsys, "bound", "@ring:9", "--zoom", "1", "--order", "2", "-o", "b.csv", "-o", "b.png")
    assert "`measured` must be finite" in message
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy"]


def write(tmp_path, **parts):
    cayley = {"coeffs_real": [1.0, 2.0], "coeffs_imag": [0.0, 0.5], "zoom": 2.0} | parts
    (tmp_path / "p.json").write_text(json.dumps({"cayley": cayley}))
    return str(tmp_path / "p.json")


def test_json_has_coefficients_and_zoom(tmp_path):
    c, zoom = load_coefficients(write(tmp_path), None)
    assert_array_equal(c, [1, 2 + 0.5j])
    assert zoom == 2.0


@pytest.mark.parametrize("imaginary", [[0.0], [0.0, 1.0, 2.0], []])
def test_parts_of_different_length_are_refused(tmp_path, imaginary):
    with pytest.raises(BadInput, match=f"must have the same length, got 2 and {len(imaginary)}"):
        load_coefficients(write(tmp_path, coeffs_imag=imaginary), None)


@pytest.mark.parametrize(
    "parts",
    [{"coeffs_imag": 0.0}, {"coeffs_real": [[1, 2]]}, {"coeffs_real": ["1", "2"]}, {"zoom": None}, {"zoom": []}],
)
def test_json_of_another_kind_is_refused(tmp_path, parts):
    with pytest.raises(BadInput, match="is not what the design command writes"):
        load_coefficients(write(tmp_path, **parts), None)


def test_deep_json_is_refused(tmp_path):
    (tmp_path / "p.json").write_text('{"cayley":' * 100_000)
    with pytest.raises(BadInput):
        load_coefficients(str(tmp_path / "p.json"), None)


def test_two_columns_are_real_and_imaginary_parts(tmp_path):
    (tmp_path / "c.csv").write_text("1,0\n2,0.5\n")
    assert_array_equal(load_coefficients(str(tmp_path / "c.csv"), 1.0)[0], [1, 2 + 0.5j])
    np.save(tmp_path / "c.npy", np.array([1, 2 + 0.5j], dtype=">c16"))
    assert_array_equal(load_coefficients(str(tmp_path / "c.npy"), 1.0)[0], [1, 2 + 0.5j])
    (tmp_path / "c.csv").write_text("a,1\nb,2\n")
    with pytest.raises(BadInput, match="must have numbers only, got names in its first column"):
        load_coefficients(str(tmp_path / "c.csv"), 1.0)


def test_escape_sequences_are_written_out():
    with pytest.raises(BadInput, match=r"got '1,\\x1b\[31m'"):
        load_coefficients("1,\x1b[31m", 1.0)
