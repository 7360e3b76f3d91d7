"""The noise level, estimated from the high frequencies."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.tasks import denoising
from cayleygsp.tasks.traces import Traces


@pytest.mark.parametrize("graph", [cg.gallery.grid(40), cg.gallery.star(400), cg.gallery.communities(rng=0)], ids=str)
def test_the_estimate_is_near_and_its_standard_error_honest(graph):
    n, rng = graph.n_vertices, np.random.default_rng(0)
    y = 3.0 + 0.7 * rng.standard_normal((n, 200))
    estimate = cg.tasks.estimate_noise(graph, y)
    assert estimate.share >= 0.5
    off = np.abs(estimate.sigma - 0.7) / estimate.standard_error
    assert 0.5 <= (off <= 1).mean() <= 0.9
    assert (off <= 2).mean() >= 0.9


def test_one_signal_gives_one_number():
    estimate = cg.tasks.estimate_noise(cg.gallery.ring(50), np.resize([1.0, -1.0], 50))
    assert isinstance(estimate.sigma, float)
    assert cg.tasks.estimate_noise(cg.gallery.ring(50), np.resize([1e200, -1e200], 50)).sigma > 1e199
    with pytest.raises(ValueError, match="`graph` must have edges"):
        cg.tasks.estimate_noise(np.zeros((3, 3)), np.zeros(3))


def test_a_graph_without_high_frequencies_names_the_function_that_takes_a_known_level(monkeypatch):
    def nothing(L, bands, *args, tol):
        return Traces(np.zeros(len(bands)), np.zeros(len(bands)), True, 0, 0.0)

    monkeypatch.setattr(denoising, "estimate_traces", nothing)
    with pytest.raises(ValueError, match="give a known one to `denoise` as `sigma`"):
        cg.tasks.estimate_noise(cg.gallery.ring(50), np.ones(50))
