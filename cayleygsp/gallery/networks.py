"""Random networks with hubs: scale-free ones, and those of people who write papers together."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cayleygsp._typing import FloatArray, IntArray
from cayleygsp._validation import check_integer
from cayleygsp.gallery.planted import disc_coords, even_sizes, range_starts, sunflower
from cayleygsp.gallery.regular import unweighted
from cayleygsp.graph import Graph

# Authors of one field; most teams are formed inside of one.
_FIELD_SIZE = 200

# Share of co-authors that come from anywhere.
_FROM_ANYWHERE = 0.1

# Tail exponents of the number of papers of an author and of the sizes of teams: P(X > t) ~ t^(-exponent).
_PRODUCTIVITY_TAIL = 2.0
_TEAM_TAIL = 2.2


def scale_free(n_vertices: int, n_links: int = 3, *, rng: np.random.Generator | int | None = None) -> Graph:
    r"""Return a connected graph grown by preferential attachment, with weights 1 (Barabási and Albert, 1999).

    Each new vertex draws ``n_links`` older ones with probabilities proportional to their degrees; one that is drawn
    twice is joined once. Degrees have a tail :math:`P(d > t) \sim t^{-2}`: a few hubs are joined to very many.
    Vertices come in the order of their age; ``coords`` puts old ones, which have most links, in the middle.

    Parameters
    ----------
    n_vertices : int
        Number of vertices, at least 2.
    n_links : int
        Links that each new vertex draws, at least 1.
    rng : numpy.random.Generator, int or None
        Source of randomness.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> graph = gallery.scale_free(1000, rng=0)
    >>> graph.n_vertices, graph.n_edges <= 3 * 999
    (1000, True)
    """
    n = check_integer(n_vertices, "n_vertices", at_least=2)
    d = check_integer(n_links, "n_links", at_least=1)
    generator = np.random.default_rng(rng)
    # Links lie in a row, each with its young end (even places) and its old end (odd places). Drawing a place among
    # the older ones is drawing a vertex by its degree; a place with an old end points on to what that one drew.
    young = np.repeat(np.arange(1, n), d)
    first = 2 * d * (young - 1)
    drawn = generator.integers(np.maximum(first, 1))
    place = np.where(young == 1, -1, drawn)  # the second vertex has but one to draw
    while (old := (place >= 0) & (place % 2 == 1)).any():
        link = place[old] // 2
        place[old] = np.where(link < d, -1, drawn[link])  # the links of the second vertex end at the first
    heads = np.where(place < 0, 0, young[np.maximum(place, 0) // 2])
    pairs = np.unique(heads * n + young)
    return Graph(unweighted(pairs // n, pairs % n, n), coords=sunflower(n), name="scale-free")


def collaboration(
    n_authors: int, n_papers: int | None = None, *, rng: np.random.Generator | int | None = None
) -> Graph:
    r"""Return a network of authors, two of whom are joined if they have written a paper together.

    The authors of a paper are a clique. Teams have two members or more, with a tail :math:`P(k > t) \sim t^{-2.2}`.
    Co-authors are drawn by their productivity, which has a tail :math:`t^{-2}`, nine of ten from the first author's
    field of about 200 people and the others from anywhere: so there are hubs, cliques and communities, as in real
    networks of this kind. Weights are 1; ``labels`` tells the field, ``coords`` draws each as a disc of its own.

    Parameters
    ----------
    n_authors : int
        Number of vertices, at least 2.
    n_papers : int, optional
        Number of papers, as many as authors if not given. The first ``n_authors`` of them have different first authors.
    rng : numpy.random.Generator, int or None
        Source of randomness.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> graph = gallery.collaboration(1000, rng=0)
    >>> graph.n_vertices, len(set(graph.labels))
    (1000, 5)
    """
    n = check_integer(n_authors, "n_authors", at_least=2)
    n_papers = n if n_papers is None else check_integer(n_papers, "n_papers", at_least=1)
    generator = np.random.default_rng(rng)
    sizes = even_sizes(n, max(n // _FIELD_SIZE, 1))
    labels = np.repeat(np.arange(sizes.size), sizes)
    productivity = np.exp(generator.standard_exponential(n) / _PRODUCTIVITY_TAIL)
    first = generator.permutation(n)[:n_papers]
    everyone = np.array([n])
    if n_papers > n:
        first = np.append(first, _draw_by_weight(productivity, everyone, np.zeros(n_papers - n, np.int64), generator))
    # the other authors of each paper, one entry for each name on it
    tail = np.exp(generator.standard_exponential(n_papers) / _TEAM_TAIL)
    others = np.minimum(np.ceil(1.5 * tail - 0.5), sizes.min()).astype(np.int64)
    papers = np.repeat(np.arange(n_papers), others)
    near = _draw_by_weight(productivity, sizes, labels[first[papers]], generator)
    far = _draw_by_weight(productivity, everyone, np.zeros(papers.size, np.int64), generator)
    authors = np.where(generator.random(papers.size) < _FROM_ANYWHERE, far, near)
    papers, authors = np.append(papers, np.arange(n_papers)), np.append(authors, first)
    B = sparse.csr_array((np.ones(papers.size), (authors, papers)), shape=(n, n_papers))
    joined = sparse.triu(B @ B.T, 1).tocoo()
    W = unweighted(joined.row.astype(np.int64), joined.col.astype(np.int64), n)
    return Graph(W, coords=disc_coords(sizes, labels, generator), labels=labels, name="collaboration")


def _draw_by_weight(weights: FloatArray, sizes: IntArray, groups: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw for each entry of ``groups`` one member of that group, with probabilities proportional to the weights."""
    ends = np.cumsum(weights)
    starts = range_starts(sizes)
    low, high = np.concatenate([[0.0], ends])[starts], ends[starts + sizes - 1]
    drawn = np.searchsorted(ends, low[groups] + (high - low)[groups] * rng.random(groups.size), side="right")
    return np.clip(drawn, starts[groups], (starts + sizes - 1)[groups])
