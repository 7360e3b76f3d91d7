"""The command ``features``."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from tests.cli.running import N, refused, run_json


def test_bands_add_up_to_the_signals(folder, capsys):
    numbers = run_json(capsys, "features", "@communities", "f.npy", "--bands", "3", "-o", "x.npy", "--figure", "x.png")
    values = np.load("x.npy")
    assert values.shape == (N, 6)
    assert len(numbers["names"]) == 6
    assert np.abs(values.reshape(N, 2, 3).sum(axis=2) - np.load("f.npy")).max() < 1e-4
    assert (folder / "x.png").read_bytes().startswith(b"\x89PNG")


def test_edges_are_where_bands_meet(folder, capsys):
    numbers = run_json(capsys, "features", "@communities", "f.npy", "--edge", "1", "--edge", "5", "-o", "x.csv")
    expected = cg.tasks.smooth_features(cg.gallery.communities(rng=0), np.load("f.npy"), [1.0, 5.0])
    assert np.loadtxt("x.csv", delimiter=",") == pytest.approx(expected.values, abs=1e-12)
    assert numbers["edges"] == [1.0, 5.0]


def test_bad_options_are_one_line(folder, capsys):
    base = ("features", "@communities", "f.npy", "-o", "x.npy")
    assert "increasing" in refused(capsys, *base, "--edge", "2", "--edge", "1")
    assert "--edge must be below" in refused(capsys, *base, "--edge", "1", "--edge", "1e5")
    assert "--bands and --edge" in refused(capsys, *base, "--edge", "2", "--bands", "3")
    assert "--transition" in refused(capsys, *base, "--transition", "3")
    assert "--bands" in refused(capsys, *base, "--bands", "1")
