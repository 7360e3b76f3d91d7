"""Pictures of filter design: what is drawn, and what is refused."""

from __future__ import annotations

from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import design
from cayleygsp.density import spectral_density
from cayleygsp.design.target import as_target
from cayleygsp.plotting import design as pictures


@pytest.fixture(scope="module")
def fits():
    return {
        "Cayley": design.fit_cayley("band:1:2:0.5", 3, 8.0, 0.7),
        "Chebyshev": design.fit_chebyshev("band:1:2:0.5", 6, 8.0),
    }


def line(ax, label):
    (found,) = [one for one in ax.lines if one.get_label() == label]
    return found


RING = cg.gallery.ring(12)
CALLS = {
    "fit": lambda ax, fits: pictures.fit("band:1:2:0.5", fits, 8.0, eigenvalues=[0.0, 1.0], ax=ax),
    "fit, log": lambda ax, fits: pictures.fit("band:1:2:0.5", fits, 8.0, log=True, ax=ax),
    "density": lambda ax, fits: pictures.density(spectral_density(RING), eigenvalues=[0.0, 4.0], ax=ax),
    "resolution": lambda ax, fits: pictures.resolution([0.1, 1.0], 8.0, ax=ax),
    "localized": lambda ax, fits: pictures.localized(RING, cg.CayleyFilter.fit(RING, "heat:1", 2), 0, ax=ax),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_return_the_axes_they_were_given_and_change_no_settings(name, ax, fits):
    before = dict(mpl.rcParams)
    assert CALLS[name](ax, fits) is ax
    ax.figure.savefig(BytesIO(), format="png")  # what is drawn can be rendered
    assert dict(mpl.rcParams) == before


def test_fit_draws_target_and_responses(ax, fits):
    pictures.fit("band:1:2:0.5", fits, 8.0, ax=ax)
    lam, values = line(ax, "Cayley").get_data()
    assert_allclose(values, fits["Cayley"].polynomial(lam))
    lam, values = line(ax, "target").get_data()
    assert_allclose(values, as_target("band:1:2:0.5", 8.0)(lam))
    styles = {line(ax, name).get_linestyle() for name in fits}
    assert len(styles) == 2


def test_fit_shades_transition_bands(ax, fits):
    pictures.fit("band:1:2:0.5", fits, 8.0, ax=ax)
    spans = sorted((p.get_x(), p.get_x() + p.get_width()) for p in ax.patches)
    assert_allclose(spans, [(0.75, 1.25), (1.75, 2.25)], atol=0.01)


def test_fit_takes_responses_and_sees_narrow_steps(ax):
    pictures.fit("indicator:1:1.0001", {"g": np.cos}, 8.0, ax=ax)
    lam, values = line(ax, "target").get_data()
    assert values.max() == 1
    assert_allclose(line(ax, "g").get_ydata(), np.cos(lam))


def test_logarithmic_axis_starts_below_the_lowest_feature(ax, fits):
    pictures.fit("low:1e-5", fits, 8.0, log=True, ax=ax)
    assert_allclose(ax.get_xlim(), (1e-6, 8.0))
    assert ax.get_xscale() == "log"


def test_density_draws_the_density_and_the_histogram_of_all_eigenvalues(ax):
    L = cg.laplacian(cg.gallery.grid(12))
    found = spectral_density(L, method="kpm", n_moments=16, n_probes=4, rng=0)
    pictures.density(found, eigenvalues=L.eigenvalues, n_bins=20, ax=ax)
    lam, values = line(ax, "density, estimated, 4 probes").get_data()
    assert_allclose(values, found.pdf(lam))
    assert_allclose(sum(p.get_height() * p.get_width() for p in ax.patches), 1)
    assert len(ax.patches) == 20


def test_resolution_curves_stay_below_their_common_edge(ax):
    pictures.resolution([0.1, 1.0, 10.0], 40.0, eigenvalues=[0.0, 1.0, 39.0], ax=ax)
    edge = line(ax, r"best, $1/\lambda$").get_ydata()
    for h in (0.1, 1.0, 10.0):
        curve = line(ax, f"$h = {h:.3g}$").get_ydata()
        assert (curve <= edge * (1 + 1e-12)).all()
        assert (curve / edge).max() > 0.99


def test_localized_filter_is_what_is_drawn(ax):
    g = cg.CayleyFilter.fit(RING, "heat:1", 2)
    pictures.localized(RING, g, 3, ax=ax)
    (points,) = [c for c in ax.collections if isinstance(c, PathCollection)]
    assert_allclose(points.get_array(), g.localize(3))
    assert_allclose(ax.lines[-1].get_xydata(), RING.coords[[3]])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda ax: pictures.fit("low:1", {}, 8.0, ax=ax), ValueError, "`fits` must hold at least one fit, got none"),
        (lambda ax: pictures.fit("low:1", [np.cos], 8.0, ax=ax), TypeError, "`fits` must be a mapping"),
        (lambda ax: pictures.fit("low:1", {"a": 3}, 8.0, ax=ax), TypeError, r"`fits\['a'\]` must be a Fit or callable"),
        (lambda ax: pictures.density([1.0], ax=ax), TypeError, "`density` must be a SpectralDensity, got list"),
        (
            lambda ax: pictures.density(spectral_density(np.zeros((2, 2))), ax=ax),
            ValueError,
            "`density` must be that of a graph with edges",
        ),
        (lambda ax: pictures.resolution([0.0], 8.0, ax=ax), ValueError, "`zooms` must be positive and finite, got 0"),
        (lambda ax: pictures.resolution([1.0], 8.0, low=9.0, ax=ax), ValueError, "`low` must be below `lmax` = 8"),
        (lambda ax: pictures.localized(RING, np.cos, 0, ax=ax), TypeError, "`filter` must be a GraphFilter"),
        (
            lambda ax: pictures.localized(RING, cg.CayleyFilter.fit(cg.gallery.ring(5), "heat:1", 2), 0, ax=ax),
            ValueError,
            "`filter` must be bound to `graph`: 5 and 12 vertices",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, error, message, ax):
    with pytest.raises(error, match=message):
        call(ax)
