"""The Laplacian of a graph, or of a batch of graphs, as constant tensors that move with a model."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from cayleygsp._typing import LaplacianKind
from cayleygsp._validation import check_choice
from cayleygsp.laplacians import Laplacian
from cayleygsp.nn._step import GraphTensors
from cayleygsp.spectrum import POWER_STEPS

NORMALIZATIONS: dict[str | None, LaplacianKind] = {"sym": "normalized", None: "combinatorial"}


def check_normalization(normalization: Any) -> str | None:
    """Return ``normalization`` if it is "sym" or None."""
    if normalization is not None:
        check_choice(normalization, "normalization", ("sym",))
    return normalization


def outside_inference() -> AbstractContextManager[Any]:
    """Return a context in which tensors that are kept can be used in training later, even under inference_mode."""
    if torch.compiler.is_compiling() or not torch.is_inference_mode_enabled():
        return nullcontext()
    return torch.inference_mode(False)


class GraphLaplacian(nn.Module):
    r"""A Laplacian prepared for the layers: indices and weights as buffers.

    Make one with :meth:`from_laplacian`, :meth:`from_edge_index` or :meth:`from_data`, once for a graph that many
    batches share. It is the Laplacian of :func:`cayleygsp.laplacian`: isolated vertices have a zero row, self-loops
    count in the degrees. It is constant; no gradient goes into edge weights.

    Attributes
    ----------
    indptr, indices, values : Tensor
        Off-diagonal weights, row by row: :math:`w_{ij}`, or :math:`w_{ij}/\sqrt{d_i d_j}` if normalized.
    diagonal : Tensor, shape (n,)
        The diagonal of Δ.
    lmax : Tensor, shape (n,)
        For each vertex, the upper bound of the spectrum of its graph.
    normalization : {"sym", None}
        Normalized or combinatorial.
    bound : float or None
        The largest of ``lmax`` as a number, so that no device is asked for it; None if it is not known.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.nn import GraphLaplacian
    >>> GraphLaplacian.from_laplacian(cg.laplacian(cg.gallery.ring(16), "normalized"))
    GraphLaplacian(n_vertices=16, n_entries=32, normalization='sym', lmax=2)
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    diagonal: Tensor
    lmax: Tensor

    def __init__(
        self,
        indptr: Tensor,
        indices: Tensor,
        values: Tensor,
        diagonal: Tensor,
        lmax: Tensor,
        normalization: str | None,
        bound: float | None = None,
    ) -> None:
        super().__init__()
        for name, tensor in (
            ("indptr", indptr),
            ("indices", indices),
            ("values", values),
            ("diagonal", diagonal),
            ("lmax", lmax),
        ):
            self.register_buffer(name, tensor)
        self.normalization = check_normalization(normalization)
        self.bound = bound
        self._eigenbasis: tuple[Tensor, Tensor] | None = None
        self._core: Laplacian | None = None

    @classmethod
    def from_laplacian(
        cls, laplacian: Laplacian, *, dtype: torch.dtype = torch.float64, device: Any = None
    ) -> GraphLaplacian:
        """Take a Laplacian of the core.

        Parameters
        ----------
        laplacian : cayleygsp.Laplacian
            With its guaranteed bound of the spectrum.
        dtype : torch.dtype
            Precision of the weights; layers cast them to that of their input.
        device : torch.device, optional
            Where to put the buffers.
        """
        if not isinstance(laplacian, Laplacian):
            raise TypeError(
                f"`laplacian` must be a cayleygsp.Laplacian, got {type(laplacian).__name__}; make one with "
                "cayleygsp.laplacian"
            )
        L, n = laplacian.matrix, laplacian.n_vertices
        rows = np.repeat(np.arange(n), np.diff(L.indptr))
        off = L.indices != rows
        indptr = np.append(0, np.cumsum(np.bincount(rows[off], minlength=n)))
        whole = torch.int32 if L.nnz < 2**31 else torch.int64
        with outside_inference():
            made = cls(
                torch.as_tensor(indptr, dtype=whole, device=device),
                torch.as_tensor(L.indices[off], dtype=whole, device=device),
                torch.as_tensor(-L.data[off], dtype=dtype, device=device),
                torch.as_tensor(laplacian.diagonal, dtype=dtype, device=device),
                torch.full((n,), laplacian.lmax, dtype=dtype, device=device),
                "sym" if laplacian.kind == "normalized" else None,
                bound=laplacian.lmax,
            )
        made._core = laplacian
        return made

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        num_nodes: int | None = None,
        *,
        normalization: str | None = "sym",
        batch: Tensor | None = None,
        lambda_max: Any = None,
        dtype: torch.dtype | None = None,
    ) -> GraphLaplacian:
        r"""Take edges as PyTorch Geometric has them.

        Parameters
        ----------
        edge_index : Tensor, shape (2, n_edges)
            Whole numbers; every edge in both directions. Or a square adjacency matrix, sparse or dense, of floating
            point numbers.
        edge_weight : Tensor, shape (n_edges,), optional
            Not negative; 1 by default. Weights of the same pair add up.
        num_nodes : int, optional
            Number of vertices; by default one more than the largest index.
        normalization : {"sym", None}
            :math:`I - D^{-1/2} W D^{-1/2}` or :math:`D - W`.
        batch : Tensor, shape (n,), optional
            The graph of each vertex, if they are several. Each has a bound of its spectrum of its own.
        lambda_max : float or Tensor, optional
            An upper bound of the spectrum that is trusted, one or one a graph. By default 2 for the normalized
            Laplacian and a guaranteed bound for the combinatorial one, as :class:`cayleygsp.Laplacian` has it.
        dtype : torch.dtype, optional
            Precision of the weights; by default that of ``edge_weight``, or torch's default.

        Raises
        ------
        ValueError, TypeError
            If indices are out of range or not whole numbers, weights are negative, not finite or require a gradient,
            or the graph is not undirected.
        """
        normalization = check_normalization(normalization)
        with outside_inference():
            edge_index, edge_weight, num_nodes = _as_edges(edge_index, edge_weight, num_nodes)
            n = check_edges(edge_index, edge_weight, num_nodes, batch)
            if dtype is None:
                dtype = torch.get_default_dtype() if edge_weight is None else edge_weight.dtype
            indptr, indices, values, diagonal, lmax = build(edge_index, edge_weight, n, normalization == "sym", batch)
            if lambda_max is not None:
                lmax = _given_lmax(lambda_max, lmax, batch)
            bound = None if torch.compiler.is_compiling() else _largest(lmax)
            return cls(indptr, indices, values.to(dtype), diagonal.to(dtype), lmax.to(dtype), normalization, bound)

    @classmethod
    def from_data(cls, data: Any, *, normalization: str | None = "sym", dtype: Any = None) -> GraphLaplacian:
        """Take a ``Data`` or ``Batch`` of PyTorch Geometric, or anything with the same attributes.

        Parameters
        ----------
        data : object
            With ``edge_index``, and perhaps ``edge_weight`` (or ``edge_attr`` of one number an edge), ``num_nodes``,
            ``batch`` and ``lambda_max``.
        normalization, dtype
            As in :meth:`from_edge_index`.
        """
        edge_index = getattr(data, "edge_index", None)
        if edge_index is None:
            raise TypeError(f"`data` must have an `edge_index`, got {type(data).__name__}")
        weight = getattr(data, "edge_weight", None)
        if weight is None:
            attributes = getattr(data, "edge_attr", None)
            if attributes is not None and attributes.numel() == edge_index.shape[1]:
                weight = attributes.reshape(-1)
        return cls.from_edge_index(
            edge_index,
            weight,
            getattr(data, "num_nodes", None),
            normalization=normalization,
            batch=getattr(data, "batch", None),
            lambda_max=getattr(data, "lambda_max", None),
            dtype=dtype,
        )

    @property
    def n_vertices(self) -> int:
        """Number of vertices n, of all graphs together."""
        return int(self.diagonal.shape[0])

    def extra_repr(self) -> str:
        """Say how large the graph is."""
        lmax = "unknown" if self.bound is None else f"{self.bound:.6g}"
        return (
            f"n_vertices={self.n_vertices}, n_entries={self.indices.shape[0]}, "
            f"normalization={self.normalization!r}, lmax={lmax}"
        )

    def __getstate__(self) -> dict[str, Any]:
        # the buffers are all that is needed to make these again
        return {**self.__dict__, "_core": None, "_eigenbasis": None}

    def get_extra_state(self) -> dict[str, Any]:
        """Return what a state dict holds beside the buffers."""
        return {"normalization": self.normalization}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Refuse the state of a Laplacian of the other kind."""
        if state["normalization"] != self.normalization:
            raise ValueError(
                f"the state must be of a Laplacian with normalization={self.normalization!r}, got "
                f"{state['normalization']!r}"
            )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any, **kwargs: Any) -> None:
        state = state_dict.get(prefix + "_extra_state")
        if state is not None:
            self.set_extra_state(state)  # before anything is copied
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
        # what was derived from the buffers belongs to the graph before
        self._core = self._eigenbasis = None
        self.bound = _largest(self.lmax)

    def tensors(self, dtype: torch.dtype, *, own_scale: bool) -> GraphTensors:
        """Return the scaled Laplacian in the precision ``dtype``.

        Parameters
        ----------
        dtype : torch.dtype
            Precision of the signals.
        own_scale : bool
            Scale every graph by its own bound of the spectrum, or all by the largest.
        """
        lmax = self.lmax.to(dtype)
        if not own_scale and self.n_vertices:
            lmax = torch.full_like(lmax, self.bound) if self.bound is not None else lmax.amax().expand_as(lmax)
        scale = torch.where(lmax > 0, 2 / lmax, torch.zeros_like(lmax))
        return GraphTensors(self.indptr, self.indices, self.values.to(dtype), self.diagonal.to(dtype), scale)

    def dense(self) -> Tensor:
        """Return Δ as a dense matrix."""
        rows = self._rows()
        L = torch.diag(self.diagonal)
        return L.index_put_((rows, self.indices.long()), -self.values, accumulate=True)

    def _rows(self) -> Tensor:
        counts = self.indptr.diff().long()
        vertices = torch.arange(self.n_vertices, device=counts.device)
        return torch.repeat_interleave(vertices, counts, output_size=self.indices.shape[0])

    def eigenbasis(self) -> tuple[Tensor, Tensor]:
        """Return all eigenvalues and eigenvectors, computed once in double precision (dense: for small graphs)."""
        with outside_inference():
            if self._eigenbasis is None:
                if self._core is not None:
                    basis = self._core.eigenbasis
                    self._eigenbasis = torch.from_numpy(basis.eigenvalues), torch.from_numpy(basis.eigenvectors)
                else:
                    lam, Phi = torch.linalg.eigh(self.dense().double())
                    self._eigenbasis = lam, Phi
            lam, Phi = (t.to(self.values.device) for t in self._eigenbasis)
            self._eigenbasis = lam, Phi
            return self._eigenbasis


def _largest(lmax: Tensor) -> float | None:
    """Return the largest bound as a number, if there are numbers to look at."""
    if lmax.device.type == "meta":
        return None
    return float(lmax.max()) if lmax.numel() else 0.0


# ------------------------------------------------------------------------------------------------ checks


def _as_edges(
    edges: Any, edge_weight: Tensor | None, num_nodes: int | None
) -> tuple[Tensor, Tensor | None, int | None]:
    """Turn an adjacency matrix into edges with weights; leave edges as they are."""
    if not isinstance(edges, Tensor):
        raise TypeError(f"`edge_index` must be a tensor, got {type(edges).__name__}")
    sparse = edges.layout != torch.strided
    if not sparse and not (edges.is_floating_point() and edges.dim() == 2 and edges.shape[0] == edges.shape[1]):
        return edges, edge_weight, num_nodes
    if edge_weight is not None:
        raise ValueError("`edge_weight` must not be given together with an adjacency matrix, which has the weights")
    if edges.dim() != 2 or edges.shape[0] != edges.shape[1]:
        raise ValueError(f"the adjacency matrix must be square, got shape {tuple(edges.shape)}")
    if num_nodes not in (None, edges.shape[0]):
        raise ValueError(f"`num_nodes` must be {edges.shape[0]} as the adjacency matrix says, got {num_nodes}")
    if edges.requires_grad:
        raise ValueError("the adjacency matrix must not require a gradient: the layers take the graph as constant")
    coo = edges.to_sparse_coo().coalesce()
    return coo.indices(), coo.values(), edges.shape[0]


def check_edges(edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int | None, batch: Tensor | None) -> int:
    """Return the number of vertices if the edges are those of an undirected graph; values are looked at on the CPU."""
    if edge_index.dtype not in (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int8):
        raise TypeError(f"`edge_index` must hold whole numbers, got dtype {edge_index.dtype}")
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise ValueError(f"`edge_index` must have shape (2, n_edges), got {tuple(edge_index.shape)}")
    n_edges, device = edge_index.shape[1], edge_index.device
    if edge_weight is not None:
        if edge_weight.requires_grad:
            raise ValueError(
                "`edge_weight` must not require a gradient: the layers take the graph as constant; pass "
                "edge_weight.detach()"
            )
        if not edge_weight.is_floating_point():
            raise TypeError(f"`edge_weight` must hold floating point numbers, got dtype {edge_weight.dtype}")
        if edge_weight.shape != (n_edges,):
            raise ValueError(f"`edge_weight` must have shape ({n_edges},), got {tuple(edge_weight.shape)}")
        check_same_device(edge_weight, device, "edge_weight", "edge_index")
    n = num_nodes
    if n is None:
        n = int(edge_index.max()) + 1 if n_edges else 0
    if batch is not None:
        if batch.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"`batch` must hold whole numbers, got dtype {batch.dtype}")
        if batch.shape != (n,):
            raise ValueError(f"`batch` must have shape ({n},), one number a vertex, got {tuple(batch.shape)}")
        check_same_device(batch, device, "batch", "edge_index")
    if device.type == "cpu" and not torch.compiler.is_compiling():
        _check_values(edge_index.long(), edge_weight, n, batch)
    return n


def check_same_device(tensor: Tensor, device: torch.device, name: str, other: str) -> None:
    """Refuse a tensor that is elsewhere."""
    if tensor.device != device:
        raise ValueError(f"`{name}` must be on the device of `{other}`, {device}, got {tensor.device}")


def _check_values(edge_index: Tensor, edge_weight: Tensor | None, n: int, batch: Tensor | None) -> None:
    """Look at the numbers: indices within the graph, weights finite and not negative, both directions alike."""
    if batch is not None and batch.numel() and int(batch.min()) < 0:
        raise ValueError(f"`batch` must not be negative, got {int(batch.min())}")
    if edge_index.numel() == 0:
        return
    low, high = (int(v) for v in edge_index.aminmax())
    if low < 0 or high >= n:
        raise ValueError(f"`edge_index` must be between 0 and {n - 1}, got {low if low < 0 else high}")
    row, col = edge_index
    w = torch.ones(row.shape[0], dtype=torch.float64) if edge_weight is None else edge_weight.double()
    if not torch.isfinite(w).all() or bool((w < 0).any()):
        k = int((~(torch.isfinite(w) & (w >= 0))).nonzero()[0])
        raise ValueError(f"`edge_weight` must be finite and not negative, got {w[k].item():g} at edge {k}")
    if batch is not None and bool((batch[row] != batch[col]).any()):
        k = int((batch[row] != batch[col]).nonzero()[0])
        raise ValueError(f"edge {k} joins vertices of two graphs of `batch`: {int(row[k])} and {int(col[k])}")
    # W x and its transposed have no reason to agree for a random vector unless W is symmetric
    x = torch.rand(n, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).add_(0.5)
    there = torch.zeros(n, dtype=torch.float64).index_add_(0, row, w * x[col])
    back = torch.zeros(n, dtype=torch.float64).index_add_(0, col, w * x[row])
    if not torch.isfinite(there).all():
        raise ValueError("`edge_weight` must have finite sums at every vertex: scale the weights down")
    if bool(((there - back).abs() > 1e-6 * (there + back)).any()):
        i = int(((there - back).abs() > 1e-6 * (there + back)).nonzero()[0])
        raise ValueError(
            f"`edge_index` must hold every edge in both directions with the same weight; at vertex {i} it does not. "
            "Make the graph undirected, for instance by torch_geometric.utils.to_undirected"
        )


def _given_lmax(lambda_max: Any, like: Tensor, batch: Tensor | None) -> Tensor:
    """Return the bound that was given, for each vertex."""
    if isinstance(lambda_max, Tensor) and lambda_max.requires_grad:
        raise ValueError(
            "`lambda_max` must not require a gradient: the layers take the graph as constant; pass lambda_max.detach()"
        )
    given = torch.as_tensor(lambda_max, dtype=torch.float64, device=like.device)
    if given.dim() > 1 or (given.numel() > 1 and batch is None):
        raise ValueError(f"`lambda_max` must be one number, or with `batch` one a graph, got {tuple(given.shape)}")
    if given.device.type == "cpu" and not torch.compiler.is_compiling():
        if not bool((torch.isfinite(given) & (given > 0)).all()):
            raise ValueError(f"`lambda_max` must be positive and finite, got {lambda_max!r}")
        if batch is not None and given.numel() > 1 and batch.numel() and int(batch.max()) >= given.numel():
            raise ValueError(f"`lambda_max` must hold {int(batch.max()) + 1} numbers, one a graph, got {given.numel()}")
    if given.numel() > 1 and batch is not None:
        return given[batch.long()]
    # a copy: the compiled loops want every number in its place, and what was given may change
    return given.reshape(()).expand_as(like).clone(memory_format=torch.contiguous_format)


# --------------------------------------------------------------------------------------------- the matrix


@torch.library.custom_op("cayleygsp::build_laplacian", mutates_args=())
def build(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, normalized: bool, batch: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return indptr, indices, values, diagonal and lmax of checked edges, the numbers in double precision.

    There are as many entries as edges: self-loops stay as entries of weight zero, so that the shapes follow from the
    shapes of the input.
    """
    if batch is not None:
        batch = torch.unique(batch, return_inverse=True)[1]  # numbers may have gaps
    order = torch.argsort(edge_index[0], stable=True)
    row, col = edge_index[0, order].long(), edge_index[1, order].long()
    w = torch.ones(row.shape[0], dtype=torch.float64, device=row.device)
    if edge_weight is not None:
        w = edge_weight[order].double()
    whole = torch.int32 if row.shape[0] < 2**31 and n < 2**31 else torch.int64
    indptr = torch.zeros(n + 1, dtype=torch.int64, device=row.device)
    indptr[1:] = torch.bincount(row, minlength=n).cumsum(0)
    zeros = torch.zeros(n, dtype=torch.float64, device=row.device)
    degrees = zeros.index_add(0, row, w)
    values = torch.where(row == col, 0.0, w)
    diagonal = zeros.index_add(0, row, values)
    if normalized:
        # a power of two near the largest degree, so that nothing over- or underflows
        unit = torch.exp2(-torch.log2(degrees.amax().clamp(min=1e-300)).ceil()) if n else degrees.sum() + 1
        scaled = degrees * unit
        root = torch.where(scaled > 0, scaled.clamp(min=5e-324).rsqrt(), 0.0)
        diagonal = torch.where(scaled > 0, diagonal * unit / torch.where(scaled > 0, scaled, 1.0), 0.0)
        values = values * unit * (root[row] * root[col])
        lmax = 2.0 * _per_graph(diagonal, batch).gt(0)
    else:
        lmax = _guaranteed_lmax(row, col, values, diagonal, batch)
    return indptr.to(whole), col.to(whole), values, diagonal, lmax.double().contiguous()


