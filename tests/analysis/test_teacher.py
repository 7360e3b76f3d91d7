"""Teachers: the script runs, and counts what it says."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from analysis import teacher
from tests.analysis.helpers import run


def test_all_ways_are_counted(tmp_path):
    document, page = run(teacher, tmp_path)
    assert {row["way"] for row in document["rows"]} == set(teacher.WAYS)
    assert len(document["rows"]) == 2 * 2 * len(teacher.WAYS)
    assert all(0 <= row["responses"] <= 4 for row in document["rows"])
    assert all(f"{way}, teachers with zoom 5, orders up to 4" in page for way in teacher.WAYS)


@pytest.mark.parametrize(("way", "n_steps"), [("adapted", 500), ("groups", 1500)])
def test_a_teacher_is_found_in_the_coordinates_of_its_graph(way, n_steps):
    L = cg.laplacian(cg.gallery.sensor(40, rng=0), "normalized")
    teachers = teacher.make_teachers(L.eigenvalues, 1, (3.0, 3.0), 4, np.random.default_rng(0))
    errors, zooms = teacher.learn(way, 1, L, teachers, 0, n_steps)
    assert np.count_nonzero(errors < 0.01) >= 3
    assert np.count_nonzero(np.abs(zooms / 3 - 1) < 0.1) >= 3
