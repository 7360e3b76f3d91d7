"""The frequencies of graphs that are not connected, and the lowest ones: counted, proved, or said to be estimates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import cayleygsp as cg
from cayleygsp.report import frequencies as module
from cayleygsp.report.frequencies import find_frequencies
from cayleygsp.report.zoom_numbers import zoom_rows


def scattered(n_single=700, rings=100):
    """Return rings of four beside vertices without edges: a third of the spectrum is positive, the rest is zero."""
    return sparse.block_diag([cg.gallery.ring(4).W] * rings + [sparse.csr_array((n_single, n_single))], format="csr")


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_zeros_of_large_graphs_are_counted(kind):
    L = cg.laplacian(scattered(), kind)
    found = find_frequencies(L, rng=0)
    assert found.eigenvalues is None
    assert found.n_zero == 800
    assert_allclose(found.density.cdf(0.0), 800 / 1100)
    assert not found.at_shares([0.01, 0.5, 0.72]).any()
    # above, a ring of four has 2, 2, 4 (or 1, 1, 2 of them)
    two_thirds = found.at_positive_share(0.66)
    assert two_thirds == pytest.approx(L.lmax / 2, rel=0.1)
    lowest = found.lowest(15)
    assert (lowest.last, lowest.certificate, lowest.text) == (0.0, "exact", "0")
    assert not L.has_eigenbasis


def test_the_fifteenth_frequency_of_a_large_graph_is_proved_from_above():
    grid = cg.laplacian(cg.gallery.grid(40))
    line = 2 - 2 * np.cos(np.pi * np.arange(40) / 40)
    lam = np.sort((line[:, None] + line).reshape(-1))
    lowest = find_frequencies(grid, rng=0).lowest(15)
    assert lowest.certificate == "at most"
    assert lam[14] <= lowest.last <= lam[14] * (1 + 1e-6)
    assert lowest.text.startswith("at most 0.0")


def test_where_the_lowest_are_not_computed_they_are_called_estimates(monkeypatch):
    monkeypatch.setattr(module, "LOWEST_VERTICES", 100)
    found = find_frequencies(cg.laplacian(cg.gallery.grid(40)), rng=0)
    row = zoom_rows(found, [1.0], 15)[0]
    assert (row.certificate, row.smallest_gap) == ("about", None)
    assert found.lowest(15).text.startswith("about ")


def test_a_large_share_may_hold_frequencies_that_are_squeezed_together():
    """The zoom 10 gives 95 % of the half circle to the 15 lowest of the communities, and 14 of them are in 5 %."""
    found = find_frequencies(cg.laplacian(cg.gallery.communities(rng=0)))
    near, far = zoom_rows(found, [1.0, 10.0], 15)
    theta = cg.cayley_angle(10.0 * found.eigenvalues[:15])
    assert far.circle_share > 0.9
    assert_allclose(far.smallest_gap, np.diff(theta).min() / np.pi)
    assert far.smallest_gap < near.smallest_gap