@build.register_fake
def _(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, normalized: bool, batch: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    def empty(size: Any, dtype: torch.dtype) -> Tensor:
        return edge_index.new_empty((size,), dtype=dtype)

    n_edges = edge_index.shape[1]
    return (
        empty(n + 1, torch.int32),
        empty(n_edges, torch.int32),
        empty(n_edges, torch.float64),
        empty(n, torch.float64),
        empty(n, torch.float64),
    )


def _per_graph(values: Tensor, batch: Tensor | None) -> Tensor:
    """Return for each vertex the largest value, not below zero, in its graph."""
    if values.shape[0] == 0:
        return values
    if batch is None:
        return values.amax().clamp(min=0).expand_as(values)
    batch = batch.long()
    return torch.zeros_like(values).scatter_reduce(0, batch, values, "amax")[batch]


def _guaranteed_lmax(row: Tensor, col: Tensor, w: Tensor, diagonal: Tensor, batch: Tensor | None) -> Tensor:
    """Bound the spectrum of D - W for each graph, as the core does: max of (Qx)_i / x_i, Q = D + W, by power steps."""
    inner = diagonal > 0
    x = torch.where(inner, diagonal, 1.0)
    best = 2 * _per_graph(diagonal, batch)  # by Gershgorin
    usable = inner
    for _ in range(POWER_STEPS):
        top = _per_graph(torch.where(inner, x, 0.0), batch)
        x = torch.where(inner, x / torch.where(top > 0, top, 1.0), 1.0)
        # a graph in which a number underflows keeps the bound that it has
        usable = usable & (_per_graph((inner & (x <= 1e-200)).double(), batch) == 0)
        Qx = diagonal * x + torch.zeros_like(x).index_add(0, row, w * x[col])
        ratio = _per_graph(torch.where(inner, Qx / x, 0.0), batch)
        best = torch.where(usable, torch.minimum(best, ratio), best)
        x = Qx
    longest_row = torch.bincount(row, minlength=1).max()
    best = _per_graph(torch.where(inner & torch.isfinite(best), best, 0.0), batch)
    return best * (1 + (longest_row.double() + 8) * 2.0**-52)
