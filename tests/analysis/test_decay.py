"""Theorem 4: the script runs, and what it writes says what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import decay
from tests.analysis.helpers import run


@pytest.fixture(scope="module")
def theorem(tmp_path_factory):
    return run(decay, tmp_path_factory.mktemp("decay"))


def test_decay_rows_hold_masses_within_what_is_proved(theorem):
    rows = theorem[0]["rows"]
    assert len(rows) == 2 * len(decay.QUICK_ZOOM_LMAX)
    for row in rows:
        mass = np.array(row["mass"])
        assert (np.diff(mass) <= 1e-12).all()
        assert not row["broken"]
        assert (mass <= np.array(row["bounds"]["series"]) + row["floor"]).all()
        assert 0 < row["fit"]["gamma"] < row["theorem"]["gamma"] < 1
        assert not np.array(row["chebyshev_mass"])[decay.ORDER :].any()
        assert np.array(row["chebyshev_mass"])[decay.ORDER - 1] > 0


def test_larger_zoom_reaches_farther(theorem):
    rows = theorem[0]["rows"]
    for near, far in zip(rows[::2], rows[1::2], strict=True):
        assert near["zoom"] < far["zoom"]
        assert near["fit"]["gamma"] < far["fit"]["gamma"]


def test_table_and_conclusions_are_written(theorem):
    text = theorem[1]
    assert "| ring, 60 | 3 |" in text
    assert "above a curve that is called proved in 0 of 4 cases" in text


def test_hops_to_a_level():
    assert decay.hops_to([1.0, 0.5, 1e-4]) == 2
    assert decay.hops_to([1.0, 0.5]) is None
