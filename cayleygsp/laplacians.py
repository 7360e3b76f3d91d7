"""Graph Laplacians that know their degrees and a guaranteed bound of their spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph

from cayleygsp._typing import Array, FloatArray, GraphLike, IntArray, LaplacianKind
from cayleygsp._validation import check_choice, check_integer, check_positive
from cayleygsp.engine.packed import KernelGraph, prepare_graph
from cayleygsp.graph import Graph, as_adjacency

if TYPE_CHECKING:
    from cayleygsp.eigenbasis import Eigenbasis

KINDS: tuple[LaplacianKind, ...] = ("combinatorial", "normalized")

# Steps of the power iteration behind the guaranteed bound of the combinatorial spectrum.
_POWER_STEPS = 8


@dataclass(frozen=True)
class LanczosBound:
    """What a Lanczos run says of the largest eigenvalue.

    Attributes
    ----------
    lower : float
        The largest Ritz value: never above λ_max.
    residual : float
        Norm of the residual of that Ritz pair: an eigenvalue lies within it.
    upper : float
        ``lower + residual``, or the guaranteed bound where that is smaller. An estimate, if a good one: a top
        eigenvector of which the random start vector holds almost nothing is not seen.
    n_steps : int
        Steps taken, each one product with the Laplacian.
    """

    lower: float
    residual: float
    upper: float
    n_steps: int


# Squares of degrees up to this, and of one over it, are numbers with all their digits.
_LARGEST_DEGREE = 1e150


class Laplacian:
    r"""The Laplacian Δ of a weighted undirected graph; make one with :func:`laplacian`.

    Combinatorial: :math:`\Delta = D - W`. Normalized: :math:`\Delta = I - D^{-1/2} W D^{-1/2}`, with a zero row
    for a vertex without edges. Degrees :math:`d_i = \sum_j w_{ij}` count self-loops, which therefore cancel in
    the combinatorial Laplacian.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array
        Δ in double precision.
    kind : {"combinatorial", "normalized"}
        Which Laplacian it is.
    degrees : numpy.ndarray
        Weighted degrees of the vertices.
    lmax : float
        An upper bound of the largest eigenvalue that holds for certain, see Notes.

    Notes
    -----
    For the normalized Laplacian the bound is 2. For the combinatorial one, λ_max is at most the largest
    eigenvalue of the non-negative matrix D + W, and for any positive x that is at most
    :math:`\max_i ((D + W)x)_i / x_i` (Collatz and Wielandt). With x = d this is never above
    :math:`\max_{u \sim v} d_u + d_v`; a few power steps from there make it smaller.
    """

    def __init__(
        self, matrix: sparse.csr_array, kind: LaplacianKind, degrees: FloatArray, lmax: float | None = None
    ) -> None:
        self.matrix = matrix
        self.kind: LaplacianKind = kind
        self.degrees = degrees
        self.lmax = _guaranteed_lmax(self) if lmax is None else lmax
        self._casts: dict[Any, sparse.csr_array] = {np.dtype(np.float64): matrix}
        self._kernel_graphs: dict[Any, KernelGraph] = {}

    @classmethod
    def from_matrix(cls, matrix: Any, kind: LaplacianKind = "combinatorial") -> Laplacian:
        r"""Take a matrix that already is a Laplacian.

        Parameters
        ----------
        matrix : scipy sparse or dense, shape (n, n)
            Symmetric, off-diagonal entries ≤ 0. Combinatorial: rows sum to zero. Normalized: the diagonal is
            1 (0 for isolated vertices) and no self-loops stand behind it; the degrees cannot be known and are
            given as 1, and the bound of the spectrum is computed, not taken to be 2.
        kind : {"combinatorial", "normalized"}
            Which Laplacian it is.

        Examples
        --------
        >>> import numpy as np
        >>> from cayleygsp import Laplacian
        >>> Laplacian.from_matrix(np.array([[1.0, -1.0], [-1.0, 1.0]]))
        Laplacian(n_vertices=2, n_edges=1, kind='combinatorial', lmax=2)
        """
        check_choice(kind, "kind", KINDS)
        if isinstance(matrix, Laplacian):
            raise TypeError("`matrix` must be a sparse or dense array, got a Laplacian; it can be used as it is")
        given = matrix if sparse.issparse(matrix) else np.asarray(matrix)
        if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] == 0:
            raise ValueError(f"`matrix` must be square and not empty, got shape {given.shape}")
        if given.dtype.kind not in "biuf":
            raise TypeError(f"`matrix` must hold real numbers, got dtype {given.dtype}")
        given = sparse.csr_array(given, dtype=np.float64)
        diagonal = given.diagonal()
        W = as_adjacency(sparse.diags_array(diagonal) - given, name="the negated off-diagonal part of `matrix`")
        expected = W.sum(axis=1) if kind == "combinatorial" else (np.diff(W.indptr) > 0).astype(np.float64)
        gap = np.abs(diagonal - expected)
        worst = int(np.argmax(gap))
        if gap[worst] > 1e-10 * max(1.0, float(np.abs(diagonal).max())):
            raise ValueError(
                f"`matrix` is no {kind} Laplacian: expected {expected[worst]:.6g} on the diagonal of vertex "
                f"{worst}, got {diagonal[worst]:.6g}"
            )
        if kind == "combinatorial":
            return laplacian(W, kind)
        if not _is_stochastic(W):
            raise ValueError(
                "`matrix` is no normalized Laplacian, or it could not be seen to be one: I - matrix must have no "
                "eigenvalue above 1; give the adjacency matrix to cayleygsp.laplacian instead"
            )
        L = (sparse.diags_array(expected) - W).tocsr()
        return cls(L, kind, expected, lmax=_collatz_wielandt(L, L.diagonal()))

    def __repr__(self) -> str:
        return (
            f"Laplacian(n_vertices={self.n_vertices}, n_edges={self.n_edges}, kind={self.kind!r}, lmax={self.lmax:.6g})"
        )

    @property
    def n_vertices(self) -> int:
        """Number of vertices n."""
        return int(self.matrix.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of edges between different vertices."""
        return int(self.matrix.nnz - np.count_nonzero(self.diagonal)) // 2

    @cached_property
    def diagonal(self) -> FloatArray:
        """The diagonal of Δ."""
        return self.matrix.diagonal()

    @cached_property
    def components(self) -> IntArray:
        """The number of the connected component of each vertex, from 0."""
        return csgraph.connected_components(self.matrix, directed=False)[1].astype(np.int64)

    @property
    def n_components(self) -> int:
        """Number of connected components: the multiplicity of the eigenvalue 0, for both kinds of Laplacian."""
        return int(self.components.max()) + 1

    @cached_property
    def eigenbasis(self) -> Eigenbasis:
        """All eigenvalues and eigenvectors, computed once (dense: only for small graphs)."""
        from cayleygsp.eigenbasis import compute_eigenbasis

        return compute_eigenbasis(self)

    @property
    def has_eigenbasis(self) -> bool:
        """Whether the eigenbasis has been computed already."""
        return "eigenbasis" in self.__dict__

    @property
    def eigenvalues(self) -> FloatArray:
        """The graph frequencies λ, ascending."""
        return self.eigenbasis.eigenvalues

    @property
    def eigenvectors(self) -> FloatArray:
        """The eigenvectors Φ as columns."""
        return self.eigenbasis.eigenvectors

    @cached_property
    def lmax_lower(self) -> float:
        r"""A number that λ_max is certainly not below: the largest Rayleigh quotient of one vertex or edge.

        For :math:`(e_u - e_v)/\sqrt 2` the quotient is :math:`(\Delta_{uu} + \Delta_{vv})/2 - \Delta_{uv}`.
        """
        if self.has_eigenbasis:
            return float(self.eigenvalues[-1])
        u = int(np.argmax(self.diagonal))
        row = slice(self.matrix.indptr[u], self.matrix.indptr[u + 1])
        v, values = self.matrix.indices[row], self.matrix.data[row]
        quotients = (self.diagonal[u] + self.diagonal[v]) / 2 - values
        return float(max(self.diagonal[u], quotients[v != u].max(initial=0.0)))

    @cached_property
    def lanczos_lower(self) -> float:
        """The Ritz value of a short Lanczos run: a lower bound of λ_max, usually within a percent."""
        if self.has_eigenbasis:
            return float(self.eigenvalues[-1])
        return max(self.lmax_lower, self.lanczos_bound(n_steps=30, rng=0).lower)

    @cached_property
    def lanczos_upper(self) -> float:
        """The Ritz value of a Lanczos run plus its residual; at most the guaranteed bound."""
        if self.has_eigenbasis:
            return float(self.eigenvalues[-1]) + self.eigenbasis.residual
        return self.lanczos_bound(rng=0).upper

    @cached_property
    def rounding_norm(self) -> float:
        r"""An upper bound of :math:`\|\mathrm{diag}(m)\,|\Delta|\,\|_2`, m counting each row's entries (plus 3).

        One product with Δ in floating point is wrong by at most u times this times the signal's norm, u being
        the unit roundoff.
        """
        m = np.diff(self.matrix.indptr) + 3.0
        row_sums = m * self.absolute_product(np.ones(self.n_vertices))
        column_sums = self.absolute_product(m)
        return float(np.sqrt(row_sums.max() * column_sums.max()))

    def absolute_product(self, x: Array) -> Array:
        """Return abs(Δ) x; only the diagonal of Δ is positive."""
        diagonal = self.diagonal if x.ndim == 1 else self.diagonal[:, None]
        return 2 * diagonal * x - self.matrix @ x

    def matrix_as(self, dtype: Any) -> sparse.csr_array:
        """Return Δ in another precision; each is made once."""
        dtype = np.dtype(dtype)
        if dtype not in self._casts:
            self._casts[dtype] = self.matrix.astype(dtype)
        return self._casts[dtype]

    def kernel_graph(self, dtype: Any, *, reorder: bool = True) -> KernelGraph:
        """Return Δ as the compiled loops want it; made once for each precision.

        Parameters
        ----------
        dtype : dtype
            Precision of the signals.
        reorder : bool
            Whether the vertices may stand in another order.
        """
        key = (np.dtype(dtype), reorder)
        if key not in self._kernel_graphs:
            made = self._kernel_graphs.get((key[0], True))
            if made is None or made.order is not None:
                made = prepare_graph(self.matrix, dtype, reorder=reorder)
            self._kernel_graphs[key] = made
        return self._kernel_graphs[key]

    def lanczos_bound(self, n_steps: int = 80, *, rng: np.random.Generator | int | None = None) -> LanczosBound:
        """Look for λ_max with a Lanczos run; no more than four vectors are kept.

        Parameters
        ----------
        n_steps : int
            The most products to spend. The run stops when the residual is 1e-4 of the Ritz value.
        rng : numpy.random.Generator or int, optional
            For the start vector.

        Returns
        -------
        LanczosBound
            With the Ritz value, its residual and their sum. To filter with the tighter bound, use
            ``L.with_lmax(L.lanczos_bound().upper)``.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> L = cg.laplacian(cg.gallery.communities(rng=0), "normalized")
        >>> found = L.lanczos_bound(rng=0)
        >>> found.lower < found.upper < L.lmax
        True
        """
        n_steps = check_integer(n_steps, "n_steps", at_least=1)
        return _lanczos_bound(self, n_steps, np.random.default_rng(rng))

    def with_lmax(self, lmax: float) -> Laplacian:
        """Return the same Laplacian with another upper bound of its spectrum.

        Parameters
        ----------
        lmax : float
            Every certificate will trust that no eigenvalue is larger. A value that is provably too small is
            refused.
        """
        lmax = check_positive(lmax, "lmax")
        if lmax < self.lanczos_lower * (1 - 1e-12):
            raise ValueError(
                f"`lmax` must not be below the largest eigenvalue, which is at least {self.lanczos_lower:.10g}, "
                f"got {lmax:.10g}"
            )
        copy = Laplacian(self.matrix, self.kind, self.degrees, lmax=lmax)
        copy.__dict__.update({k: v for k, v in self.__dict__.items() if k not in ("lmax",)})
        return copy


