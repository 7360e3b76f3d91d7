"""Edges become a Laplacian: checked, sorted into rows, normalized, with a bound of the spectrum of each graph.

There are two conventions. An *undirected* graph has the Laplacian of the core: self-loops count in the degrees, the
bound is guaranteed. Any other has that of PyTorch Geometric: a signal moves along the edges, so that a product is with
the transposed of :math:`L = D - W`, :math:`I - D^{-1/2} W D^{-1/2}` or :math:`I - D^{-1} W` with the sums over the
edges that begin at a vertex; self-loops are left out, and λ_max is twice the largest entry of L.

On the CPU compiled loops do it, elsewhere operations of torch that do not make the host wait. Entries are made again
by differentiable operations (:func:`entries_of_edges`) where the weights of the edges are to get a gradient.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from cayleygsp._typing import Array, FloatArray
from cayleygsp._validation import check_integer
from cayleygsp.engine.edge_rows import (
    NEGATIVE,
    PLAIN,
    RANDOM_WALK,
    SYMMETRIC,
    EdgeRows,
    consecutive,
    guaranteed_bound,
    largest_per_graph,
    rayleigh_bound,
    rows_of_edges,
)
from cayleygsp.nn.modes import uses_loops
from cayleygsp.spectrum import POWER_STEPS

KINDS = {None: PLAIN, "sym": SYMMETRIC, "rw": RANDOM_WALK}

# How far the two directions of an edge may differ, by rounding, in a graph that is taken to be undirected.
SYMMETRY = 1e-6

# Relative difference of sums over both directions up to which any matrix is its own transposed.
_ROUNDING = 1e-12

# A given λ_max may be too small by this part: it may come from single precision.
LMAX_SLACK = 1e-4

UNDIRECTED = (
    "`edge_index` must hold every edge in both directions with the same weight; {}. A Cayley filter is a function of "
    "the eigenvalues of the Laplacian, which are real, and bounded as the layer needs it, only where the graph is "
    "undirected. Make it so, for instance by torch_geometric.utils.to_undirected, drop edges with "
    "dropout_edge(force_undirected=True), or take ChebConv, a polynomial of any matrix"
)

Rows = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


class Parts(NamedTuple):
    """What Laplacians are made of, the numbers in double precision.

    Attributes
    ----------
    indptr, indices, values : Tensor
        Entries beside the diagonal by rows, with the sign changed. There are as many as edges: self-loops stay as
        entries of value zero, so that the shapes follow from the shapes of the input.
    diagonal : Tensor, shape (n,)
        The diagonal.
    lmax : Tensor, shape (n,)
        λ_max of each vertex's graph: a guaranteed bound where the graph is undirected, else twice the largest entry.
    given : Tensor, shape (n,), or None
        The λ_max that was given.
    dtype : torch.dtype
        Precision of the weights; double if they are to get a gradient, as gradients of entries almost cancel where the
        zoom is large.
    is_symmetric : bool
        Whether the matrix is known to be its own transposed; other devices than the CPU are not asked.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    diagonal: Tensor
    lmax: Tensor
    given: Tensor | None
    dtype: torch.dtype
    is_symmetric: bool


def parts_of_edges(
    edges: Any,
    edge_weight: Tensor | None,
    num_nodes: int | None,
    normalization: str | None,
    batch: Tensor | None,
    lambda_max: Any,
    *,
    undirected: bool,
) -> Parts:
    """Return the parts of a Laplacian, differentiable in the weights of the edges if these require a gradient.

    Parameters are those of :meth:`cayleygsp.nn.GraphLaplacian.from_edge_index`. On the CPU wrong edges raise here; on
    other devices they do where the host next waits.
    """
    edge_index, edge_weight, num_nodes = as_edges(edges, edge_weight, num_nodes)
    edge_weight, n = check_edges(edge_index, edge_weight, num_nodes, batch)
    given = None
    if lambda_max is not None:
        given = given_lmax(lambda_max, edge_index.new_empty((n,), dtype=torch.float64), batch)
    constant = None if edge_weight is None else edge_weight.detach()
    arguments = edge_index, constant, n, normalization, batch, given, undirected
    is_symmetric = undirected
    if torch.compiler.is_compiling():
        rows = build_laplacian(*arguments)
    elif uses_loops(edge_index):
        rows, is_symmetric = _by_loops(*arguments)
    else:
        rows = _by_torch(*arguments)
    dtype = torch.get_default_dtype() if edge_weight is None else edge_weight.dtype
    if asks_for_gradient(edge_weight):
        assert edge_weight is not None
        indptr, indices, _, _, lmax = rows
        ends = edge_index[0 if undirected else 1]
        order = torch.argsort(ends, stable=True)
        values, diagonal = entries_of_edges(edge_index, edge_weight, n, normalization, order, undirected=undirected)
        if not undirected:
            lmax = _twice_the_largest(values, diagonal, ends[order].long(), _numbered(batch))
        rows, dtype = (indptr, indices, values, diagonal, lmax), torch.float64
    return Parts(*rows, given, dtype, is_symmetric)


