"""The table of zooms."""

from __future__ import annotations

import dataclasses
import re

from scipy import sparse

import cayleygsp as cg
from cayleygsp.report.frequencies import find_frequencies
from cayleygsp.report.zoom_numbers import zoom_rows
from cayleygsp.report.zoom_text import zoom_table


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
