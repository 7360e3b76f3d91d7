"""Pictures of frequencies: what is drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import plotting
from cayleygsp.density import spectral_density
from tests.plotting.helpers import named_lines


class TestHalfCircle:
    @pytest.mark.parametrize("zoom", [0.1, 1.0, 10.0])
    def test_points_are_the_cayley_transform_with_the_first_marked(self, ax, eigenvalues, zoom):
        plotting.half_circle(eigenvalues, zoom, n_marked=15, ax=ax)
        points = {line.get_label(): line for line in ax.lines}
        marked, others = points["first 15"], points["others"]
        drawn = np.concatenate([p.get_xdata() + 1j * p.get_ydata() for p in (marked, others)])
        assert_allclose(drawn, cg.cayley_transform(zoom * np.maximum(eigenvalues, 0)), atol=1e-15)
        assert len(marked.get_xdata()) == 15
        assert marked.get_color() != others.get_color()
        assert marked.get_marker() != others.get_marker()

    def test_title_ends_and_aspect(self, ax, eigenvalues):
        plotting.half_circle(eigenvalues, 10.0, ax=ax)
        assert ax.get_title() == "$h = 10$"
        assert [text.get_text() for text in ax.texts] == [r"$\lambda = 0$", r"$\lambda = \infty$"]
        assert ax.get_aspect() == 1

    def test_rounding_below_zero_stays_at_the_left_end(self, ax):
        plotting.half_circle([-1e-15, 1.0], 1.0, n_marked=1, ax=ax)
        (first,) = [line for line in ax.lines if line.get_label() == "first 1"]
        assert first.get_xdata().tolist() == [-1]

    @pytest.mark.parametrize(
        ("eigenvalues", "message"),
        [([-1.0, 1.0], "must not be negative, got -1"), ([[1.0]], "shape"), ([np.inf], "must be finite")],
    )
    def test_what_is_no_spectrum_is_refused(self, ax, eigenvalues, message):
        with pytest.raises(ValueError, match=message):
            plotting.half_circle(eigenvalues, 1.0, ax=ax)

    def test_zoom_must_be_positive(self, ax):
        with pytest.raises(ValueError, match="`zoom` must be positive"):
            plotting.half_circle([0.0], 0.0, ax=ax)


def test_density_draws_the_density_and_the_histogram_of_all_eigenvalues(ax):
    L = cg.laplacian(cg.gallery.grid(12))
    found = spectral_density(L, method="kpm", n_moments=16, n_probes=4, rng=0)
    plotting.density(found, eigenvalues=L.eigenvalues, n_bins=20, ax=ax)
    lam, values = named_lines(ax)["density, estimated, 4 probes"].get_data()
    assert_allclose(values, found.pdf(lam))
    assert_allclose(sum(p.get_height() * p.get_width() for p in ax.patches), 1)
    assert len(ax.patches) == 20


def test_resolution_curves_stay_below_their_common_edge(ax):
    plotting.resolution([0.1, 1.0, 10.0], 40.0, eigenvalues=[0.0, 1.0, 39.0], ax=ax)
    edge = named_lines(ax)[r"best, $1/\lambda$"].get_ydata()
    for h in (0.1, 1.0, 10.0):
        curve = named_lines(ax)[f"$h = {h:.3g}$"].get_ydata()
        assert (curve <= edge * (1 + 1e-12)).all()
        assert (curve / edge).max() > 0.99


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda ax: plotting.density([1.0], ax=ax), TypeError, "`density` must be a SpectralDensity, got list"),
        (
            lambda ax: plotting.density(spectral_density(np.zeros((2, 2))), ax=ax),
            ValueError,
            "`density` must be that of a graph with edges",
        ),
        (lambda ax: plotting.resolution([0.0], 8.0, ax=ax), ValueError, "`zooms` must be positive and finite, got 0"),
        (lambda ax: plotting.resolution([1.0], 8.0, low=9.0, ax=ax), ValueError, "`low` must be below `lmax` = 8"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, error, message, ax):
    with pytest.raises(error, match=message):
        call(ax)
