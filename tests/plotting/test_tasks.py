"""Pictures of tasks: what is drawn, with and without coordinates."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure

import cayleygsp as cg
from cayleygsp import plotting
from cayleygsp.plotting import tasks
from tests.plotting.helpers import collections_of

GRID = cg.gallery.grid(6, 5)
BARE = cg.Graph(GRID.W)
Y = np.random.default_rng(0).standard_normal((30, 2))


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.mark.parametrize("select", ["gcv", "sure", "discrepancy", "morozov"])
def test_the_criterion_is_marked_at_the_choice(ax, select):
    result = cg.tasks.denoise(GRID, Y, "heat", select, sigma=None if select == "gcv" else 1.0)
    plotting.criterion(result, signal=1, ax=ax)
    mark = ax.lines[-1]
    assert mark.get_xdata()[0] == result.strength[1]
    assert mark.get_ydata()[0] in result.curve[:, 1]
    with pytest.raises(ValueError, match="`signal` must be below"):
        plotting.criterion(result, signal=2, ax=ax)
    with pytest.raises(TypeError, match="Denoised"):
        plotting.criterion(result.curve, ax=ax)


def test_convergence_has_one_line_per_signal(ax):
    result = cg.tasks.inpaint(GRID, Y, np.arange(30) % 3 == 0)
    plotting.convergence(result, ax=ax)
    assert len(ax.lines) == 2
    assert len(ax.lines[0].get_xdata()) == result.n_iterations + 1
    with pytest.raises(TypeError, match="Inpainted"):
        plotting.convergence(result.residuals, ax=ax)


def test_bands_are_named(ax):
    features = cg.tasks.smooth_features(GRID, Y, [1.0, 3.0])
    plotting.bands(features, 8.0, ax=ax)
    assert [line.get_label() for line in ax.lines] == ["below 1", "1 to 3", "above 3"]
    assert sum(line.get_ydata() for line in ax.lines) == pytest.approx(np.ones(ax.lines[0].get_xdata().size))
    with pytest.raises(TypeError, match="Features"):
        plotting.bands(features.values, 8.0, ax=ax)


def test_before_and_after_share_their_colours():
    result = cg.tasks.denoise(GRID, Y)
    figure = tasks.denoised_figure(GRID, Y, result, signal=1)
    before, after = (collections_of(ax, PathCollection)[0] for ax in figure.axes[:2])
    assert before.get_clim() == after.get_clim()
    assert np.array_equal(before.get_array(), Y[:, 1])
    assert np.array_equal(after.get_array(), result.signals[:, 1])
    known = np.arange(30) % 3 == 0
    figure = tasks.inpainted_figure(GRID, Y, known, cg.tasks.inpaint(GRID, Y, known))
    given, filled = (collections_of(ax, PathCollection)[-1] for ax in figure.axes[:2])
    assert given.get_clim() == filled.get_clim()
    assert np.array_equal(given.get_array(), Y[known, 0])
    figure = tasks.features_figure(GRID, cg.tasks.smooth_features(GRID, Y, 3), 8.0)
    assert len(figure.axes) == 1 + 2 * 3


def test_without_coordinates_there_is_still_a_curve():
    known = np.arange(30) % 3 == 0
    for figure in (
        tasks.denoised_figure(BARE, Y, cg.tasks.denoise(BARE, Y)),
        tasks.inpainted_figure(BARE, Y, known, cg.tasks.inpaint(BARE, Y, known)),
        tasks.features_figure(BARE, cg.tasks.smooth_features(BARE, Y), 8.0),
    ):
        assert len(figure.axes) == 1
        assert figure.axes[0].lines


def test_large_graphs_are_drawn_without_edges(monkeypatch):
    monkeypatch.setattr(tasks, "_MOST_WITH_EDGES", 10)
    figure = tasks.denoised_figure(GRID, Y[:, 0], cg.tasks.denoise(GRID, Y[:, 0]))
    (edges,) = collections_of(figure.axes[0], LineCollection)
    assert len(edges.get_segments()) == 0
