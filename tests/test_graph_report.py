"""The report of any graph: its numbers are right, its words follow them, and no graph is too odd for it."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import cayleygsp as cg
from cayleygsp._html import render_page
from cayleygsp.report.bound_numbers import Needs, bound_rows, needs
from cayleygsp.report.bounds import format_tol, say_needs
from cayleygsp.report.design import compare_fits, low_pass
from cayleygsp.report.facts import DENSE_VERTICES, typical_vertex
from cayleygsp.report.frequencies import find_frequencies
from cayleygsp.report.localization import say_decay
from cayleygsp.report.page import STEPS, report_on
from cayleygsp.report.zoom_numbers import ZOOM_SHARES, suggested_zooms, zoom_rows
from tests.oracle import dense_filter, eigenpairs
from tests.strategies import laplacians


@pytest.fixture(scope="module")
def small():
    return cg.laplacian(cg.gallery.communities(rng=0))


@pytest.fixture(scope="module")
def large():
    L = cg.laplacian(cg.gallery.grid(45))
    assert L.n_vertices > DENSE_VERTICES
    return L, find_frequencies(L, rng=0)


@given(L=laplacians(), share=st.floats(0.01, 1.0))
@settings(max_examples=60)
def test_frequencies_at_a_share_of_small_graphs_are_counted(L, share):
    lam = np.clip(eigenpairs(L)[0], 0, L.lmax)
    found = float(find_frequencies(L).at_shares(share))
    slack = 1e-9 * max(L.lmax, 1e-300)
    assert np.count_nonzero(lam <= found + slack) >= share * lam.size - 1e-6
    assert np.count_nonzero(lam < found - slack) < share * lam.size + 1e-6


def test_frequencies_of_large_graphs_are_estimated_without_eigenvalues(large):
    L, found = large
    assert found.eigenvalues is None
    assert not L.has_eigenbasis
    k = np.arange(45)
    line = 2 - 2 * np.cos(np.pi * k / 45)  # a grid is a product of two paths
    lam = np.sort((line[:, None] + line).reshape(-1))
    for share in (0.05, 0.25, 0.5, 0.9):
        estimate = float(found.at_shares(share))
        true_share = np.count_nonzero(lam <= estimate) / lam.size
        # smoothing and 16 probes leave about a hundredth
        assert abs(true_share - share) < 0.02


def test_zeros_do_not_count_as_low_frequencies():
    W = sparse.block_diag([cg.gallery.ring(8).W, sparse.csr_array((56, 56))], format="csr")
    found = find_frequencies(cg.laplacian(W))
    assert found.n_zero == 57
    assert float(found.at_shares(0.5)) == pytest.approx(0, abs=1e-12)
    assert found.at_positive_share(0.1) == pytest.approx(2 - np.sqrt(2))  # the lowest of the ring


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
    found = find_frequencies(small)
    for h, share in zip(suggested_zooms(found), ZOOM_SHARES, strict=True):
        assert cg.cayley_angle(h * found.at_positive_share(share)) == pytest.approx(-np.pi / 2)


def test_too_many_lowest_are_refused(small):
    with pytest.raises(ValueError, match="`n_lowest` must be at most the number of vertices 366, got 367"):
        zoom_rows(find_frequencies(small), [1.0], 367)


def test_measured_errors_are_those_of_the_dense_filter(small):
    p = cg.CayleyPolynomial([0.2, 0.3, -0.1j], 0.1)
    f = np.random.default_rng(0).standard_normal(small.n_vertices)
    rows = bound_rows(small, p, [3, 20], f)
    reference = dense_filter(small, p) @ f
    for row in rows:
        y = cg.CayleyFilter(small, p, method="jacobi", n_iter=row.n_iter) @ f
        expected = np.linalg.norm(y - reference) / np.linalg.norm(f)
        assert row.measured == pytest.approx(expected, rel=1e-4)
        assert row.measured <= row.sharp + row.rounding
        assert row.series == pytest.approx(cg.bounds.series_bound(small, p, row.n_matvecs).value)


def test_needs_are_enough_and_least(small):
    p = cg.CayleyPolynomial([0.2, 0.3, -0.1j], 0.1)
    found = needs(small, p, 1e-4, 13)
    for kind in ("sharp", "safe"):
        K = getattr(found, kind)
        assert cg.bounds.jacobi_bound(small, p, K, kind).value <= 1e-4
        assert cg.bounds.jacobi_bound(small, p, K - 1, kind).value > 1e-4
    wider = cg.CayleyPolynomial(p.coeffs, found.affordable_zoom * 1.01)
    assert cg.bounds.jacobi_bound(small, wider, 13).value > 1e-4


def test_words_follow_the_numbers():
    needed = Needs(1e-6, None, None, 1200, 77, 13, 0.25)
    text = say_needs(needed)
    assert "1,200 by the sharp bound, no known number by the safe bound" in text
    assert "77 products" in text
    assert "With 13 sweeps zooms up to 0.25 are proved" in text
    nothing = Needs(1e-6, None, None, None, None, 13, 0.0)
    assert "no zoom is proved" in say_needs(nothing)
    assert "millions of terms" in say_needs(nothing)


def test_words_on_decay_follow_the_masses(small):
    curve = cg.localization.decay_curve(cg.CayleyFilter(small, cg.CayleyPolynomial([0.5, -0.25], 0.1), tol=1e-10), 0)
    k = next(hop for hop, mass in enumerate(curve.mass) if mass <= 0.01)
    text = say_decay(curve)
    assert text.startswith(f"What is outside {k} hop{'' if k == 1 else 's'} is at most 1 % of the norm. ")
    wide = dataclasses.replace(curve, mass=np.full(curve.mass.shape, 0.02))
    assert say_decay(wide).startswith("What is outside is more than 1 % of the norm however many hops")


@pytest.mark.parametrize(("tol", "text"), [(1e-3, "1e-3"), (1e-6, "1e-6"), (2.5e-10, "2.5e-10")])
def test_tolerances_are_short(tol, text):
    assert format_tol(tol) == text


def test_typical_vertex_is_in_the_largest_component():
    W = sparse.block_diag([cg.gallery.star(5).W, cg.gallery.star(30).W, sparse.csr_array((3, 3))], format="csr")
    L = cg.laplacian(W)
    vertex = typical_vertex(L)
    assert 5 <= vertex < 35
    assert L.degrees[vertex] == 1


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_report_says_everything_of_a_large_graph_without_eigenvalues(kind, monkeypatch):
    def never(L):
        raise AssertionError("an eigenbasis was computed")

    monkeypatch.setattr("cayleygsp.eigenbasis.compute_eigenbasis", never)
    told = []
    found = report_on(cg.gallery.grid(45), kind, rng=0, step=told.append)
    assert tuple(told) == STEPS
    names = [picture.name for section in found.sections for picture in section.pictures]
    assert names == ["graph", "density", "spectrum", "resolution", "design", "bounds", "decay"]
    assert len(found.sections) == 7
    json.dumps(found.numbers, allow_nan=False)
    assert all(one["converged"] and one["bound"] <= one["tol"] for one in found.numbers["application"])
    assert all(row["measured"] <= row["sharp"] + row["rounding"] for row in found.numbers["bounds"]["rows"])
    page = render_page("t", "l", found.sections, {})
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page)
    assert len(cells) > 100
    assert not [cell for cell in cells if cell in ("", "nan", "inf", "None")]


ODD = {
    "one vertex": np.zeros((1, 1)),
    "no edges": np.zeros((4, 4)),
    "a loop": np.array([[2.0]]),
    "one edge": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "an edge and a point": np.array([[0, 3.0, 0], [3.0, 0, 0], [0, 0, 0]]),
    "wild weights": np.array([[0, 1e-8, 0, 0], [1e-8, 0, 1, 0], [0, 1, 0, 1e6], [0, 0, 1e6, 0]]),
}


CASES = [*((name, "combinatorial") for name in ODD), ("a loop", "normalized"), ("wild weights", "normalized")]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_odd_graphs_have_reports(name, kind):
    found = report_on(cg.Graph(ODD[name], name=name), kind, order=2, rng=0)
    json.dumps(found.numbers, allow_nan=False)
    assert len(found.sections) == (7 if cg.laplacian(ODD[name], kind).lmax > 0 else 2)
    render_page("t", "l", found.sections, {})


@given(L=laplacians())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_graph_has_numbers(L):
    found = find_frequencies(L)
    if L.lmax == 0:
        return
    fits = compare_fits(low_pass(found), 2, L.lmax, found.weight)
    rows = bound_rows(L, fits["Cayley"].polynomial, [1, 5], np.ones(L.n_vertices))
    assert all(row.measured <= row.sharp + row.rounding + 1e-9 for row in rows)
    needs(L, fits["Cayley"].polynomial, 1e-3, 5)
