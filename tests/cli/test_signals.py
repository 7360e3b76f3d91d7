"""Signals that commands load: files and standard input."""

import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cayleygsp.cli import main
from cayleygsp.cli.errors import BadInput
from cayleygsp.cli.signals import load_signal


def standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(content)))


def test_standard_input_is_an_array_or_text(monkeypatch):
    array = BytesIO()
    np.save(array, np.array([1.0, 2.0], dtype=np.float32))
    standard_input(monkeypatch, array.getvalue())
    assert load_signal(Path("-"), 2).dtype == np.float32
    standard_input(monkeypatch, b"1\n2\n")
    assert_array_equal(load_signal(Path("-"), 2), [1, 2])
    standard_input(monkeypatch, b",f\nbob,2\nann,1\n")
    assert_array_equal(load_signal(Path("-"), 2, ["ann", "bob"]), [1, 2])
    standard_input(monkeypatch, b"")
    with pytest.raises(BadInput, match="'standard input' is empty"):
        load_signal(Path("-"), 2)


def test_no_columns_are_refused_before_work(tmp_path):
    np.save(tmp_path / "f.npy", np.zeros((3, 0)))
    with pytest.raises(BadInput, match="must have at least one signal"):
        load_signal(tmp_path / "f.npy", 3)


def test_filter_matches_rows_by_name(tmp_path, capsys):
    (tmp_path / "g.csv").write_text("ann,bob\nbob,cy\n")
    (tmp_path / "f.csv").write_text(",f\ncy,3\nann,1\nbob,2\n")
    files = [str(tmp_path / name) for name in ("g.csv", "f.csv", "y.npy")]
    assert main(["filter", *files[:2], "--coeffs", "1,0", "--zoom", "1", "-o", files[2]]) == 0
    np.testing.assert_allclose(np.load(files[2]), [1, 2, 3], rtol=1e-6)
