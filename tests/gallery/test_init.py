"""What all graphs of the gallery have in common."""

import pytest

from cayleygsp import gallery
from cayleygsp.graph import Graph


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gallery.ring(2), "`n_vertices` must be at least 3, got 2"),
        (lambda: gallery.path(0), "`n_vertices` must be at least 1, got 0"),
        (lambda: gallery.star(1), "`n_vertices` must be at least 2, got 1"),
        (lambda: gallery.grid(0), "`n_rows` must be at least 1, got 0"),
        (lambda: gallery.grid(2, -1), "`n_cols` must be at least 1, got -1"),
        (lambda: gallery.random_regular(4, 4), "`degree` must be below the number of vertices 4, got 4"),
        (lambda: gallery.random_regular(5, 3), "`degree` must be even for an odd number of vertices"),
        (lambda: gallery.sensor(6, 6), "`n_neighbors` must be below the number of vertices 6, got 6"),
        (lambda: gallery.mnist_grid(1), "`side` must be at least 2, got 1"),
        (lambda: gallery.mnist_grid(2, 4), "`n_neighbors` must be below the number of vertices 4, got 4"),
    ],
)
def test_sizes_out_of_range_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sizes_that_are_no_integers_are_refused():
    with pytest.raises(TypeError, match=r"`n_vertices` must be an integer, got 3\.5"):
        gallery.ring(3.5)


def test_everything_public_returns_a_named_graph_with_coordinates():
    made = [
        gallery.collaboration(9, rng=0),
        gallery.communities(rng=0),
        gallery.grid(3),
        gallery.mnist_grid(5),
        gallery.path(3),
        gallery.random_regular(4, 2, rng=0),
        gallery.ring(3),
        gallery.scale_free(9, rng=0),
        gallery.sensor(9, rng=0),
        gallery.star(3),
    ]
    assert len(made) == len(gallery.__all__)
    for graph in made:
        assert isinstance(graph, Graph)
        assert graph.name
        assert graph.coords.shape == (graph.n_vertices, 2)
