"""The command ``bound``."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from tests.cli.running import run_json


def test_bound_agrees_with_the_library(folder, capsys):
    numbers = run_json(
        capsys, "bound", "@communities", "--zoom", "0.1", "--order", "4", "--sweeps", "20", "-o", "b.png", "-o", "b.csv"
    )
    L, p = cg.laplacian(cg.gallery.communities(rng=0)), cg.CayleyPolynomial([0, *[0.125] * 4], 0.1)
    assert numbers["kappa"] == pytest.approx(cg.bounds.kappa(L, 0.1))
    last = numbers["rows"][-1]
    assert last["n_iter"] == 20
    assert last["sharp"] == pytest.approx(cg.bounds.jacobi_bound(L, p, 20).value)
    assert all(0 < row["measured"] <= row["sharp"] + row["rounding"] for row in numbers["rows"])
    assert numbers["needs"]["sharp"] == cg.bounds.jacobi_sweeps(L, p, 1e-6)
    assert numbers["needs"]["series_degree"] == cg.bounds.series_degree(L, p, 1e-6)
    assert np.genfromtxt("b.csv", delimiter=",", names=True)["n_iter"][-1] == 20


def test_most_sweeps_are_bounded(capsys):
    numbers = run_json(capsys, "bound", "@ring:9", "--zoom", "1", "--order", "1", "--sweeps", "1000000")
    assert numbers["rows"][-1]["n_iter"] == 1_000_000
    assert numbers["rows"][-1]["series"] == 0
