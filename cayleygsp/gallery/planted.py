"""Random graphs with planted communities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cayleygsp._typing import ArrayLike, FloatArray, IntArray
from cayleygsp._validation import check_integer, check_real
from cayleygsp.gallery.regular import unweighted
from cayleygsp.graph import Graph

_DEFAULT_COMMUNITIES = 15

# Points of a sunflower at radius √(k + ½) are at least 1.54 apart.
SUNFLOWER_GAP = 1.54


def communities(
    n_communities: int = _DEFAULT_COMMUNITIES,
    *,
    sizes: Sequence[int] | npt.NDArray[Any] | None = None,
    n_vertices: int | None = None,
    p_in: ArrayLike = 0.5,
    p_out: float = 0.003,
    spread: float = 0.0,
    rng: np.random.Generator | int | None = None,
) -> Graph:
    r"""Return a planted partition: vertices of one community are joined often, others rarely.

    Every pair of vertices of community :math:`c` is an edge with probability ``p_in[c]``, every pair of
    vertices of different communities with probability ``p_out``, independently. Weights are 1, or with ``spread``
    products of strengths of the two vertices, a few of which are hubs. Vertices are sorted by community; ``labels``
    tells it, ``coords`` draws each as a disc of its own. Only edges are drawn, never all pairs: time and memory are
    those of the result.

    Parameters
    ----------
    n_communities : int
        Number of communities; with ``sizes`` it need not be given.
    sizes : sequence of int, optional
        Number of vertices of each community. Without it and without ``n_vertices``, sizes are drawn uniformly
        from 10, …, 39: communities of different sizes can be told apart by the mean of a filtered signal,
        those of equal size and density cannot.
    n_vertices : int, optional
        Total number of vertices, split as evenly as possible. Not together with ``sizes``.
    p_in : float or array_like, shape (n_communities,)
        Probability of an edge inside a community.
    p_out : float
        Probability of an edge between communities.
    spread : float
        Of the strengths :math:`\theta` of the vertices, at least 0 and less than 1: they are drawn from the Pareto law
        with mean 1 and :math:`P(\theta > t) \sim t^{-1/\text{spread}}`, and the weight of an edge is
        :math:`\theta_u \theta_v`. With 0 all weights are 1.
    rng : numpy.random.Generator, int or None
        Source of randomness.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> import numpy as np
    >>> graph = gallery.communities(sizes=[20, 30, 10], rng=0)
    >>> graph.n_vertices
    60
    >>> np.bincount(graph.labels)
    array([20, 30, 10])
    """
    generator = np.random.default_rng(rng)
    counts = _community_sizes(n_communities, sizes, n_vertices, generator)
    inner = np.broadcast_to(_probabilities(p_in, "p_in", (len(counts),)), counts.shape)
    outer = _probabilities(p_out, "p_out", ())
    tail = check_real(spread, "spread")
    if not 0 <= tail < 1:
        raise ValueError(f"`spread` must be at least 0 and less than 1, got {spread!r}")
    tails, heads = _inner_edges(counts, inner, generator)
    tails_out, heads_out = _outer_edges(counts, float(outer), generator)
    W = unweighted(np.concatenate([tails, tails_out]), np.concatenate([heads, heads_out]), int(counts.sum()))
    if tail > 0:
        theta = (1 - tail) * np.exp(tail * generator.standard_exponential(W.shape[0]))
        W.data *= theta[W.indices] * np.repeat(theta, np.diff(W.indptr))
    labels = np.repeat(np.arange(len(counts)), counts)
    return Graph(W, coords=disc_coords(counts, labels, generator), labels=labels, name="communities")


def _community_sizes(
    n_communities: int,
    sizes: Sequence[int] | npt.NDArray[Any] | None,
    n_vertices: int | None,
    rng: np.random.Generator,
) -> IntArray:
    n_communities = check_integer(n_communities, "n_communities", at_least=1)
    if sizes is None and n_vertices is None:
        return rng.integers(10, 40, size=n_communities)
    if sizes is None:
        total = check_integer(n_vertices, "n_vertices", at_least=1)
        if total < n_communities:
            raise ValueError(f"`n_vertices` must be at least the number of communities {n_communities}, got {total}")
        return even_sizes(total, n_communities)
    if n_vertices is not None:
        raise ValueError(f"`sizes` must not be given together with `n_vertices`, got {sizes!r} and {n_vertices}")
    array = np.asarray(sizes)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"`sizes` must be a sequence of at least one size, got {sizes!r}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"`sizes` must be integers, got dtype {array.dtype}")
    if array.min() < 1:
        first = int(np.argmax(array < 1))
        raise ValueError(f"`sizes` must be at least 1, got sizes[{first}] = {array[first]}")
    if n_communities not in (_DEFAULT_COMMUNITIES, len(array)):
        raise ValueError(f"`n_communities` must be the number of sizes {len(array)}, got {n_communities}")
    return array.astype(np.int64)


def _probabilities(value: ArrayLike, name: str, shape: tuple[int, ...]) -> FloatArray:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"`{name}` must be a probability, got {value!r}")
    if array.shape not in ((), shape):
        expected = f"a number or have shape {shape}" if shape else "a number"
        raise ValueError(f"`{name}` must be {expected}, got shape {array.shape}")
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError(f"`{name}` must be within 0 and 1, got {value!r}")
    return array.astype(np.float64)


def _inner_edges(sizes: IntArray, p: FloatArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw the edges inside communities; community c has the vertices from ``sum(sizes[:c])`` on."""
    n_pairs = count_pairs(sizes)
    n_edges = rng.binomial(n_pairs, p)
    pairs = draw_distinct(n_pairs, n_edges, rng)
    pairs -= np.repeat(range_starts(n_pairs), n_edges)
    low, high = unrank_pairs(pairs)
    first_vertex = np.repeat(range_starts(sizes), n_edges)
    return low + first_vertex, high + first_vertex