@torch.library.custom_op("cayleygsp::build_laplacian", mutates_args=())
def build_laplacian(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    n: int,
    normalization: str | None,
    batch: Tensor | None,
    given: Tensor | None,
    undirected: bool,
) -> Rows:
    """Return indptr, indices, values, diagonal and lmax, as an operation that torch.compile takes as it is."""
    arguments = edge_index, edge_weight, n, normalization, batch, given, undirected
    return _by_loops(*arguments)[0] if uses_loops(edge_index) else _by_torch(*arguments)


@build_laplacian.register_fake
def _(edge_index: Tensor, edge_weight: Tensor | None, n: int, *_: Any) -> Rows:
    def empty(size: Any, dtype: torch.dtype) -> Tensor:
        return edge_index.new_empty((size,), dtype=dtype)

    n_edges = edge_index.shape[1]
    pattern = empty(n + 1, torch.int32), empty(n_edges, torch.int32)
    return *pattern, empty(n_edges, torch.float64), empty(n, torch.float64), empty(n, torch.float64)


def _by_loops(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    n: int,
    normalization: str | None,
    batch: Tensor | None,
    given: Tensor | None,
    undirected: bool,
) -> tuple[Rows, bool]:
    """Do it in compiled loops; say also whether the matrix is symmetric."""
    begin, end = edge_index.long().numpy()
    weights = np.empty(0) if edge_weight is None else edge_weight.double().numpy()
    labels = np.empty(0, np.int64) if batch is None else batch.long().numpy()
    ends = (end, begin) if undirected else (begin, end)
    made = rows_of_edges(*ends, weights, n, labels, kind=KINDS[normalization], keep_loops=undirected)
    has_negative = made.fault == NEGATIVE
    is_wrong = made.fault or not made.asymmetry <= SYMMETRY if undirected else made.fault and not has_negative
    if is_wrong or not np.isfinite(made.degrees).all() or labels.min(initial=0) < 0:
        reject_values(edge_index, edge_weight, n, batch, undirected=undirected)
    if has_negative and normalization == "sym" and (made.degrees < 0).any():
        vertex = int((made.degrees < 0).argmax())
        raise ValueError(
            f"`edge_weight` must have sums that are not negative for normalization='sym', got "
            f"{made.degrees[vertex]:g} at vertex {vertex}"
        )
    graphs = consecutive(labels)
    is_tied = undirected or made.asymmetry <= _ROUNDING
    if given is not None and is_tied:
        _check_lmax(given.numpy(), made, graphs, normalization)
    if undirected and normalization is None:
        lmax = guaranteed_bound(*made.matrix, graphs, POWER_STEPS)
    elif undirected:
        lmax = 2.0 * (largest_per_graph(made.diagonal, graphs) > 0)
    else:
        largest = made.diagonal
        if has_negative:  # then an entry beside the diagonal may be the largest
            largest = largest.copy()
            np.maximum.at(largest, np.repeat(np.arange(n), np.diff(made.indptr)), -made.values)
        lmax = 2 * largest_per_graph(largest, graphs)
    rows = tuple(torch.from_numpy(part) for part in (*made.matrix, lmax))
    return rows, is_tied and normalization != "rw"  # type: ignore[return-value]


def _check_lmax(lmax: FloatArray, made: EdgeRows, graphs: Array, normalization: str | None) -> None:
    """Reject a λ_max that is below a Rayleigh quotient, outside of which a Chebyshev polynomial grows without bound."""
    indptr, indices, values, diagonal = made.matrix
    if normalization == "rw":  # similar to a symmetric matrix
        root = np.sqrt(np.abs(made.degrees))
        inverse = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
        values = values * root[indices] * np.repeat(inverse, np.diff(indptr))
    lower = rayleigh_bound(indptr, indices, values, diagonal, graphs)
    low = lmax < lower * (1 - LMAX_SLACK)
    if low.any():
        vertex = int(low.argmax())
        raise ValueError(
            "`lambda_max` must not be below the largest eigenvalue of the Laplacian, which is at least "
            f"{lower[vertex]:.6g} for the graph of vertex {vertex}, got {lmax[vertex]:g}"
        )