def laplacian(graph: GraphLike, kind: LaplacianKind | None = None) -> Laplacian:
    r"""Prepare the Laplacian of a graph for filtering.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense array
        An undirected graph with weights ≥ 0; arrays are adjacency matrices. For a matrix that already is a
        Laplacian use :meth:`Laplacian.from_matrix`.
    kind : {"combinatorial", "normalized"}, optional
        :math:`D - W` or :math:`I - D^{-1/2} W D^{-1/2}`. By default that of a PyGSP graph or a given
        Laplacian, else combinatorial.

    Returns
    -------
    Laplacian
        With degrees and a guaranteed upper bound of the spectrum.

    Raises
    ------
    ValueError, TypeError
        If the graph is empty, directed, or has weights that are negative, complex or not finite.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.laplacian(cg.gallery.ring(16), kind="normalized")
    Laplacian(n_vertices=16, n_edges=16, kind='normalized', lmax=2)
    """
    if kind is not None:
        check_choice(kind, "kind", KINDS)
    if isinstance(graph, Laplacian):
        if kind not in (None, graph.kind):
            raise ValueError(f"`kind` must be {graph.kind!r} as that of the given Laplacian, got {kind!r}")
        return graph
    if kind is None:
        lap_type = None if isinstance(graph, Graph) else getattr(graph, "lap_type", None)
        kind = lap_type if lap_type in KINDS else "combinatorial"
    W = as_adjacency(graph)
    with np.errstate(over="ignore"):
        d = W.sum(axis=1)
    if not np.isfinite(d).all():
        raise ValueError("`graph` must have finite degrees: the sum of its weights overflows, scale them down")
    largest = float(d.max(initial=0.0))
    if kind == "combinatorial" and largest > 0 and not 1 / _LARGEST_DEGREE <= largest <= _LARGEST_DEGREE:
        raise ValueError(
            f"`graph` must have a largest degree between {1 / _LARGEST_DEGREE:g} and {_LARGEST_DEGREE:g}, squares of "
            f"others leave the range of numbers; got {largest:.3g}, scale the weights"
        )
    L = _combinatorial(W) if kind == "combinatorial" else _normalized(W, d)
    L.eliminate_zeros()
    L.sort_indices()
    return Laplacian(L, kind, d)


