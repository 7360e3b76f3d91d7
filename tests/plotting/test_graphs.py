"""Pictures of graphs: what is drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection

import cayleygsp as cg
from cayleygsp import gallery, plotting
from tests.plotting.helpers import collections_of


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
