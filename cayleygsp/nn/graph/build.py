"""Edges become a Laplacian: checked, sorted into rows, normalized, with a bound of the spectrum of each graph.

There are two conventions. An *undirected* graph has the Laplacian of the core: self-loops count in the degrees, the
bound is guaranteed. Any other has that of PyTorch Geometric: a signal moves along the edges, so that a product is with
the transposed of :math:`L = D - W`, :math:`I - D^{-1/2} W D^{-1/2}` or :math:`I - D^{-1} W` with the sums over the
edges that begin at a vertex; self-loops are left out, and λ_max is twice the largest entry of L.

On the CPU compiled loops do it, elsewhere operations of torch that do not make the host wait. Entries are made again
by differentiable operations (:func:`entries_of_edges`) where the weights of the edges are to get a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
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
    guaranteed_bound,
    rayleigh_bound,
    rows_of_edges,
)
from cayleygsp.nn.ops.operation import uses_loops
from cayleygsp.spectrum import POWER_STEPS

_KINDS = {None: PLAIN, "sym": SYMMETRIC, "rw": RANDOM_WALK}

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

_Rows = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


class Edges(NamedTuple):
    """Checked edges, of constant weights (None for ones), and what is asked of their Laplacian."""

    pairs: Tensor
    weight: Tensor | None
    n: int
    normalization: str | None
    batch: Tensor | None
    given: Tensor | None
    undirected: bool


class Parts(NamedTuple):
    """What Laplacians are made of, the numbers in double precision.

    The entries beside the diagonal have their sign changed, and there are as many as edges: self-loops stay as entries
    of value zero, so that the shapes follow from the shapes of the input. ``lmax`` is a guaranteed bound for each
    vertex's graph where it is undirected, else twice the largest entry, and ``given`` what was given. ``dtype`` is that
    of the weights; double if they are to get a gradient, as gradients of entries almost cancel where the zoom is large.
    ``is_symmetric`` says whether the matrix is known to be its own transposed: only the CPU is asked.
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
    edge_index: Any,
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
    edge_index, edge_weight, n = check_edges(edge_index, edge_weight, num_nodes, batch)
    given = None if lambda_max is None else given_lmax(lambda_max, n, edge_index.device, batch)
    constant = None if edge_weight is None else edge_weight.detach()
    edges = Edges(edge_index, constant, n, normalization, batch, given, undirected)
    is_symmetric = undirected
    if torch.compiler.is_compiling():
        indptr, indices, values, diagonal, lmax = build_laplacian(*edges)
    elif uses_loops(edge_index):
        (indptr, indices, values, diagonal, lmax), is_symmetric = _by_loops(edges)
    else:
        indptr, indices, values, diagonal, lmax = _by_torch(edges)
    dtype = torch.get_default_dtype() if edge_weight is None else edge_weight.dtype
    if edge_weight is not None and asks_for_gradient(edge_weight):
        dtype, ends = torch.float64, edge_index[0 if undirected else 1]
        order = torch.argsort(ends, stable=True)
        values, diagonal = entries_of_edges(edge_index, edge_weight, n, normalization, order, undirected=undirected)
        if not undirected:
            lmax = _plain_lmax(edges, _largest_entries(values, diagonal, ends[order].long()), _numbered(batch))
    return Parts(indptr, indices, values, diagonal, lmax, given, dtype, is_symmetric)


@torch.library.custom_op("cayleygsp::build_laplacian", mutates_args=())
def build_laplacian(
    edge_index: Tensor,
    edge_weight: Tensor | None,
    n: int,
    normalization: str | None,
    batch: Tensor | None,
    given: Tensor | None,
    undirected: bool,
) -> _Rows:
    """Return indptr, indices, values, diagonal and lmax, as an operation that torch.compile takes as it is."""
    edges = Edges(edge_index, edge_weight, n, normalization, batch, given, undirected)
    return _by_loops(edges)[0] if uses_loops(edge_index) else _by_torch(edges)