def _without_loops(W: sparse.csr_array) -> sparse.csr_array:
    """Return the off-diagonal part; self-loops are in the degrees already."""
    loops = W.diagonal()
    return (W - sparse.diags_array(loops)).tocsr() if loops.any() else W


def _combinatorial(W: sparse.csr_array) -> sparse.csr_array:
    """Return D - W, in which self-loops cancel."""
    W = _without_loops(W)
    return (sparse.diags_array(W.sum(axis=1)) - W).tocsr()


def _normalized(W: sparse.csr_array, d: FloatArray) -> sparse.csr_array:
    """Return I - D^{-1/2} W D^{-1/2}, zero where the degree is zero, symmetric to the last bit."""
    A = _without_loops(W).copy()
    # a power of two that makes the largest degree about one, so that nothing over- or underflows
    unit = 2.0 ** -np.frexp(d.max(initial=1.0))[1]
    A.data *= unit
    d = d * unit
    connected = d > 0
    # 1 - w_ii / d_i is written as the other edges' share of the degree, which is never negative
    diagonal = np.divide(A.sum(axis=1), d, out=np.zeros_like(d), where=connected)
    scale = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=connected)
    A.data *= np.repeat(scale, np.diff(A.indptr)) * scale[A.indices]
    return (sparse.diags_array(diagonal) - A).tocsr()


