"""Graph Laplacians that know their degrees and a guaranteed bound of their spectrum."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from cayleygsp._typing import Array, FloatArray, GraphLike, IntArray, LaplacianKind
from cayleygsp._validation import check_choice, check_integer, check_positive, check_signals
from cayleygsp.eigenbasis import Eigenbasis, compute_eigenbasis
from cayleygsp.engine.packed import KernelGraph, prepare_graph
from cayleygsp.engine.recurrence import sum_series, sum_series_adjoint
from cayleygsp.graph import AsymmetryError, Graph, as_adjacency
from cayleygsp.spectrum import (
    LanczosBound,
    bound_by_ritz,
    collatz_wielandt,
    lanczos_steps,
    largest_quotient,
    spectral_radius_bound,
)

KINDS: tuple[LaplacianKind, ...] = ("combinatorial", "normalized")

# Squares of degrees up to this, and of one over it, are numbers with all their digits.
_LARGEST_DEGREE = 1e150

# How far the diagonal may be from what the other entries say, relative to the largest: ten decimals are common. In
# single precision a sum of m entries is wrong by some m units of rounding.
_DIAGONAL_TOLERANCE = 1e-10

# How far below zero an eigenvalue may be before a matrix is no normalized Laplacian, relative to the diagonal 1.
_SPECTRUM_TOLERANCE = 1e-6


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
        The upper bound of the largest eigenvalue that filters use: ``lmax_bound``, unless :meth:`with_lmax` was told
        otherwise.
    lmax_bound : float
        An upper bound of the largest eigenvalue that holds for certain, see Notes.
    lmin : float
        A lower bound of the smallest eigenvalue that holds for certain: 0, or for a matrix that was given with rounded
        entries (:meth:`from_matrix`) a small negative number.

    Notes
    -----
    For the normalized Laplacian the bound is 2. For the combinatorial one, λ_max is at most the largest
    eigenvalue of the non-negative matrix D + W, and for any positive x that is at most
    :math:`\max_i ((D + W)x)_i / x_i` (Collatz and Wielandt). With x = d this is never above
    :math:`\max_{u \sim v} d_u + d_v`; a few power steps from there make it smaller.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> L = cg.laplacian(cg.gallery.path(3))
    >>> L.matrix.toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """

    is_local: bool = True  # whether the matrix is in the memory of this process

    def __init__(
        self,
        matrix: sparse.csr_array,
        kind: LaplacianKind,
        degrees: FloatArray,
        lmax: float | None = None,
        *,
        lmax_bound: float | None = None,
        lmin: float = 0.0,
    ) -> None:
        self.matrix = matrix
        self.kind: LaplacianKind = kind
        self.degrees = degrees
        if lmax_bound is None:
            diagonal = matrix.diagonal()
            two = 2.0 if diagonal.any() else 0.0
            lmax_bound = two if kind == "normalized" else collatz_wielandt(matrix, diagonal)
        self.lmax_bound = lmax_bound
        self.lmax = self.lmax_bound if lmax is None else lmax
        self.lmin = lmin
        self._shifted: Laplacian | None = None
        self._kernel_graphs: dict[Any, KernelGraph] = {}

    @classmethod
    def from_matrix(cls, matrix: Any, kind: LaplacianKind = "combinatorial") -> Laplacian:
        r"""Return the Laplacian of a matrix that already is one.

        Parameters
        ----------
        matrix : scipy sparse or dense, shape (n, n)
            Symmetric, off-diagonal entries ≤ 0. Combinatorial: rows sum to zero. Normalized: the diagonal is
            1 (0 for isolated vertices) and no self-loops stand behind it; the degrees cannot be known and are
            given as 1, and the bound of the spectrum is computed, not taken to be 2. Entries may be rounded, relative
            to the largest by 1e-10, or as single precision rounds if that is the dtype.
        kind : {"combinatorial", "normalized"}
            Which Laplacian it is.

        Returns
        -------
        Laplacian
            Filters on it are functions of the matrix as it is given. Rounded entries may have made an eigenvalue
            slightly negative: ``lmin`` says how far at most, and every certificate counts it.

        Raises
        ------
        ValueError, TypeError
            If the matrix is no such Laplacian.

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
        L, degrees, lmin = _given_laplacian(matrix, kind)
        check_degrees(degrees, kind, "matrix")
        L.eliminate_zeros()
        L.sort_indices()
        return cls(L, kind, degrees, lmax_bound=collatz_wielandt(L, L.diagonal()), lmin=lmin)

    def __repr__(self) -> str:
        return (
            f"Laplacian(n_vertices={self.n_vertices}, n_edges={self.n_edges}, kind={self.kind!r}, lmax={self.lmax:.6g})"
        )

    @cached_property
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
        return compute_eigenbasis(self.matrix, self.rounding_norm, self.lmin, self.lmax_bound)

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
        r"""A guaranteed lower bound of λ_max: the largest Rayleigh quotient of one vertex or edge.

        For :math:`(e_u - e_v)/\sqrt 2` the quotient is :math:`(\Delta_{uu} + \Delta_{vv})/2 - \Delta_{uv}`.
        """
        if self.has_eigenbasis:
            return max(float(self.eigenvalues[-1]) - self.eigenbasis.residual, 0.0)
        u = int(np.argmax(self.diagonal))
        row = slice(self.matrix.indptr[u], self.matrix.indptr[u + 1])
        v, values = self.matrix.indices[row], self.matrix.data[row]
        return largest_quotient(self.diagonal[u], self.diagonal[v[v != u]], values[v != u])

    @property
    def lmax_guaranteed(self) -> bool:
        """Whether ``lmax`` is known to be no smaller than any eigenvalue, and not only estimated to be."""
        if self.lmax >= self.lmax_bound:
            return True
        return self.has_eigenbasis and self.lmax >= float(self.eigenvalues[-1]) + self.eigenbasis.residual

    @property
    def lanczos_lower(self) -> float:
        """The Ritz value of a short Lanczos run: a lower bound of λ_max, usually within a percent."""
        return self.lmax_lower if self.has_eigenbasis else self._short_lanczos.lower

    @property
    def lanczos_upper(self) -> float:
        """The Ritz value of a Lanczos run plus its residual; at most the guaranteed bound.

        An estimate, unless the eigenvalues are known: then it is certain.
        """
        if self.has_eigenbasis:
            return float(self.eigenvalues[-1]) + self.eigenbasis.residual
        return self._long_lanczos.upper

    @cached_property
    def _short_lanczos(self) -> LanczosBound:
        return self.lanczos_bound(n_steps=30, rng=0)

    @cached_property
    def _long_lanczos(self) -> LanczosBound:
        return self.lanczos_bound(rng=0)

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

    def equals(self, other: Laplacian) -> bool:
        """Return whether another Laplacian is the same, to the last bit, with the same bounds of its spectrum."""
        if self is other:
            return True
        return (self.kind, self.lmin, self.lmax) == (other.kind, other.lmin, other.lmax) and all(
            np.array_equal(getattr(self.matrix, name), getattr(other.matrix, name))
            for name in ("indptr", "indices", "data")
        )

    def absolute_product(self, x: Array) -> Array:
        """Return abs(Δ) x; only the diagonal of Δ is positive."""
        diagonal = self.diagonal if x.ndim == 1 else self.diagonal[:, None]
        return 2 * diagonal * x - self.matrix @ x

    def kernel_graph(self, dtype: Any, *, reorder: bool = True) -> KernelGraph:
        """Return Δ as the compiled loops read it, perhaps with reordered vertices; made once for each precision."""
        key = (np.dtype(dtype), reorder)
        if key not in self._kernel_graphs:
            made = self._kernel_graphs.get((key[0], True))
            if made is None or made.order is not None:
                made = prepare_graph(self.matrix, dtype, reorder=reorder)
            self._kernel_graphs[key] = made
        return self._kernel_graphs[key]

    def check_signals(self, signals: Any) -> Any:
        """Return signals of shape (n,) or (n, m) as numbers that can be filtered."""
        return check_signals(signals, self.n_vertices)

    def sum_series(self, lmax: float, coeffs: FloatArray, f: Any, dtype: Any) -> tuple[Any, str]:
        r"""Return :math:`\sum_k a_{ik} T_k(\tilde\Delta) f` for every row of coefficients, and a note on how.

        The arguments are those of :func:`cayleygsp.engine.recurrence.sum_series`; of the same precision as the work.
        """
        return sum_series(self.kernel_graph(dtype), lmax, coeffs, f, dtype), ""

    def sum_series_adjoint(self, lmax: float, coeffs: FloatArray, f: Any, dtype: Any) -> tuple[Any, str]:
        r"""Return :math:`\sum_i \sum_k a_{ik} T_k(\tilde\Delta) f_i`, and a note on how."""
        return sum_series_adjoint(self.kernel_graph(dtype), lmax, coeffs, f, dtype), ""

    def lanczos_bound(self, n_steps: int = 80, *, rng: np.random.Generator | int | None = None) -> LanczosBound:
        """Estimate λ_max by a Lanczos run; no more than four vectors are kept.

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
        >>> bound = L.lanczos_bound(rng=0)
        >>> bound.lower < bound.upper < L.lmax
        True
        """
        return bound_by_ritz(
            lanczos_steps(self.matrix, np.random.default_rng(rng)),
            min(check_integer(n_steps, "n_steps", at_least=1), self.n_vertices),
            floor=float(4 * np.finfo(np.float64).eps * self.rounding_norm),
            at_least=self.lmax_lower,
            at_most=self.lmax_bound,
        )

    def with_lmax(self, lmax: float) -> Laplacian:
        """Return the same Laplacian with another upper bound of its spectrum.

        Parameters
        ----------
        lmax : float
            A value that is provably too small is rejected. Bounds that rest on one that is not known to be large enough
            are called "estimated", see :attr:`lmax_guaranteed`.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> L = cg.laplacian(cg.gallery.grid(20))
        >>> tighter = L.with_lmax(L.lanczos_bound(rng=0).upper)
        >>> tighter.lmax < L.lmax, tighter.lmax_guaranteed
        (True, False)
        """
        self.check_lmax(check_positive(lmax, "lmax"))
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, lmax=float(lmax), _shifted=None)
        return other

    def check_lmax(self, lmax: float) -> None:
        """Reject an upper bound of the spectrum that is provably too small."""
        if lmax < self.lanczos_lower * (1 - 1e-12):
            raise ValueError(
                f"`lmax` must not be below the largest eigenvalue, which is at least {self.lanczos_lower:.10g}, "
                f"got {lmax:.10g}"
            )

    def shifted(self) -> Laplacian:
        """Return Δ less its smallest possible eigenvalue, ``lmin``: itself, unless a matrix was given with rounding."""
        if self.lmin == 0:
            return self
        if self._shifted is None:
            matrix = (self.matrix - self.lmin * sparse.eye_array(self.n_vertices)).tocsr()
            lmax, bound = self.lmax - self.lmin, self.lmax_bound - self.lmin
            self._shifted = Laplacian(matrix, self.kind, self.degrees, lmax, lmax_bound=bound)
        return self._shifted

    def __getstate__(self) -> dict[str, Any]:
        """Leave the packed forms behind: they are made again when they are needed."""
        return {k: v for k, v in self.__dict__.items() if not k.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _shifted=None, _kernel_graphs={})


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
    check_degrees(d, kind, "graph")
    loops = W.diagonal()  # they are in the degrees already
    if loops.any():
        W = (W - sparse.diags_array(loops)).tocsr()
    if kind == "combinatorial":
        L = _combinatorial(W)
    else:  # symmetric to the last bit
        diagonal, beside = normalized_entries(W, d, d.max(initial=0.0))
        beside = sparse.csr_array((beside, W.indices, W.indptr), shape=W.shape)
        L = (sparse.diags_array(diagonal) - beside).tocsr()
    L.eliminate_zeros()
    L.sort_indices()
    return Laplacian(L, kind, d)


def check_degrees(d: FloatArray, kind: LaplacianKind, name: str) -> None:
    """Reject degrees that leave the range of numbers, or whose squares do."""
    if not np.isfinite(d).all():
        raise ValueError(f"`{name}` must have finite degrees: the sum of its weights overflows, scale them down")
    largest = float(d.max(initial=0.0))
    if kind == "combinatorial" and largest > 0 and not 1 / _LARGEST_DEGREE <= largest <= _LARGEST_DEGREE:
        raise ValueError(
            f"`{name}` must have a largest degree between {1 / _LARGEST_DEGREE:g} and {_LARGEST_DEGREE:g}, squares of "
            f"others leave the range of numbers; got {largest:.3g}, scale the weights"
        )


def normalized_entries(A: sparse.csr_array, d: FloatArray, largest: float) -> tuple[FloatArray, FloatArray]:
    r"""Return the diagonal of the normalized Laplacian and the entries :math:`w_{ij} / \sqrt{d_i d_j}` beside it.

    A has the first rows of the weights, without self-loops, d the degrees of all columns, the first of which belong to
    the rows; the largest degree is that of the whole graph.
    """
    # a power of two that makes the largest degree about one, so that nothing over- or underflows
    unit = 2.0 ** -np.frexp(max(largest, 1.0))[1]
    values = A.data * unit
    sums = sparse.csr_array((values, A.indices, A.indptr), shape=A.shape).sum(axis=1)
    d = d * unit
    connected = d > 0
    # 1 - w_ii / d_i is written as the other edges' share of the degree, which is never negative
    rows = slice(0, A.shape[0])
    diagonal = np.divide(sums, d[rows], out=np.zeros(A.shape[0]), where=connected[rows])
    scale = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=connected)
    return diagonal, values * (np.repeat(scale[rows], np.diff(A.indptr)) * scale[A.indices])


def _combinatorial(W: sparse.csr_array) -> sparse.csr_array:
    """Return D - W of weights without self-loops."""
    return (sparse.diags_array(W.sum(axis=1)) - W).tocsr()


def _given_laplacian(matrix: Any, kind: LaplacianKind) -> tuple[sparse.csr_array, FloatArray, float]:
    """Return a given Laplacian, exactly symmetric, the degrees, and a certain lower bound of its spectrum.

    It must be one of its kind: the diagonal fits to the other entries, relative to the matrix's own scale and
    precision, and no eigenvalue is negative by more than rounding of the entries.
    """
    given = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] == 0:
        raise ValueError(f"`matrix` must be square and not empty, got shape {given.shape}")
    if given.dtype.kind not in "biuf":
        raise TypeError(f"`matrix` must hold real numbers, got dtype {given.dtype}")
    eps = float(np.finfo(given.dtype if given.dtype.kind == "f" else np.float64).eps)
    given = sparse.csr_array(given, dtype=np.float64)
    diagonal = given.diagonal()
    W = _weights_of(given, diagonal, single=bool(eps > np.finfo(np.float64).eps))
    row_lengths = np.diff(W.indptr)
    expected = W.sum(axis=1) if kind == "combinatorial" else (row_lengths > 0).astype(np.float64)
    allowed = np.maximum(_DIAGONAL_TOLERANCE, (row_lengths + 8) * eps) * float(np.abs(diagonal).max())
    excess = np.abs(diagonal - expected) - allowed
    worst = int(np.argmax(excess))
    if excess[worst] > 0:
        raise ValueError(
            f"`matrix` is no {kind} Laplacian: expected {expected[worst]:.15g} on the diagonal of vertex {worst}, got "
            f"{diagonal[worst]:.15g}, which differs by more than the {allowed[worst]:.2g} that rounding explains"
        )
    if kind == "combinatorial":
        rounding = float(((row_lengths + 8) * np.abs(diagonal)).max()) * float(np.finfo(np.float64).eps)
        if (np.abs(diagonal - expected) <= rounding).all():  # nothing but the rounding of sums
            return _combinatorial(W), expected, 0.0
        # by Gershgorin no eigenvalue is below the smallest row sum
        lmin = min(float((diagonal - expected).min()) - rounding, 0.0)
    else:
        lmin = min(1 - spectral_radius_bound(W) + float((diagonal - expected).min(initial=0.0)), 0.0)
        if lmin < -max(_SPECTRUM_TOLERANCE, (int(row_lengths.max()) + 8) * eps):
            raise ValueError(
                "`matrix` is no normalized Laplacian, or it could not be seen to be one: I - matrix must have no "
                f"eigenvalue above 1, and it may have one of {1 - lmin:.10g}; give the adjacency matrix to "
                "cayleygsp.laplacian instead"
            )
    return (sparse.diags_array(diagonal) - W).tocsr(), expected, lmin


def _weights_of(given: sparse.csr_array, diagonal: FloatArray, *, single: bool) -> sparse.csr_array:
    """Return the weights that stand beside the diagonal; the precision decides how symmetric they must be."""
    _reject_entries(given, ~np.isfinite(given.data), "finite")
    off = (sparse.diags_array(diagonal) - given).tocsr()
    _reject_entries(-off, off.data < 0, "at most 0 beside its diagonal")
    try:
        return as_adjacency(off.astype(np.float32) if single else off, name="matrix")
    except AsymmetryError:  # which tells the entries with the other sign
        difference = np.abs(off - off.T).tocoo()
        worst = int(np.argmax(difference.data))
        i, j = int(difference.row[worst]), int(difference.col[worst])
        raise AsymmetryError(
            f"`matrix` must be symmetric, got matrix[{i}, {j}] = {given[i, j]} but matrix[{j}, {i}] = {given[j, i]}"
        ) from None


def _reject_entries(matrix: sparse.csr_array, wrong: Array, expected: str) -> None:
    """Raise if a stored entry is wrong."""
    if wrong.any():
        entry, k = matrix.tocoo(), int(np.argmax(wrong))
        raise ValueError(f"`matrix` must be {expected}, got matrix[{entry.row[k]}, {entry.col[k]}] = {entry.data[k]}")
