"""Pictures of responses: over frequency, beside their target, unrolled and from a vertex; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import design, gallery, plotting
from cayleygsp.design.target import as_target
from tests.plotting.helpers import line_positions, named_lines

RING = gallery.ring(12)


class TestResponse:
    def test_eigenvalues_are_on_the_grid_and_drawn(self, ax):
        lam = np.array([0.0, 0.12345678, 1.9, 5.0])
        spike = lambda x: (x == lam[1]).astype(float)  # noqa: E731
        plotting.response(spike, 2.0, eigenvalues=lam, ax=ax)
        (curve,) = [line for line in ax.lines if len(line.get_xdata()) > 2]
        assert curve.get_ydata().max() == 1
        assert_allclose(np.concatenate(line_positions(ax)), lam[:3])

    def test_one_response_needs_no_legend(self, ax, low_pass):
        assert plotting.response(low_pass, 2.0, ax=ax).get_legend() is None

    def test_several_responses_differ_in_colour_and_line(self, ax, low_pass):
        named = {"a": low_pass, "b": np.cos, "c": np.sin}
        plotting.response(named, 2.0, ax=ax)
        curves = [line for line in ax.lines if line.get_label() in named]
        assert len({line.get_color() for line in curves}) == len({line.get_linestyle() for line in curves}) == 3
        assert [text.get_text() for text in ax.get_legend().get_texts()] == list(named)

    def test_filters_give_their_response(self, ax, low_pass):
        plotting.response(cg.CayleyFilter(gallery.ring(8), low_pass).response, 2.0, ax=ax)
        curve = max(ax.lines, key=lambda line: len(line.get_xdata()))
        assert_allclose(curve.get_ydata(), low_pass(curve.get_xdata()))

    @pytest.mark.parametrize(
        ("responses", "error", "message"),
        [
            ({}, ValueError, "at least one response"),
            ([1.0], TypeError, "`responses` must be callable on frequencies, got list"),
            ({"a": 1.0}, TypeError, r"`responses\['a'\]` must be callable on frequencies, got float"),
        ],
    )
    def test_what_is_no_response_is_refused(self, ax, responses, error, message):
        with pytest.raises(error, match=message):
            plotting.response(responses, 2.0, ax=ax)


class TestUnrolledResponse:
    def test_curve_is_the_polynomial_over_the_angle(self, ax, eigenvalues, low_pass):
        plotting.unrolled_response(low_pass, eigenvalues, ax=ax)
        (curve,) = [line for line in ax.lines if len(line.get_xdata()) > 2]
        # C = exp(iθ), so 0.5 − 0.5 cos θ
        assert_allclose(curve.get_ydata(), 0.5 - 0.5 * np.cos(curve.get_xdata()), atol=1e-12)

    def test_lines_are_at_the_angles_of_the_frequencies(self, ax, eigenvalues, low_pass):
        plotting.unrolled_response(low_pass, eigenvalues, n_marked=15, ax=ax)
        others, marked = line_positions(ax)
        assert len(marked) == 15
        angles = np.angle(cg.cayley_transform(low_pass.zoom * eigenvalues[1:]))
        assert_allclose(np.concatenate([marked, others])[1:], angles, atol=1e-12)
        assert marked[0] == pytest.approx(-np.pi)

    @pytest.mark.parametrize("zoom", [1e-3, 0.1, 0.7, 1.0, 30.0, 1e4])
    def test_ticks_are_frequencies_at_their_angle(self, ax, zoom):
        plotting.unrolled_response(cg.CayleyPolynomial([0.5, -0.25], zoom), [0.0, 1.0], ax=ax)
        labels = [label.get_text() for label in ax.get_xticklabels()]
        ticks = np.asarray(ax.get_xticks())
        assert (labels[0], labels[-1]) == ("0", "∞")
        assert len(labels) >= 5
        frequencies = np.array([float(label) for label in labels[1:-1]])
        assert_allclose(ticks[1:-1], np.angle(cg.cayley_transform(zoom * frequencies)), rtol=1e-9)
        assert np.diff(ticks).min() >= np.pi / 10 * (1 - 1e-12)

    def test_other_responses_are_refused(self, ax):
        with pytest.raises(TypeError, match="`polynomial` must be a CayleyPolynomial, got ufunc"):
            plotting.unrolled_response(np.cos, [0.0], ax=ax)


@pytest.fixture(scope="module")
def fits():
    return {
        "Cayley": design.fit_cayley("band:1:2:0.5", 3, 8.0, 0.7),
        "Chebyshev": design.fit_chebyshev("band:1:2:0.5", 6, 8.0),
    }


def test_fit_draws_target_and_responses(ax, fits):
    plotting.fit("band:1:2:0.5", fits, 8.0, ax=ax)
    lam, values = named_lines(ax)["Cayley"].get_data()
    assert_allclose(values, fits["Cayley"].polynomial(lam))
    lam, values = named_lines(ax)["target"].get_data()
    assert_allclose(values, as_target("band:1:2:0.5", 8.0)(lam))
    styles = {named_lines(ax)[name].get_linestyle() for name in fits}
    assert len(styles) == 2


def test_fit_shades_transition_bands(ax, fits):
    plotting.fit("band:1:2:0.5", fits, 8.0, ax=ax)
    spans = sorted((p.get_x(), p.get_x() + p.get_width()) for p in ax.patches)
    assert_allclose(spans, [(0.75, 1.25), (1.75, 2.25)], atol=0.01)


def test_fit_takes_responses_and_sees_narrow_steps(ax):
    plotting.fit("indicator:1:1.0001", {"g": np.cos}, 8.0, ax=ax)
    lam, values = named_lines(ax)["target"].get_data()
    assert values.max() == 1
    assert_allclose(named_lines(ax)["g"].get_ydata(), np.cos(lam))


def test_logarithmic_axis_starts_below_the_lowest_feature(ax, fits):
    plotting.fit("low:1e-5", fits, 8.0, log=True, ax=ax)
    assert_allclose(ax.get_xlim(), (1e-6, 8.0))
    assert ax.get_xscale() == "log"


def test_localized_filter_is_what_is_drawn(ax):
    g = cg.CayleyFilter.fit(RING, "heat:1", 2)
    plotting.localized(RING, g, 3, ax=ax)
    (points,) = [c for c in ax.collections if isinstance(c, PathCollection)]
    assert_allclose(points.get_array(), g.localize(3))
    assert_allclose(ax.lines[-1].get_xydata(), RING.coords[[3]])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda ax: plotting.fit("low:1", {}, 8.0, ax=ax), ValueError, "`fits` must hold at least one fit, got none"),
        (lambda ax: plotting.fit("low:1", [np.cos], 8.0, ax=ax), TypeError, "`fits` must be a mapping"),
        (lambda ax: plotting.fit("low:1", {"a": 3}, 8.0, ax=ax), TypeError, r"`fits\['a'\]` must be a Fit or callable"),
        (lambda ax: plotting.localized(RING, np.cos, 0, ax=ax), TypeError, "`filter` must be a GraphFilter"),
        (
            lambda ax: plotting.localized(RING, cg.CayleyFilter.fit(gallery.ring(5), "heat:1", 2), 0, ax=ax),
            ValueError,
            "`filter` must be bound to `graph`: 5 and 12 vertices",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, error, message, ax):
    with pytest.raises(error, match=message):
        call(ax)