@build_laplacian.register_fake
def _(edge_index: Tensor, edge_weight: Tensor | None, n: int, *_: Any) -> _Rows:
    def empty(size: Any, dtype: torch.dtype) -> Tensor:
        return edge_index.new_empty((size,), dtype=dtype)

    n_edges = edge_index.shape[1]
    pattern = empty(n + 1, torch.int32), empty(n_edges, torch.int32)
    return *pattern, empty(n_edges, torch.float64), empty(n, torch.float64), empty(n, torch.float64)


def _by_loops(edges: Edges) -> tuple[_Rows, bool]:
    """Do it in compiled loops; say also whether the matrix is symmetric."""
    _, _, n, normalization, batch, given, undirected = edges
    pairs = edges.pairs.long()
    if torch._C._functorch.is_functorch_wrapped_tensor(pairs):
        raise NotImplementedError("no edges within a transform of torch.func: prepare a GraphLaplacian before")
    begin, end = pairs.numpy()
    weights = np.empty(0) if edges.weight is None else edges.weight.double().numpy()
    labels = np.empty(0, np.int64) if batch is None else batch.long().numpy()
    ends = (end, begin) if undirected else (begin, end)
    made = rows_of_edges(*ends, weights, n, labels, kind=_KINDS[normalization], keep_loops=undirected)
    has_negative = made.fault == NEGATIVE
    is_wrong = made.fault or not made.asymmetry <= SYMMETRY if undirected else made.fault and not has_negative
    if is_wrong or not np.isfinite(made.degrees).all() or labels.min(initial=0) < 0:
        check_values(edges)
        if undirected:  # of which the random sums of the loops have seen more
            raise ValueError(UNDIRECTED.format("it does not"))
    if has_negative and normalization == "sym" and (made.degrees < 0).any():
        vertex = int((made.degrees < 0).argmax())
        raise ValueError(
            f"`edge_weight` must have sums that are not negative for normalization='sym', got "
            f"{made.degrees[vertex]:g} at vertex {vertex}"
        )
    graphs = np.zeros(n, np.int64) if batch is None else labels
    if graphs.max(initial=0) >= n:
        graphs = np.unique(graphs, return_inverse=True)[1]
    matrix = made.indptr, made.indices, made.values, made.diagonal
    is_tied = undirected or made.asymmetry <= _ROUNDING
    if given is not None and is_tied:
        _check_lmax(given.numpy(), made, graphs, normalization)
    indptr, indices, values, diagonal = (torch.from_numpy(part) for part in matrix)
    if undirected and normalization is None:
        lmax = torch.from_numpy(guaranteed_bound(*matrix, graphs, POWER_STEPS))
    else:
        largest = diagonal
        if has_negative:  # then an entry beside the diagonal may be the largest
            rows = np.repeat(np.arange(n), np.diff(made.indptr))
            largest = _largest_entries(values, diagonal, torch.from_numpy(rows))
        lmax = _plain_lmax(edges, largest, None if batch is None else torch.from_numpy(graphs))
    return (indptr, indices, values, diagonal, lmax.contiguous()), is_tied and normalization != "rw"


def _check_lmax(lmax: FloatArray, made: EdgeRows, graphs: Array, normalization: str | None) -> None:
    """Reject a λ_max that is below a Rayleigh quotient, outside of which a Chebyshev polynomial grows without bound."""
    _, _, indptr, indices, values, diagonal, degrees = made
    if normalization == "rw":  # similar to a symmetric matrix
        root = np.sqrt(np.abs(degrees))
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


