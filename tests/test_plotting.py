"""Pictures: what is drawn, on which axes, and what is left alone."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import gallery, plotting


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def communities():
    return gallery.communities(rng=0)


@pytest.fixture(scope="module")
def eigenvalues(communities):
    return cg.laplacian(communities).eigenvalues


@pytest.fixture
def low_pass():
    return cg.CayleyPolynomial([0.5, -0.25], zoom=1.0)


def collections_of(ax, kind):
    return [c for c in ax.collections if isinstance(c, kind)]


def line_positions(ax):
    """Return the x positions of the vertical lines at frequencies, one array a collection."""
    parts = collections_of(ax, LineCollection)
    return [np.array([segment[0, 0] for segment in part.get_segments()]) for part in parts]


CALLS = {
    "graph": lambda ax, p, lam: plotting.graph(gallery.ring(8), ax=ax),
    "half_circle": lambda ax, p, lam: plotting.half_circle(lam, 1.0, ax=ax),
    "response": lambda ax, p, lam: plotting.response(p, 2.0, ax=ax),
    "unrolled_response": lambda ax, p, lam: plotting.unrolled_response(p, lam, ax=ax),
    "error_bars": lambda ax, p, lam: plotting.error_bars(["a"], [1e-3], [1e-2], ax=ax),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_return_the_axes_they_were_given_and_change_no_settings(name, ax, low_pass, eigenvalues):
    before = dict(mpl.rcParams)
    assert CALLS[name](ax, low_pass, eigenvalues) is ax
    ax.figure.savefig(BytesIO(), format="png")  # what is drawn can be rendered
    assert dict(mpl.rcParams) == before


def test_without_axes_the_current_ones_are_used():
    code = (
        "import matplotlib; matplotlib.use('Agg')\n"
        "import matplotlib.pyplot as plt, cayleygsp as cg\n"
        "ax = plt.figure().add_subplot()\n"
        "assert cg.plotting.response(cg.CayleyPolynomial([0.5, -0.25], 1.0), 2.0) is ax\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_import_of_the_package_does_not_load_matplotlib():
    code = "import sys, cayleygsp; assert 'matplotlib' not in sys.modules; cayleygsp.plotting"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_axes_of_another_kind_are_refused(low_pass):
    with pytest.raises(TypeError, match="`ax` must be one matplotlib Axes, got ndarray"):
        plotting.response(low_pass, 2.0, ax=Figure().subplots(1, 2))


class TestGraph:
    def test_draws_one_segment_an_edge_and_one_point_a_vertex(self, ax, communities):
        plotting.graph(communities, ax=ax)
        (edges,) = collections_of(ax, LineCollection)
        points = collections_of(ax, PathCollection)
        assert len(edges.get_segments()) == communities.n_edges
        assert sum(len(p.get_offsets()) for p in points) == communities.n_vertices
        assert len(points) == 15

    def test_writes_each_label_once(self, ax, communities):
        plotting.graph(communities, ax=ax)
        assert [text.get_text() for text in ax.texts] == [str(k) for k in range(15)]

    def test_communities_differ_in_colour_or_marker(self, ax, communities):
        plotting.graph(communities, ax=ax)
        looks = {(tuple(p.get_facecolor()[0]), len(p.get_paths()[0])) for p in collections_of(ax, PathCollection)}
        assert len(looks) == 15

    def test_too_many_labels_are_drawn_as_one(self, ax):
        ring = gallery.ring(40)
        plotting.graph(cg.Graph(ring.W, coords=ring.coords, labels=np.arange(40)), ax=ax)
        assert len(collections_of(ax, PathCollection)) == 1
        assert not ax.texts

    def test_signal_of_both_signs_gets_a_scale_centred_at_zero(self, ax):
        plotting.graph(gallery.ring(8), np.linspace(-1, 3, 8), ax=ax)
        (points,) = collections_of(ax, PathCollection)
        assert points.get_clim() == (-3, 3)
        assert points.get_cmap().name == "coolwarm"

    def test_signal_of_one_sign_gets_a_sequential_scale(self, ax):
        plotting.graph(gallery.ring(8), np.linspace(1, 3, 8), ax=ax)
        (points,) = collections_of(ax, PathCollection)
        assert points.get_clim() == (1, 3)
        assert points.get_cmap().name == "viridis"

    def test_keywords_win_over_defaults(self, ax):
        plotting.graph(gallery.ring(8), np.linspace(-1, 3, 8), ax=ax, vmin=-9, vmax=9, cmap="cividis", s=7)
        (points,) = collections_of(ax, PathCollection)
        assert points.get_clim() == (-9, 9)
        assert points.get_cmap().name == "cividis"
        assert points.get_sizes().tolist() == [7]

    @pytest.mark.parametrize("colorbar", [True, False])
    def test_colour_bar_is_drawn_if_wanted(self, ax, colorbar):
        plotting.graph(gallery.ring(8), np.arange(8), ax=ax, colorbar=colorbar, label="volts")
        labels = [other.get_ylabel() for other in ax.figure.axes if other is not ax]
        assert labels == (["volts"] if colorbar else [])

    def test_graph_without_edges_can_be_drawn(self, ax):
        plotting.graph(cg.Graph(np.zeros((2, 2)), coords=[[0, 0], [1, 1]]), ax=ax)
        assert len(collections_of(ax, LineCollection)[0].get_segments()) == 0

    def test_graph_without_coordinates_is_refused(self, ax):
        with pytest.raises(ValueError, match="`graph` must have coordinates"):
            plotting.graph(cg.Graph([[0, 1], [1, 0]]), ax=ax)

    def test_other_kinds_of_graph_are_refused(self, ax):
        with pytest.raises(TypeError, match="must be a cayleygsp Graph, got ndarray"):
            plotting.graph(np.eye(2), ax=ax)

    @pytest.mark.parametrize(
        ("signal", "error", "message"),
        [
            (np.ones(3), ValueError, r"`signal` must have shape \(8,\)"),
            (np.ones((8, 2)), ValueError, r"`signal` must have shape \(8,\), got \(8, 2\)"),
            (np.ones(8) * 1j, TypeError, "`signal` must be real"),
            (np.full(8, np.nan), ValueError, "`signal` must be finite"),
        ],
    )
    def test_signals_that_do_not_fit_are_refused(self, ax, signal, error, message):
        with pytest.raises(error, match=message):
            plotting.graph(gallery.ring(8), signal, ax=ax)


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


class TestErrorBars:
    def test_dots_and_bars_are_where_the_numbers_are(self, ax):
        plotting.error_bars(["a", "b"], [1e-3, 1e-9], [1e-2, 1e-8], notes=["x", "y"], ax=ax)
        drawn = {line.get_label(): line for line in ax.lines}
        assert drawn["measured error"].get_xdata().tolist() == [1e-3, 1e-9]
        assert drawn["certified bound"].get_xdata().tolist() == [1e-2, 1e-8]
        assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
        assert [text.get_text() for text in ax.texts] == ["x", "y"]
        assert ax.get_xscale() == "log"

    def test_zero_error_and_missing_bound_can_be_drawn(self, ax):
        plotting.error_bars(["a", "b"], [0.0, 1e-3], [1e-12, np.inf], ax=ax)
        drawn = {line.get_label(): line for line in ax.lines}
        assert drawn["measured error"].get_xdata().tolist() == [1e-17, 1e-3]
        assert drawn["certified bound"].get_xdata().tolist() == [1e-12]

    @pytest.mark.parametrize(
        ("measured", "bounds", "notes", "message"),
        [
            ([1.0], [1.0, 2.0], None, r"`measured` must have one entry a name, shape \(2,\), got \(1,\)"),
            ([1.0, 2.0], [1.0], None, "`bounds` must have one entry a name"),
            ([1.0, -2.0], [1.0, 2.0], None, "`measured` must be finite and not negative"),
            ([1.0, 2.0], [1.0, 2.0], ["x"], "`notes` must have one entry a name, 2, got 1"),
        ],
    )
    def test_rows_that_do_not_fit_are_refused(self, ax, measured, bounds, notes, message):
        with pytest.raises(ValueError, match=message):
            plotting.error_bars(["a", "b"], measured, bounds, notes=notes, ax=ax)
