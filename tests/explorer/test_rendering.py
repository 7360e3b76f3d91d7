"""The page as a file."""

from __future__ import annotations

import json
import re

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import cayleygsp as cg
from cayleygsp.explorer import NamedFilter, explorer_page, write_explorer

EVIL = '</script><img src=x onerror="window.hacked=1"><!--'


def content(page):
    """Return what the page is told."""
    return json.loads(re.search(r'<script type="application/json" id="content">(.*?)</script>', page).group(1))


@pytest.fixture
def few_frequencies(monkeypatch):
    """Leave out what takes seconds on large graphs."""
    monkeypatch.setattr("cayleygsp.explorer.content.shown_frequencies", lambda L, rng: np.linspace(0, 4, 1000))


def test_nothing_is_fetched():
    page = explorer_page(cg.gallery.communities(rng=0))
    assert "default-src 'none'" in page
    assert not re.search(r"https?:|src=|href=|@import|url\(", page)


def test_names_are_text():
    graph = cg.gallery.ring(8)
    graph = cg.Graph(graph.W, coords=graph.coords, labels=[EVIL] * 8, name=EVIL)
    page = explorer_page(graph, filters=[NamedFilter(EVIL, cg.CayleyPolynomial([0.5, -0.25], 1.0))])
    assert "<img" not in page
    assert page.count("<script") == page.count("</script>") == 2
    told = content(page)
    assert told["name"] == EVIL
    assert told["filters"][0]["name"] == EVIL
    assert told["labels"] == [EVIL[:40]] * 8


@pytest.mark.usefixtures("few_frequencies")
def test_the_largest_page_has_less_than_five_megabytes():
    n = 20_000
    rng = np.random.default_rng(0)
    shifts = np.arange(1, 13)
    rows, columns = np.repeat(np.arange(n), 12), (np.arange(n)[:, None] + shifts).ravel() % n
    W = sparse.coo_array((rng.random(rows.size), (rows, columns)), (n, n))
    graph = cg.Graph(W + W.T, coords=rng.random((n, 2)))
    assert graph.n_edges == 240_000
    assert len(explorer_page(graph)) < 5e6


@pytest.mark.usefixtures("few_frequencies")
def test_graphs_too_large_for_a_page_are_refused():
    with pytest.raises(ValueError, match="`graph` must have at most 20,000 vertices for a page, got 20,001"):
        explorer_page(cg.gallery.path(20_001))
    with pytest.raises(ValueError, match="`graph` must have at most 250,000 edges for a page, got 319,600"):
        explorer_page(np.ones((800, 800)) - np.eye(800))


def test_wrong_arguments_are_named():
    ring = cg.gallery.ring(8)
    long = NamedFilter("long", cg.CayleyPolynomial(np.ones(66), 1.0))
    far = NamedFilter("far", cg.CayleyPolynomial([0.5, 0.25], 1e9))
    for options, message in (
        ({"vertex": 8}, "`vertex` must be .*, got 8"),
        ({"zoom": -1.0}, "`zoom` must be positive"),
        ({"zoom": 1e9}, "`zoom` times the bound of the spectrum 4 must be between 1e-06 and 1e\\+06"),
        ({"order": 17}, "`order` must be at most 16, got 17"),
        ({"filters": [long]}, "`filters` must have an order of at most 64 for a page, got 65"),
        ({"filters": [far]}, "`zoom` times the bound"),
        ({"laplacian": cg.laplacian(cg.gallery.ring(9))}, "`laplacian` must have 8 vertices as the graph, got 9"),
    ):
        with pytest.raises(ValueError, match=message):
            explorer_page(ring, **options)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_any_graph_is_taken(kind):
    karate = nx.karate_club_graph()
    told = content(explorer_page(karate, kind))
    assert told["laplacian"]["n_vertices"] == 34
    assert told["laplacian"]["kind"] == kind
    assert told["labels"] is None
    assert 0 <= told["start"]["vertex"] < 34


def test_pygsp_graphs_keep_their_coordinates_and_networkx_graphs_their_name():
    ring = cg.gallery.ring(12)
    assert content(explorer_page(ring.to_pygsp()))["places"] == content(explorer_page(ring))["places"]
    assert content(explorer_page(nx.path_graph(4), "normalized"))["name"] == "A graph"
    assert content(explorer_page(nx.Graph([(0, 1)], name="an edge")))["name"] == "an edge"


def test_coordinates_are_kept_in_proportion():
    grid = cg.gallery.grid(5, 9)
    told = content(explorer_page(grid))
    sides = grid.coords.max(axis=0) - grid.coords.min(axis=0)
    assert sides.min() < sides.max()
    assert {box["length"] for box in told["places"].values()} == {45}


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "ring.html"
    path.write_text("old")
    assert write_explorer(path, cg.gallery.ring(8), laplacian="normalized") == path
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
