"""The figure of the zoom: page and picture come from the numbers."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from analysis import figure_zoom
from cayleygsp import zoom
from tests.analysis.helpers import run


def test_shares_are_those_of_the_spectrum_and_the_page_says_them(tmp_path):
    document, page = run(figure_zoom, tmp_path, "--seed", "0")
    assert "Quick run" in page
    lam = np.array(document["eigenvalues"])
    n = document["n_marked"]
    assert document["gap"] == lam[n - 1 : n + 1].tolist()
    for row in document["zooms"]:
        theta = zoom.angles(lam, row["zoom"])
        assert row["marked_share"] == pytest.approx((theta[n - 1] - theta[0]) / np.pi)
    by_zoom = [row["marked_share"] for row in document["zooms"][:3]]
    assert by_zoom == sorted(by_zoom)  # a larger zoom spreads low frequencies more
    best = document["zooms"][3]
    assert all(best["gap_angle"] >= row["gap_angle"] for row in document["zooms"])
    changed = copy.deepcopy(document)
    changed["zooms"][0]["marked_angle"] = 1.2345
    assert "1.234 rad" in figure_zoom.markdown(changed) or "1.235 rad" in figure_zoom.markdown(changed)
