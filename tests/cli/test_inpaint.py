"""The command ``inpaint``."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from tests.cli.running import N, refused, run_json


@pytest.fixture
def known(folder):
    known = np.random.default_rng(1).random(N) < 0.6
    np.savetxt("mask.txt", known, fmt="%d")
    np.savetxt("gaps.csv", np.where(known[:, None], np.load("f.npy"), np.nan), delimiter=",", fmt="%.17g")
    return known


def test_missing_values_are_nan_or_named_by_a_mask(folder, capsys, known):
    by_nan = run_json(capsys, "inpaint", "@communities", "gaps.csv", "--strength", "0.5", "-o", "a.npy", "-o", "a.png")
    call = ("f.npy", "--mask", "mask.txt", "--strength", "0.5", "-o", "b.npy")
    by_mask = run_json(capsys, "inpaint", "@communities", *call)
    expected = cg.tasks.inpaint(cg.gallery.communities(rng=0), np.load("f.npy"), known, 0.5)
    for numbers, name in ((by_nan, "a.npy"), (by_mask, "b.npy")):
        assert np.load(name) == pytest.approx(expected.signals, abs=1e-12)
        assert numbers["n_known"] == known.sum()
        assert numbers["certificate"] == "proved"
        assert numbers["converged"]
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")


def test_components_without_a_known_vertex_are_named_or_filled(folder, capsys):
    np.savetxt("w.txt", [[0, 1], [2, 3]], fmt="%d")
    np.savetxt("y.txt", [1.0, np.nan, np.nan, np.nan])
    assert "vertex 2" in refused(capsys, "inpaint", "w.txt", "y.txt", "-o", "x.txt")
    numbers = run_json(capsys, "inpaint", "w.txt", "y.txt", "--fill", "-3", "--strength", "0", "-o", "x.txt")
    assert numbers["n_filled"] == 2
    assert np.loadtxt("x.txt") == pytest.approx([1, 1, -3, -3])


def test_bad_options_are_one_line(folder, capsys, known):
    base = ("inpaint", "@communities", "gaps.csv", "-o", "x.npy")
    for option, value in (("--strength", "-1"), ("--strength", "nan"), ("--fill", "inf"), ("--mask", "-")):
        assert option in refused(capsys, *base, option, value)
    assert "one 0 or 1" in refused(capsys, *base, "--mask", "f.npy")
    assert not (folder / "x.npy").exists()
