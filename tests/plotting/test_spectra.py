"""Pictures of half circles and responses: what is drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import gallery, plotting
from tests.plotting.helpers import line_positions


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