def _by_torch(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    n: int,
    normalization: str | None,
    batch: Tensor | None,
    given: Tensor | None,
    undirected: bool,
) -> Rows:
    """Do it by torch operations, without asking the device for anything but the number of graphs.

    A given λ_max is not looked at.
    """
    assert_on_device(edge_index, edge_weight, n, batch, undirected=undirected)
    batch = _numbered(batch)
    order = torch.argsort(edge_index[0 if undirected else 1], stable=True)
    row, col = edge_index[:, order].long() if undirected else edge_index[:, order].long().flip(0)
    if edge_weight is None:
        edge_weight = torch.ones(row.shape[0], dtype=torch.float64, device=row.device)
    values, diagonal = entries_of_edges(edge_index, edge_weight, n, normalization, order, undirected=undirected)
    counts = torch.zeros(n, dtype=torch.int64, device=row.device).index_add(0, row, torch.ones_like(row))
    whole = torch.int32 if max(row.shape[0], n) < 2**31 else torch.int64
    indptr = torch.zeros(n + 1, dtype=whole, device=row.device)
    indptr[1:] = counts.cumsum(0)
    if not undirected:
        lmax = _twice_the_largest(values, diagonal, row, batch)
    elif normalization is None:
        lmax = _guaranteed_lmax(row, col, values, diagonal, batch, counts)
    else:
        lmax = 2.0 * _per_graph(diagonal, batch).gt(0)
    return indptr, col.to(whole), values, diagonal.contiguous(), lmax.double().contiguous()


def _numbered(batch: Tensor | None) -> Tensor | None:
    """Return the numbers of the graphs without gaps."""
    return None if batch is None else torch.unique(batch, return_inverse=True)[1]


def _per_graph(values: Tensor, batch: Tensor | None) -> Tensor:
    """Return for each vertex the largest value, not below zero, in its graph (numbered without gaps)."""
    if values.shape[0] == 0:
        return values
    if batch is None:
        return values.amax().clamp(min=0).expand_as(values)
    return torch.zeros_like(values).scatter_reduce(0, batch, values, "amax")[batch]


def _twice_the_largest(values: Tensor, diagonal: Tensor, rows: Tensor, batch: Tensor | None) -> Tensor:
    """Return for each vertex twice the largest entry of the Laplacian of its graph."""
    return 2 * _per_graph(diagonal.scatter_reduce(0, rows, -values, "amax"), batch)


def _guaranteed_lmax(
    row: Tensor, col: Tensor, w: Tensor, diagonal: Tensor, batch: Tensor | None, counts: Tensor
) -> Tensor:
    """Bound the spectrum of D - W for each graph, as the core does: max of (Qx)_i / x_i, Q = D + W, by power steps."""
    if diagonal.shape[0] == 0:
        return diagonal
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
    best = _per_graph(torch.where(inner & torch.isfinite(best), best, 0.0), batch)
    return best * (1 + (counts.amax().double() + 8) * 2.0**-52)


def asks_for_gradient(edge_weight: Tensor | None) -> bool:
    """Return whether weights are to get a gradient in what is computed now."""
    return isinstance(edge_weight, Tensor) and edge_weight.requires_grad and torch.is_grad_enabled()