def _is_stochastic(A: sparse.csr_array) -> bool:
    """Say whether a non-negative symmetric matrix can be seen to have no eigenvalue above 1.

    A small one is decomposed; for a large one power steps look for a positive x with Ax ≤ x.
    """
    if A.shape[0] <= 2000:
        return bool(np.linalg.eigvalsh(A.toarray())[-1] <= 1 + 1e-10)
    x = np.ones(A.shape[0])
    for _ in range(2000):
        Ax = A @ x
        if (Ax <= (1 + 1e-9) * x).all():
            return True
        x = Ax + x
        x /= x.max()
        if not (x > 1e-200).all():
            break
    return False


def _guaranteed_lmax(L: Laplacian) -> float:
    """Bound the spectrum from above, rounding included."""
    if L.kind == "normalized":
        return 2.0 if L.diagonal.any() else 0.0
    return _collatz_wielandt(L.matrix, L.diagonal)


def _collatz_wielandt(L: sparse.csr_array, diagonal: FloatArray) -> float:
    """Return max_i (Qx)_i / x_i for Q = |L| and a positive x improved by power steps."""
    inner = diagonal > 0
    if not inner.any():
        return 0.0
    x = np.where(inner, diagonal, 1.0)
    x /= x.max()
    best = np.inf
    for _ in range(_POWER_STEPS):
        Qx = 2 * diagonal * x - L @ x
        ratio = float((Qx[inner] / x[inner]).max())
        best = min(best, ratio)
        x = np.where(inner, Qx / Qx.max(), 1.0)
        if not (x > 1e-200).all():
            break
    longest_row = int(np.diff(L.indptr).max())
    return float(best * (1 + (longest_row + 8) * np.finfo(np.float64).eps))


def _lanczos_bound(L: Laplacian, n_steps: int, rng: np.random.Generator) -> LanczosBound:
    """Run the Lanczos recurrence without reorthogonalisation: extreme Ritz values stay right."""
    n = L.n_vertices
    v = rng.standard_normal(n)
    v /= np.linalg.norm(v)
    v_prev = np.zeros(n)
    alphas: list[float] = []
    betas: list[float] = []
    theta = theta_before = residual = 0.0
    for step in range(min(n_steps, n)):
        w = L.matrix @ v
        alpha = float(v @ w)
        w -= alpha * v + (betas[-1] if betas else 0.0) * v_prev
        alphas.append(alpha)
        beta = float(np.linalg.norm(w))
        if step % 10 == 9 or step + 1 == min(n_steps, n) or beta <= 1e-14 * L.lmax:
            thetas, S = linalg.eigh_tridiagonal(alphas, betas)
            theta, residual = float(thetas[-1]), beta * abs(float(S[-1, -1]))
            settled = step > 20 and theta - theta_before <= 1e-4 * theta
            if (settled and residual <= 1e-4 * theta) or beta <= 1e-14 * L.lmax:
                break
            theta_before = theta
        betas.append(beta)
        v_prev, v = v, w / beta
    floor = float(4 * np.finfo(np.float64).eps * L.rounding_norm)
    residual += 2 * floor
    lower = max(theta - floor, L.lmax_lower)
    return LanczosBound(lower, residual, min(lower + residual, L.lmax), len(alphas))
