import numpy as np
import pytest
from scipy.sparse import csgraph

from cayleygsp import gallery


@pytest.mark.parametrize(("n", "n_links"), [(2, 1), (3, 5), (500, 1), (2000, 3)])
def test_scale_free_graphs_are_connected_and_have_no_more_links_than_drawn(n, n_links):
    graph = gallery.scale_free(n, n_links, rng=0)
    assert graph.n_vertices == n
    assert n - 1 <= graph.n_edges <= n_links * (n - 1)
    assert csgraph.connected_components(graph.W)[0] == 1
    assert set(graph.W.data) == {1.0}
    assert graph.W.diagonal().sum() == 0


def test_scale_free_degrees_have_the_tail_of_preferential_attachment():
    degrees = np.diff(gallery.scale_free(50_000, 3, rng=0).W.indptr)
    # P(d >= k) is m (m + 1) / (k (k + 1)) for links drawn one by one; merging and drawing m at once change little
    for k in (6, 12, 24, 48):
        assert (degrees >= k).mean() == pytest.approx(12 / (k * (k + 1)), rel=0.2)
    assert degrees.max() > 300


def test_collaborations_have_hubs_cliques_and_fields():
    graph = gallery.collaboration(4000, rng=0)
    W, degrees = graph.W, np.diff(graph.W.indptr)
    assert graph.labels.max() + 1 == 20
    assert set(W.data) == {1.0}
    assert degrees.min() >= 1
    assert degrees.max() > 8 * degrees.mean()
    triangles, wedges = (W @ W).multiply(W).sum(), (degrees * (degrees - 1)).sum()
    assert triangles / wedges > 0.1  # a random graph of these degrees has about 0.01
    rows = np.repeat(np.arange(4000), degrees)
    assert (graph.labels[rows] == graph.labels[W.indices]).mean() > 0.7


def test_networks_follow_their_seed_and_any_number_of_papers():
    for make in (gallery.scale_free, gallery.collaboration):
        assert (make(50, rng=3).W != make(50, rng=3).W).nnz == 0
        assert (make(50, rng=3).W != make(50, rng=4).W).nnz > 0
    assert gallery.collaboration(100, 30, rng=0).n_edges < gallery.collaboration(100, 300, rng=0).n_edges
    assert gallery.collaboration(2, rng=0).n_edges == 1
    with pytest.raises(ValueError, match="`n_vertices` must be at least 2, got 1"):
        gallery.scale_free(1)
    with pytest.raises(ValueError, match="`n_papers` must be at least 1, got 0"):
        gallery.collaboration(10, 0)