def _outer_edges(sizes: IntArray, p: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw the edges between communities.

    Pairs are numbered by the community of the later vertex v, then by v, then by the other vertex u, which is
    any of those before that community.
    """
    starts = range_starts(sizes)
    n_pairs = sizes * starts
    total = int(n_pairs.sum())
    n_edges = rng.binomial(total, p)
    pairs = draw_distinct(np.array([total]), np.array([n_edges]), rng)
    community = np.searchsorted(np.cumsum(n_pairs), pairs, side="right")
    pairs -= range_starts(n_pairs)[community]
    first_vertex = starts[community]
    later, earlier = np.divmod(pairs, first_vertex)
    return earlier, later + first_vertex


def count_pairs(n: IntArray) -> IntArray:
    """Return the number of pairs of n things."""
    return n * (n - 1) // 2


def range_starts(lengths: IntArray) -> IntArray:
    """Return where ranges of the given lengths start when they stand one after the other."""
    return np.cumsum(lengths) - lengths


def unrank_pairs(rank: IntArray) -> tuple[IntArray, IntArray]:
    r"""Return the pairs i < j with :math:`j(j-1)/2 + i` equal to the ranks 0, 1, 2, …: 01, 02, 12, 03, …."""
    j = ((1 + np.sqrt(8.0 * rank + 1)) / 2).astype(np.int64)
    # The square root may be off by rounding, by far less than one.
    j -= count_pairs(j) > rank
    j += count_pairs(j + 1) <= rank
    return rank - count_pairs(j), j


def draw_distinct(lengths: IntArray, counts: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw ``counts[b]`` distinct numbers of the b-th of consecutive ranges, sorted, each set equally likely.

    Ranges start at 0. Where more than half of one is wanted, the numbers left out are drawn instead.
    """
    inverted = 2 * counts > lengths
    n_drawn = np.where(inverted, lengths - counts, counts)
    drawn = _draw_with_redraws(lengths, n_drawn, rng)
    if not inverted.any():
        return drawn
    left_out, sizes = np.repeat(inverted, n_drawn), lengths[inverted]
    members = np.arange(sizes.sum()) + np.repeat(range_starts(lengths)[inverted] - range_starts(sizes), sizes)
    kept = np.delete(members, np.searchsorted(members, drawn[left_out]))
    result = np.concatenate([drawn[~left_out], kept])
    result.sort()
    return result


def _draw_with_redraws(lengths: IntArray, counts: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw with replacement as many as are missing, drop repetitions, and again until none is missing.

    These are the first distinct values of independent uniform draws: all sets of that many are equally likely.
    """
    starts = range_starts(lengths)
    drawn = np.zeros(0, dtype=np.int64)
    missing = counts
    while missing.any():
        block = np.repeat(np.arange(len(lengths)), missing)
        new = rng.integers(lengths[block])
        new += starts[block]
        # np.unique takes several times as long from numpy 2.3 on, where it hashes before it sorts.
        new.sort()
        new = new[np.diff(new, prepend=-1) > 0]
        if drawn.size:
            position = np.searchsorted(drawn, new)
            known = drawn[np.minimum(position, drawn.size - 1)] == new
            new = np.insert(drawn, position[~known], new[~known])
        drawn = new
        ends = np.searchsorted(drawn, starts + lengths)
        missing = counts - np.diff(ends, prepend=0)
    return drawn


def even_sizes(total: int, n_groups: int) -> IntArray:
    """Return the sizes of groups that differ by one at most, the larger ones first."""
    return total // n_groups + (np.arange(n_groups) < total % n_groups).astype(np.int64)


def sunflower(n_points: int) -> FloatArray:
    """Return points that fill a disc evenly, from its centre outwards, each turned on by the golden angle."""
    k = np.arange(n_points)
    return _polar(np.sqrt(k + 0.5), k * (np.pi * (3 - np.sqrt(5))))


def disc_coords(sizes: IntArray, labels: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return random points in discs, one per group, of area as the size, centres on a sunflower."""
    radius = np.sqrt(sizes)
    # Centres are at least 2.4 times the largest radius apart.
    centres = 2.4 / SUNFLOWER_GAP * radius.max() * sunflower(len(sizes))
    offset = _polar(radius[labels] * np.sqrt(rng.random(len(labels))), 2 * np.pi * rng.random(len(labels)))
    return centres[labels] + offset


def _polar(radius: FloatArray, angle: FloatArray) -> FloatArray:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
