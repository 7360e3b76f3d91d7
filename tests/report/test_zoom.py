"""What zooms do to the lowest frequencies, against the definitions."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from scipy import sparse

import cayleygsp as cg
from cayleygsp.report.frequencies import find_frequencies
from cayleygsp.report.zoom import ZOOM_SHARES, suggested_zooms, zoom_rows, zoom_table
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
        assert row.gap_order == cg.zoom.separating_order(lam[14], lam[15], row.zoom)
        assert row.resolution <= row.best_resolution * (1 + 1e-12)


def test_suggested_zooms_give_half_of_the_half_circle(small):
    result = find_frequencies(small)
    for h, share in zip(suggested_zooms(result), ZOOM_SHARES, strict=True):
        assert cg.cayley_angle(h * result.at_positive_share(share)) == pytest.approx(-np.pi / 2)


@pytest.mark.parametrize("graph", [cg.gallery.ring(5), cg.gallery.star(40)], ids=["ring", "star"])
def test_zooms_that_are_the_same_but_for_rounding_are_suggested_once(graph):
    zooms = suggested_zooms(find_frequencies(cg.laplacian(graph)))
    assert len({f"{h:.6g}" for h in zooms}) == len(zooms)


def test_share_below_one_never_reads_as_all():
    rows = zoom_rows(find_frequencies(cg.laplacian(cg.gallery.ring(16))), [1e6, 1.0], 3)
    cells = [row[1] for row in zoom_table(rows).rows]
    assert cells[0] == "over 99.9 %"
    assert re.fullmatch(r"\d+\.\d %", cells[1])


def test_header_says_from_where_to_where_the_share_goes():
    rows = zoom_rows(find_frequencies(cg.laplacian(cg.gallery.ring(16))), [1.0], 3)
    assert "half circle up to frequency 3" in zoom_table(rows).header


def test_resolution_at_zero_has_no_best():
    W = sparse.block_diag([cg.gallery.ring(4).W, sparse.csr_array((6, 6))], format="csr")
    (row,) = zoom_table(zoom_rows(find_frequencies(cg.laplacian(W)), [1.0], 2)).rows
    assert "unbounded" in row


def test_smallest_gap_has_a_column_where_it_is_known():
    rows = zoom_rows(find_frequencies(cg.laplacian(cg.gallery.ring(16))), [1.0, 10.0], 3)
    fields = [dataclasses.asdict(row) for row in rows]

    class Row:
        def __init__(self, fields, gap, certificate):
            vars(self).update(fields, smallest_gap=gap, certificate=certificate)

    table = zoom_table([Row(fields[0], 0.0123, "exact"), Row(fields[1], None, "about")])
    assert table.header[2] == "smallest gap below it"
    assert [row[2] for row in table.rows] == ["1.2 %", "–"]
    assert [row[1].startswith("about ") for row in table.rows] == [False, True]
    assert all(len(row) == len(table.header) for row in table.rows)