def _by_torch(edges: Edges) -> _Rows:
    """Do it by torch operations, without asking the device for anything but the number of graphs.

    A given λ_max is not looked at.
    """
    _, _, n, normalization, batch, _, undirected = edges
    if not edges.pairs.is_meta and edges.pairs.numel():
        check_values(edges)
    batch = _numbered(batch)
    ends = edges.pairs if undirected else edges.pairs.flip(0)
    indptr, order = sort_into_rows(ends[0], n)
    row, col = ends[:, order].long()
    weight = torch.ones_like(row, dtype=torch.float64) if edges.weight is None else edges.weight
    values, diagonal = entries_of_edges(edges.pairs, weight, n, normalization, order, undirected=undirected)
    if undirected and normalization is None and n:
        longest = indptr.diff().amax().double()
        lmax = _guaranteed_lmax(row, col, values, diagonal, batch) * (1 + (longest + 8) * 2.0**-52)
    else:
        lmax = _plain_lmax(edges, diagonal if undirected else _largest_entries(values, diagonal, row), batch)
    return indptr, col.to(indptr.dtype), values, diagonal.contiguous(), lmax.contiguous()


def sort_into_rows(ends: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Return where rows begin, shape (n + 1,), and the entries in their order, without asking the device."""
    order, counts = torch.argsort(ends, stable=True), torch.zeros(n, dtype=torch.int64, device=ends.device)
    # not bincount, which asks for the largest number
    counts = counts.scatter_add(0, ends.long(), torch.ones_like(ends, dtype=torch.int64))
    whole = torch.int32 if max(ends.shape[0], n) < 2**31 else torch.int64
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)]).to(whole), order


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


def _largest_entries(values: Tensor, diagonal: Tensor, rows: Tensor) -> Tensor:
    """Return the largest entry of each row of the Laplacian."""
    return diagonal.scatter_reduce(0, rows, -values, "amax")


def _plain_lmax(edges: Edges, largest: Tensor, batch: Tensor | None) -> Tensor:
    """Return λ_max of each vertex's graph: twice the largest entry, or 2 for edges of a normalized undirected graph."""
    top = _per_graph(largest, batch)
    return 2.0 * top.gt(0).double() if edges.undirected else 2 * top


def _guaranteed_lmax(row: Tensor, col: Tensor, w: Tensor, diagonal: Tensor, batch: Tensor | None) -> Tensor:
    """Return what the loops of :func:`cayleygsp.engine.edge_rows.guaranteed_bound` return, before rounding."""
    x, best, inner = diagonal, 2 * _per_graph(diagonal, batch), diagonal > 0
    usable = torch.ones_like(inner)
    for _ in range(POWER_STEPS):
        x = torch.where(inner, x / _per_graph(x, batch), 0.0)
        # a graph in which a number underflows keeps the bound that it has
        usable = usable & (_per_graph((inner & (x <= 1e-200)).double(), batch) == 0)
        Qx = diagonal * x + torch.zeros_like(x).index_add(0, row, w * x[col])
        ratio = _per_graph(torch.where(x > 0, Qx / x, 0.0), batch)
        best = torch.where(usable, torch.minimum(best, ratio), best)
        x = Qx
    return best


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

    Both are in double precision. Entries are :math:`w_{st}/\sqrt{d_s d_t}` ("sym"), :math:`w_{st}/d_s` ("rw") or
    :math:`w_{st}`, that of a self-loop is zero; ``order`` has the edge of each entry, as rows want them. Degrees are
    sums over the edges that begin at a vertex, without self-loops, and the diagonal of a normalized Laplacian is 1
    everywhere. In an ``undirected`` graph self-loops count, and the degree is the mean of what begins and what ends at
    a vertex, which is the same number: so the gradients of the two halves of an edge are equal.
    """
    source, target = edge_index.long()
    w = edge_weight.double()
    beside = torch.where(source == target, 0.0, w)
    ends = torch.cat([source, target]) if undirected else source

    def degrees(weights: Tensor) -> Tensor:
        zeros = torch.zeros(n, dtype=torch.float64, device=w.device)
        return zeros.index_add(0, ends, torch.cat([weights, weights]) / 2 if undirected else weights)

    diagonal = degrees(beside)
    if normalization is None:
        return beside[order], diagonal
    total = degrees(w) if undirected else diagonal
    # a power of two near the largest degree, so that nothing over- or underflows; a constant that cancels
    unit = torch.exp2(-torch.log2(total.detach().abs().amax().clamp(min=1e-300)).ceil()) if n else total.sum() + 1
    scaled = total * unit
    inner = scaled > 0 if normalization == "sym" else scaled != 0
    scaled = torch.where(inner, scaled, 1.0)
    if normalization == "sym":
        root = torch.where(inner, scaled.rsqrt(), 0.0)
        values = beside * unit * (root[source] * root[target])
    else:
        values = beside * unit * torch.where(inner, 1 / scaled, 0.0)[source]
    on_diagonal = torch.where(inner, diagonal * unit / scaled, 0.0) if undirected else torch.ones_like(diagonal)
    return values[order], on_diagonal


def check_edges(
    edges: Any, edge_weight: Tensor | None, num_nodes: int | None, batch: Tensor | None
) -> tuple[Tensor, Tensor | None, int]:
    """Return edges, weights of shape (n_edges,) and the number of vertices, of edges or an adjacency matrix.

    Types, shapes and devices must fit together; what the tensors hold is looked at where the Laplacian is built.
    """
    if not isinstance(edges, Tensor):
        raise TypeError(f"`edge_index` must be a tensor, got {type(edges).__name__}")
    is_square = edges.dim() == 2 and edges.shape[0] == edges.shape[1]
    if edges.layout != torch.strided or (edges.is_floating_point() and is_square):
        if edge_weight is not None:
            raise ValueError("`edge_weight` must not be given together with an adjacency matrix, which has the weights")
        if not is_square:
            raise ValueError(f"the adjacency matrix must be square, got shape {tuple(edges.shape)}")
        if num_nodes not in (None, edges.shape[0]):
            raise ValueError(f"`num_nodes` must be {edges.shape[0]} as the adjacency matrix says, got {num_nodes}")
        if edges.requires_grad:
            raise ValueError("the adjacency matrix must not require a gradient: the layers take the graph as constant")
        coo, num_nodes = edges.to_sparse_coo().coalesce(), edges.shape[0]
        edges, edge_weight = coo.indices(), coo.values()
    if edges.dtype not in (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int8):
        raise TypeError(f"`edge_index` must hold whole numbers, got dtype {edges.dtype}")
    if edges.dim() != 2 or edges.shape[0] != 2:
        raise ValueError(f"`edge_index` must have shape (2, n_edges), got {tuple(edges.shape)}")
    n_edges = edges.shape[1]
    for name, value in (("edge_weight", edge_weight), ("batch", batch)):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"`{name}` must be a tensor, got {type(value).__name__}")
        if value is not None and value.device != edges.device:
            raise ValueError(f"`{name}` must be on the device of `edge_index`, {edges.device}, got {value.device}")
    if edge_weight is not None:
        if not edge_weight.is_floating_point():
            raise TypeError(f"`edge_weight` must hold floating point numbers, got dtype {edge_weight.dtype}")
        if edge_weight.shape == (n_edges, 1):
            edge_weight = edge_weight[:, 0]
        if edge_weight.shape != (n_edges,):
            raise ValueError(f"`edge_weight` must have shape ({n_edges},), got {tuple(edge_weight.shape)}")
    if num_nodes is None:
        num_nodes = int(edges.max()) + 1 if n_edges else 0
    elif not torch.compiler.is_compiling():
        num_nodes = check_integer(num_nodes, "num_nodes", at_least=0)
    if batch is not None:
        if batch.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"`batch` must hold whole numbers, got dtype {batch.dtype}")
        if batch.shape != (num_nodes,):
            raise ValueError(f"`batch` must have shape ({num_nodes},), one number per vertex, got {tuple(batch.shape)}")
    return edges, edge_weight, num_nodes


def check_values(edges: Edges) -> None:
    """Reject wrong numbers: on the CPU at once, elsewhere where the host next waits for the device.

    Negative weights and edges without their return are wrong where the graph has to be undirected.
    """
    index, n, batch = edges.pairs, edges.n, edges.batch

    def require(good: Tensor, message: str, at: Callable[[int], str]) -> None:
        if good.device.type != "cpu":
            assert_async(good.all(), message)
        elif not bool(good.all()):
            raise ValueError(at(int((~good).nonzero()[0])))

    if batch is not None:
        message = "`batch` must not be negative"
        require(batch >= 0, message, lambda k: f"{message}, got {int(batch[k])}")
    within = f"`edge_index` must be between 0 and {n - 1}"
    ends = index.flatten()
    require((ends >= 0) & (ends < n), within, lambda k: f"{within}, got {int(ends[k])}")
    row, col = index.long().clamp(0, max(n - 1, 0))
    w = torch.ones_like(row, dtype=torch.float64) if edges.weight is None else edges.weight.double()
    good, expected = torch.isfinite(w), "`edge_weight` must be finite"
    if edges.undirected:
        good, expected = good & (w >= 0), f"{expected} and not negative"
    require(good, expected, lambda k: f"{expected}, got {w[k].item():g} at edge {k}")
    if batch is not None:
        joined = "joins vertices of two graphs of `batch`"
        places = f"an edge {joined}", lambda k: f"edge {k} {joined}: {int(row[k])} and {int(col[k])}"
        require(batch[row] == batch[col], *places)
    there, back = sums_both_ways(row, col, w, n)
    finite = "`edge_weight` must have finite sums at every vertex: scale the weights down"
    require(torch.isfinite(there + back), finite, lambda k: finite)
    if edges.undirected:
        same = (there - back).abs() <= SYMMETRY * (there + back)
        require(same, UNDIRECTED.format("it does not"), lambda k: UNDIRECTED.format(f"at vertex {k} it does not"))


def sums_both_ways(row: Tensor, col: Tensor, w: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Return W x and its transposed for a random x: they have no reason to agree unless W is symmetric."""
    x = torch.rand(n, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).add_(0.5).to(w.device)
    zeros = torch.zeros(n, dtype=torch.float64, device=w.device)
    return zeros.index_add(0, row, w * x[col]), zeros.index_add(0, col, w * x[row])


def assert_async(condition: Tensor, message: str) -> None:
    """Raise if a condition does not hold: at once on the CPU, elsewhere where the host next waits for the device."""
    try:
        torch._assert_async(condition, message)
    except NotImplementedError:  # a device without such an operation is waited for
        if not bool(condition):
            raise RuntimeError(message) from None


def given_lmax(lambda_max: Any, n: int, device: torch.device, batch: Tensor | None) -> Tensor:
    """Return the λ_max that was given, for each vertex."""
    if isinstance(lambda_max, Tensor) and lambda_max.requires_grad:
        raise ValueError(
            "`lambda_max` must not require a gradient: the layers take the graph as constant; pass lambda_max.detach()"
        )
    try:
        given = torch.as_tensor(lambda_max, dtype=torch.float64, device=device)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"`lambda_max` must be a real number, or one per graph, got {lambda_max!r}") from None
    per_graph = given.numel() > 1
    if given.dim() > 1 or (per_graph and batch is None):
        raise ValueError(f"`lambda_max` must be one number, or with `batch` one per graph, got {tuple(given.shape)}")
    if device.type == "cpu" and not torch.compiler.is_compiling():
        if not bool((torch.isfinite(given) & (given > 0)).all()):
            raise ValueError(f"`lambda_max` must be positive and finite, got {lambda_max!r}")
        n_graphs = int(batch.max()) + 1 if batch is not None and n else 0
        if per_graph and n_graphs > given.numel():
            raise ValueError(f"`lambda_max` must hold {n_graphs} numbers, one per graph, got {given.numel()}")
    if per_graph and batch is not None:
        return given[batch.long()]
    # a copy: the compiled loops want every number in its place, and what was given may change
    return given.reshape(()).repeat(n)
