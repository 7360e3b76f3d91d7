"""What zooms do to the lowest frequencies, against the definitions."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.report.frequencies import find_frequencies
from cayleygsp.report.zoom_numbers import ZOOM_SHARES, suggested_zooms, zoom_rows
from tests.oracle import eigenpairs


@pytest.fixture(scope="module")
def small():
    return cg.laplacian(cg.gallery.communities(rng=0))


def test_zoom_rows_match_the_definitions(small):
    rows = zoom_rows(find_frequencies(small), [0.1, 1.0], 15)
    lam = eigenpairs(small)[0]
    for row in rows:
        angle = np.angle(cg.cayley_transform(row.zoom * lam[14]))
        assert row.circle_share == pytest.approx((angle + np.pi) / np.pi)
        assert row.frequency == pytest.approx(lam[14])
        assert row.gap_order == cg.zoom.separation(lam[14], lam[15], row.zoom, 1).least_order
        assert row.resolution <= row.best_resolution * (1 + 1e-12)


def test_suggested_zooms_give_half_of_the_half_circle(small):
    result = find_frequencies(small)
    for h, share in zip(suggested_zooms(result), ZOOM_SHARES, strict=True):
        assert cg.cayley_angle(h * result.at_positive_share(share)) == pytest.approx(-np.pi / 2)


def test_too_many_lowest_are_refused(small):
    with pytest.raises(ValueError, match="`n_lowest` must be at most the number of vertices 366, got 367"):
        zoom_rows(find_frequencies(small), [1.0], 367)


@pytest.mark.parametrize("graph", [cg.gallery.ring(5), cg.gallery.star(40)], ids=["ring", "star"])
def test_zooms_that_are_the_same_but_for_rounding_are_suggested_once(graph):
    zooms = suggested_zooms(find_frequencies(cg.laplacian(graph)))
    assert len({f"{h:.6g}" for h in zooms}) == len(zooms)
