"""The frequencies that a page shows."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.explorer.spectrum import shown_frequencies


def test_the_page_starts_with_the_lowest_frequencies_on_half_of_the_half_circle():
    L = cg.laplacian(cg.gallery.communities(rng=0))
    frequencies = shown_frequencies(L)
    assert frequencies.certificate == "exact"
    np.testing.assert_allclose(frequencies.values, np.linalg.eigvalsh(L.matrix.toarray()).clip(0), atol=1e-10)
    assert cg.zoom.angles(frequencies.values[14:15], frequencies.start_zoom)[0] == pytest.approx(-np.pi / 2)


def test_frequencies_of_large_graphs_are_estimated(monkeypatch):
    monkeypatch.setattr("cayleygsp.explorer.spectrum.MOST_DENSE", 100)
    monkeypatch.setattr("cayleygsp.report.frequencies.DENSE_VERTICES", 100)
    L = cg.laplacian(cg.gallery.grid(30))
    lam = np.linalg.eigvalsh(L.matrix.toarray())
    frequencies = shown_frequencies(L, rng=0)
    assert frequencies.certificate == "estimated"
    assert (np.diff(frequencies.values) >= 0).all()
    np.testing.assert_allclose(frequencies.values[:20], lam[:20], atol=1e-3)
    quantiles = np.quantile(frequencies.values[40:], [0.25, 0.5, 0.75])
    np.testing.assert_allclose(quantiles, np.quantile(lam[40:], [0.25, 0.5, 0.75]), atol=0.15)
