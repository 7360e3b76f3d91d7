"""Arrays and texts as a page carries them."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp.explorer.content import packed, page_content, script_json, shown_frequencies


def unpacked(box):
    if box["type"] == "constant":
        return np.full(box["length"], box["data"])
    return np.frombuffer(base64.b64decode(box["data"]), np.dtype(box["type"]).newbyteorder("<"))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
def test_real_numbers_keep_every_bit(values):
    box = packed(np.array(values, dtype=float))
    assert unpacked(box).tolist() == values
    assert box["length"] == len(values)


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_whole_numbers_are_as_narrow_as_they_can_be(values):
    box = packed(np.array(values, dtype=np.int64))
    assert unpacked(box).tolist() == values
    if box["type"] != "constant":
        assert box["type"] == ("uint16" if max(values, default=0) < 2**16 else "uint32")


def test_single_precision_is_used_where_it_is_enough():
    assert packed([0.5, 0.25])["type"] == "float32"
    assert packed([0.5, 0.1])["type"] == "float64"
    assert packed([1e300, 1.0])["type"] == "float64"


@given(st.text())
def test_json_in_a_script_has_no_sign_of_markup_and_says_the_same(text):
    written = script_json({"name": text})
    assert not set("<>&") & set(written)
    assert json.loads(written) == {"name": text}
    assert written.isascii()


def test_the_page_starts_with_the_lowest_frequencies_on_half_of_the_half_circle():
    graph = cg.gallery.communities(rng=0)
    L = cg.laplacian(graph)
    lam = shown_frequencies(L)
    np.testing.assert_allclose(lam, np.linalg.eigvalsh(L.matrix.toarray()).clip(0), atol=1e-10)
    told = page_content(graph, L, (), None, None, 8, 0)
    assert told["frequencies"]["certificate"] == "exact"
    assert cg.zoom.angles(lam[14:15], told["start"]["zoom"])[0] == pytest.approx(-np.pi / 2)


def test_frequencies_of_large_graphs_are_estimated(monkeypatch):
    monkeypatch.setattr("cayleygsp.explorer.content.MOST_DENSE", 100)
    monkeypatch.setattr("cayleygsp.report.frequencies.DENSE_VERTICES", 100)
    graph = cg.gallery.grid(30)
    L = cg.laplacian(graph)
    lam = np.linalg.eigvalsh(L.matrix.toarray())
    shown = shown_frequencies(L, rng=0)
    assert page_content(graph, L, (), None, None, 8, 0)["frequencies"]["certificate"] == "estimated"
    assert (np.diff(shown) >= 0).all()
    np.testing.assert_allclose(shown[:20], lam[:20], atol=1e-3)
    quantiles = np.quantile(shown[40:], [0.25, 0.5, 0.75])
    np.testing.assert_allclose(quantiles, np.quantile(lam[40:], [0.25, 0.5, 0.75]), atol=0.15)
