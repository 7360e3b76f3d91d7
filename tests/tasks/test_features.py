"""Features: the bands of the dense filters, their order, and their sum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp.responses import BandPass, Heat, HighPass, LowPass
from cayleygsp.tasks import smooth_features
from tests.oracle import dense_filter
from tests.strategies import laplacians


@given(laplacians(), st.integers(2, 6), st.integers(0, 99))
@settings(max_examples=25)
def test_bands_are_those_of_the_dense_filters_and_add_up(L, n_bands, seed):
    if L.lmax == 0:
        return
    X = np.random.default_rng(seed).standard_normal((L.n_vertices, 3))
    features = smooth_features(L, X, n_bands)
    assert features.values.shape == (L.n_vertices, 3 * n_bands)
    norms, bounds = np.linalg.norm(X, axis=0), np.asarray(features.info.error_bound)
    blocks = features.values.reshape(L.n_vertices, 3, n_bands)
    for b, band in enumerate(features.bands):
        error = np.linalg.norm(blocks[..., b] - dense_filter(L, band) @ X, axis=0)
        assert (error <= bounds[b] * norms + 1e-12).all()
        assert (band(np.linspace(0, L.lmax, 50)) >= -1e-15).all()
    assert (np.linalg.norm(blocks.sum(axis=2) - X, axis=0) <= bounds.sum() * norms + 1e-12).all()
    assert features.info.certificate == "proved"


def test_edges_and_responses_and_names():
    grid, X = cg.gallery.grid(6), np.random.default_rng(0).standard_normal((36, 2)).astype(np.float32)
    features = smooth_features(grid, X, [1.0, 4.0])
    assert features.names[:4] == ("signal 0, below 1", "signal 0, 1 to 4", "signal 0, above 4", "signal 1, below 1")
    assert features.values.dtype == np.float32
    lam = np.linspace(0, 8, 100)
    assert features.bands[0](lam) == pytest.approx(LowPass(1.0)(lam))
    assert features.bands[2](lam) == pytest.approx(HighPass(4.0)(lam))
    assert np.asarray(features) is features.values
    own = smooth_features(grid, X[:, 0], [Heat(1.0), BandPass(1.0, 2.0), lambda lam: lam / 8])
    assert own.values.shape == (36, 3)
    assert own.edges is None
    assert own.names == ("signal 0, band 0", "signal 0, band 1", "signal 0, band 2")
    assert "3 bands" in own.summary()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"bands": 1}, ValueError, "`bands` must be at least 2"),
        ({"bands": 2.5}, TypeError, "`bands` must be an integer"),
        ({"bands": []}, ValueError, "`bands` must hold at least one"),
        ({"bands": [2.0, 1.0]}, ValueError, "positive frequencies that increase"),
        ({"bands": [0.0, 1.0]}, ValueError, "positive frequencies that increase"),
        ({"bands": [1.0, 100.0]}, ValueError, r"`bands` must meet below the end of the spectrum, .*, got 100"),
        ({"bands": [1.0, Heat(1.0)]}, TypeError, "not some of both"),
        ({"bands": 2000}, ValueError, "`bands` must be fewer"),
        ({"X": [1.0, np.nan, 0.0]}, ValueError, r"`X` must be finite, got nan at \[1\]"),
        ({"X": np.zeros((3, 0))}, ValueError, "at least one signal"),
        ({"transition": 3.0}, ValueError, "`transition` must be at most 2"),
        ({"method": "magic"}, ValueError, "`method` must be one of"),
        ({"graph": np.zeros((3, 3))}, ValueError, "`graph` must have edges"),
    ],
)
def test_bad_arguments_are_rejected(change, error, message):
    with pytest.raises(error, match=message):
        smooth_features(**({"graph": cg.gallery.path(3), "X": [1.0, 2.0, 3.0]} | change))