def entries_of_edges(
    edge_index: Tensor,
    edge_weight: Tensor,
    n: int,
    normalization: str | None,
    order: Tensor,
    *,
    undirected: bool,
) -> tuple[Tensor, Tensor]:
    r"""Return the entries beside the diagonal of a Laplacian, with the sign changed, and the diagonal.

    Parameters
    ----------
    edge_index : Tensor, shape (2, n_edges)
        Where edges begin and end. Degrees are sums over the edges that begin at a vertex.
    edge_weight : Tensor, shape (n_edges,)
        Their weights.
    n : int
        Number of vertices.
    normalization : {"sym", "rw", None}
        Entries are :math:`w_{st}/\sqrt{d_s d_t}`, :math:`w_{st}/d_s` or :math:`w_{st}`.
    order : Tensor, shape (n_edges,)
        The edge of each entry, as rows want them.
    undirected : bool
        Take as degree the mean of what begins and what ends at a vertex, which is the same number, so that the
        gradients of the two halves of an edge are equal; self-loops count. Otherwise they are left out, and the
        diagonal of a normalized Laplacian is 1 everywhere.

    Returns
    -------
    values : Tensor, shape (n_edges,)
        In double precision; self-loops have the value zero.
    diagonal : Tensor, shape (n,)
        In double precision.
    """
    source, target = edge_index.long()
    w = edge_weight.double()
    beside = torch.where(source == target, 0.0, w)
    zeros = torch.zeros(n, dtype=torch.float64, device=w.device)

    ends = torch.cat([source, target]) if undirected else source

    def degrees(weights: Tensor) -> Tensor:
        return zeros.index_add(0, ends, torch.cat([weights, weights]) / 2 if undirected else weights)

    diagonal = degrees(beside)
    if normalization is None:
        return beside[order], diagonal
    total = degrees(w) if undirected else diagonal
    inner = total > 0 if normalization == "sym" else total != 0
    # a power of two near the largest degree, so that nothing over- or underflows; a constant that cancels
    unit = torch.exp2(-torch.log2(total.detach().abs().amax().clamp(min=1e-300)).ceil()) if n else total.sum() + 1
    scaled = torch.where(inner, total * unit, 1.0)
    if normalization == "sym":
        root = torch.where(inner, scaled.rsqrt(), 0.0)
        values = beside * unit * (root[source] * root[target])
    else:
        values = beside * unit * torch.where(inner, 1 / scaled, 0.0)[source]
    on_diagonal = torch.where(inner, diagonal * unit / scaled, 0.0) if undirected else torch.ones_like(diagonal)
    return values[order], on_diagonal


def as_edges(edges: Any, edge_weight: Tensor | None, num_nodes: int | None) -> tuple[Tensor, Tensor | None, int | None]:
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


def check_edges(
    edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int | None, batch: Tensor | None
) -> tuple[Tensor | None, int]:
    """Return weights of shape (n_edges,) and the number of vertices if types, shapes and devices fit together.

    What the tensors hold is looked at where the Laplacian is built.
    """
    if edge_index.dtype not in (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int8):
        raise TypeError(f"`edge_index` must hold whole numbers, got dtype {edge_index.dtype}")
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise ValueError(f"`edge_index` must have shape (2, n_edges), got {tuple(edge_index.shape)}")
    n_edges, device = edge_index.shape[1], edge_index.device
    if edge_weight is not None:
        _check_tensor(edge_weight, "edge_weight")
        if not edge_weight.is_floating_point():
            raise TypeError(f"`edge_weight` must hold floating point numbers, got dtype {edge_weight.dtype}")
        if edge_weight.shape == (n_edges, 1):
            edge_weight = edge_weight[:, 0]
        if edge_weight.shape != (n_edges,):
            raise ValueError(f"`edge_weight` must have shape ({n_edges},), got {tuple(edge_weight.shape)}")
        check_same_device(edge_weight, device, "edge_weight", "edge_index")
    n = num_nodes
    if n is None:
        n = int(edge_index.max()) + 1 if n_edges else 0
    elif not torch.compiler.is_compiling():
        n = check_integer(n, "num_nodes", at_least=0)
    if batch is not None:
        _check_tensor(batch, "batch")
        if batch.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"`batch` must hold whole numbers, got dtype {batch.dtype}")
        if batch.shape != (n,):
            raise ValueError(f"`batch` must have shape ({n},), one number per vertex, got {tuple(batch.shape)}")
        check_same_device(batch, device, "batch", "edge_index")
    return edge_weight, n


def _check_tensor(value: Any, name: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"`{name}` must be a tensor, got {type(value).__name__}")


def check_same_device(tensor: Tensor, device: torch.device, name: str, other: str) -> None:
    """Reject a tensor that is elsewhere."""
    if tensor.device != device:
        raise ValueError(f"`{name}` must be on the device of `{other}`, {device}, got {tensor.device}")


