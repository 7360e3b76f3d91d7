"""Proposition 1: the script runs, and what it writes says what was measured."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from analysis import bounds
from tests.analysis.helpers import run


@pytest.fixture(scope="module")
def proposition(tmp_path_factory):
    return run(bounds, tmp_path_factory.mktemp("bounds"))


def test_every_graph_laplacian_zoom_and_number_of_sweeps_is_there(proposition):
    rows = proposition[0]["rows"]
    assert len(rows) == 2 * 2 * len(bounds.QUICK_ZOOMS) * len(bounds.QUICK_SWEEPS)
    assert {row["laplacian"] for row in rows} == {"combinatorial", "normalized"}


def test_the_counter_example_is_found_and_told(proposition):
    document, text = proposition
    wanted = ("ring, 16", "combinatorial", 0.5, 2)
    (row,) = (r for r in document["rows"] if (r["graph"], r["laplacian"], r["zoom"], r["n_iter"]) == wanted)
    assert row["error"] == pytest.approx(5.87, abs=0.02)
    assert row["paper"] == pytest.approx(5.0)
    assert row["broken"] == ["paper"]
    assert not row["paper_proved"]
    assert "| ring, 16 | combinatorial | 0.5 | 2 | 0.7071 | 5.87 | 5 |" in text
    assert "paper: broken in 2 of 12 cases" in text


def test_bounds_that_are_proved_are_not_broken(proposition):
    for row in proposition[0]["rows"]:
        assert not set(row["broken"]) & {"safe", "sharp"}
        assert not (row["paper_proved"] and "paper" in row["broken"])


def test_worst_phase_is_at_least_as_bad_as_any_filter_with_that_power():
    L = cg.laplacian(cg.gallery.grid(3))
    worst = bounds.worst_error(L, 0.4, 2)
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    for phase in (0.0, 0.7, 2.1):
        p = cg.CayleyPolynomial([0] * bounds.ORDER + [np.exp(1j * phase)], 0.4)
        error = cg.CayleyFilter(L, p, method="jacobi", n_iter=2).toarray() - (Phi * p(lam)) @ Phi.T
        # phases are sampled: the nearest one is off by at most half a step
        assert np.linalg.norm(error, 2) <= worst / np.cos(np.pi / (2 * bounds.N_PHASES)) * (1 + 1e-9)
