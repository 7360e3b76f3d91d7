"""The report of any graph: it is complete, and no graph is too odd for it."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import cayleygsp as cg
from cayleygsp._html import render_page
from cayleygsp.report.page import STEPS, report_on


@pytest.fixture(autouse=True)
def coarse_pictures(monkeypatch):
    """Draw everything, with few pixels."""
    monkeypatch.setattr("cayleygsp._html._DPI", 40)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_report_says_everything_of_a_large_graph_without_eigenvalues(kind, monkeypatch):
    def never(L):
        raise AssertionError("an eigenbasis was computed")

    monkeypatch.setattr("cayleygsp.eigenbasis.compute_eigenbasis", never)
    told = []
    graph = cg.gallery.grid(45)
    report = report_on(graph, cg.laplacian(graph, kind), rng=0, step=told.append)
    assert tuple(told) == STEPS
    names = [picture.name for section in report.sections for picture in section.pictures]
    assert names == ["graph", "density", "spectrum", "resolution", "design", "bounds", "decay"]
    assert len(report.sections) == 7
    json.dumps(report.numbers, allow_nan=False)
    assert all(one["converged"] and one["bound"] <= one["tol"] for one in report.numbers["application"])
    assert all(row["measured"] <= row["sharp"] + row["rounding"] for row in report.numbers["bounds"]["rows"])
    page = render_page("t", "l", report.sections, {})
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
    report = report_on(cg.Graph(ODD[name], name=name), kind, order=2, rng=0)
    json.dumps(report.numbers, allow_nan=False)
    assert len(report.sections) == (7 if cg.laplacian(ODD[name], kind).lmax > 0 else 2)
    render_page("t", "l", report.sections, {})


def test_prepared_laplacian_is_used_and_components_are_computed_once(monkeypatch, undrawn):
    from scipy.sparse import csgraph

    graph = cg.Graph(sparse.block_diag([cg.gallery.ring(9).W, cg.gallery.star(5).W], format="csr"))
    L = cg.laplacian(graph, "normalized")
    calls = []
    compute = csgraph.connected_components

    def counted(*args, **kwargs):
        calls.append(args)
        return compute(*args, **kwargs)

    def never(*args, **kwargs):
        raise AssertionError("a Laplacian was made again")

    monkeypatch.setattr(csgraph, "connected_components", counted)
    monkeypatch.setattr("cayleygsp.report.page.make_laplacian", never)
    report = report_on(graph, L, order=2, rng=0)
    assert report.numbers["graph"]["kind"] == "normalized"
    assert report.numbers["graph"]["n_components"] == 2
    assert len(calls) == 1


def test_laplacian_of_another_graph_is_refused():
    with pytest.raises(ValueError, match="`laplacian` must be that of `graph`, with 5 vertices, got one with 6"):
        report_on(cg.gallery.ring(5), cg.laplacian(cg.gallery.ring(6)))


PAGES = {
    "ring": cg.gallery.ring(5),
    "disconnected": cg.Graph(
        sparse.block_diag([cg.gallery.ring(20).W, cg.gallery.star(7).W, [[1.0]], [[0.0]]], format="csr")
    ),
    "no edges": cg.Graph(np.zeros((4, 4)), coords=np.eye(4)[:, :2]),
}


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_has_words_and_every_cell_something_in_it(name):
    report = report_on(PAGES[name], rng=0)
    page = render_page("t", "l", report.sections, {})
    pictures = [picture for section in report.sections for picture in section.pictures]
    assert all(picture.alt.endswith(".") and picture.caption.endswith(".") for picture in pictures)
    assert page.count("<figcaption>") == page.count("<figure>") == len(pictures)
    cells = re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", page)
    assert not [cell for cell in cells if cell in ("", "nan", "inf", "None")]
    assert [section.title for section in report.sections] == re.findall(r'<li><a href="#[^"]+">([^<]+)</a>', page)
    zeros = "Zero is among them 4 times, once for each component."
    assert (name == "disconnected") == any(zeros in text for section in report.sections for text in section.text)


def test_numbers_and_words_load_no_matplotlib():
    code = "import sys, cayleygsp.cli.app, cayleygsp.report.page\nassert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