def reject_values(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, batch: Tensor | None, *, undirected: bool = True
) -> None:
    """Say what is wrong: indices out of the graph, weights not finite or negative, an edge without its return.

    Negative weights and edges in one direction are wrong where the graph has to be ``undirected``.
    """
    if batch is not None and batch.numel() and int(batch.min()) < 0:
        raise ValueError(f"`batch` must not be negative, got {int(batch.min())}")
    if edge_index.numel() == 0:
        return
    low, high = (int(v) for v in edge_index.aminmax())
    if low < 0 or high >= n:
        raise ValueError(f"`edge_index` must be between 0 and {n - 1}, got {low if low < 0 else high}")
    row, col = edge_index.long()
    w = torch.ones(row.shape[0], dtype=torch.float64) if edge_weight is None else edge_weight.detach().double()
    good = torch.isfinite(w) & (w >= 0) if undirected else torch.isfinite(w)
    if not bool(good.all()):
        k = int((~good).nonzero()[0])
        expected = "finite and not negative" if undirected else "finite"
        raise ValueError(f"`edge_weight` must be {expected}, got {w[k].item():g} at edge {k}")
    if batch is not None and bool((batch[row] != batch[col]).any()):
        k = int((batch[row] != batch[col]).nonzero()[0])
        raise ValueError(f"edge {k} joins vertices of two graphs of `batch`: {int(row[k])} and {int(col[k])}")
    there, back = sums_both_ways(row, col, w, n)
    if not torch.isfinite(there + back).all():
        raise ValueError("`edge_weight` must have finite sums at every vertex: scale the weights down")
    if undirected:
        differs = (there - back).abs() > SYMMETRY * (there + back)
        where = int(differs.nonzero()[0]) if bool(differs.any()) else int((there - back).abs().argmax())
        raise ValueError(UNDIRECTED.format(f"at vertex {where} it does not"))


def sums_both_ways(row: Tensor, col: Tensor, w: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Return W x and its transposed for a random x: they have no reason to agree unless W is symmetric."""
    x = torch.rand(n, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).add_(0.5).to(w.device)
    zeros = torch.zeros(n, dtype=torch.float64, device=w.device)
    return zeros.index_add(0, row, w * x[col]), zeros.index_add(0, col, w * x[row])


def assert_on_device(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, batch: Tensor | None, *, undirected: bool
) -> None:
    """Check values where they are, without waiting: the error is raised where the host next waits for the device."""
    if edge_index.device.type == "meta" or edge_index.numel() == 0:
        return
    row, col = edge_index.long()
    within = (edge_index >= 0).all() & (edge_index < n).all()
    assert_async(within, f"`edge_index` must be between 0 and {n - 1}")
    w = torch.ones_like(row, dtype=torch.float64) if edge_weight is None else edge_weight.detach().double()
    good = torch.isfinite(w).all() & (w >= 0).all() if undirected else torch.isfinite(w).all()
    assert_async(good, "`edge_weight` must be finite" + (" and not negative" if undirected else ""))
    row, col = row.clamp(0, n - 1), col.clamp(0, n - 1)
    if batch is not None:
        assert_async((batch[row] == batch[col]).all(), "an edge joins vertices of two graphs of `batch`")
    if undirected:
        there, back = sums_both_ways(row, col, w, n)
        assert_async(((there - back).abs() <= SYMMETRY * (there + back)).all(), UNDIRECTED.format("it does not"))


def assert_async(condition: Tensor, message: str) -> None:
    """Raise if a condition does not hold: at once on the CPU, elsewhere where the host next waits for the device."""
    try:
        torch._assert_async(condition, message)
    except NotImplementedError:  # a device without such an operation is waited for
        if not bool(condition):
            raise RuntimeError(message) from None


def given_lmax(lambda_max: Any, like: Tensor, batch: Tensor | None) -> Tensor:
    """Return the bound that was given, for each vertex."""
    if isinstance(lambda_max, Tensor) and lambda_max.requires_grad:
        raise ValueError(
            "`lambda_max` must not require a gradient: the layers take the graph as constant; pass lambda_max.detach()"
        )
    try:
        given = torch.as_tensor(lambda_max, dtype=torch.float64, device=like.device)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"`lambda_max` must be a real number, or one per graph, got {lambda_max!r}") from None
    if given.dim() > 1 or (given.numel() > 1 and batch is None):
        raise ValueError(f"`lambda_max` must be one number, or with `batch` one per graph, got {tuple(given.shape)}")
    if given.device.type == "cpu" and not torch.compiler.is_compiling():
        if not bool((torch.isfinite(given) & (given > 0)).all()):
            raise ValueError(f"`lambda_max` must be positive and finite, got {lambda_max!r}")
        if batch is not None and given.numel() > 1 and batch.numel() and int(batch.max()) >= given.numel():
            n_graphs = int(batch.max()) + 1
            raise ValueError(f"`lambda_max` must hold {n_graphs} numbers, one per graph, got {given.numel()}")
    if given.numel() > 1 and batch is not None:
        return given[batch.long()]
    # a copy: the compiled loops want every number in its place, and what was given may change
    return given.reshape(()).expand_as(like).clone(memory_format=torch.contiguous_format)
