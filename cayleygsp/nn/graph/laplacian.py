"""Laplacians as tensors: of an undirected graph, which moves with a model, and the scaled one of any graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import torch
from scipy import sparse
from torch import Tensor, nn

from cayleygsp._typing import LaplacianKind
from cayleygsp.engine.edge_rows import rayleigh_bound
from cayleygsp.laplacians import Laplacian
from cayleygsp.nn.graph.build import LMAX_SLACK, SYMMETRY, parts_of_edges, sort_into_rows, sums_both_ways
from cayleygsp.nn.ops.operation import outside_inference

# How much a given λ_max may be below a bound of the spectrum for recurrences to run backwards nevertheless.
_SLACK = 1e-6


class GraphTensors(NamedTuple):
    """A graph in the form that the recurrences read.

    Row i of the scaled matrix is ``scale[i] * (diagonal[i] * t[i] - sum(values * t[indices])) - t[i]``, the sum going
    from ``indptr[i]`` to ``indptr[i + 1]``. A matrix that is not symmetric has in addition the rows of its transposed:
    ``indptr_t``, ``indices_t``, and in ``order_t`` where each of their values stands among ``values`` (see
    :func:`transposed_pattern`). The scale is the same for all vertices that are joined by edges.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    diagonal: Tensor
    scale: Tensor
    indptr_t: Tensor | None = None
    indices_t: Tensor | None = None
    order_t: Tensor | None = None

    @property
    def is_symmetric(self) -> bool:
        """Whether the matrix is its own transposed."""
        return self.order_t is None

    def tensors(self) -> list[Tensor]:
        """Return the tensors that there are, as operations take them."""
        return [t for t in self if t is not None]

    def transposed(self) -> GraphTensors:
        """Return the transposed matrix (which does not know of its own transposed)."""
        if self.indptr_t is None or self.indices_t is None or self.order_t is None:
            return self
        return GraphTensors(self.indptr_t, self.indices_t, self.values[self.order_t], self.diagonal, self.scale)

    def packed(self) -> tuple[Any, ...]:
        """Return the same memory as the compiled loops want it: whole numbers without a sign, and the sum's sign."""
        indptr, indices, values, diagonal, scale = (t.contiguous().numpy() for t in self[:5])
        whole = (w.view(f"u{w.itemsize}") for w in (indptr, indices))
        return (*whole, values, diagonal, values.dtype.type(-1), scale)

    def to(self, dtype: torch.dtype) -> GraphTensors:
        """Return the same in another precision."""
        if self.values.dtype == dtype:
            return self
        return self._replace(values=self.values.to(dtype), diagonal=self.diagonal.to(dtype), scale=self.scale.to(dtype))

    def rows(self) -> Tensor:
        """Return the row of each value."""
        return rows_of(self.indptr, self.indices)


def transposed_pattern(indptr: Tensor, indices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return ``indptr_t``, ``indices_t`` and ``order_t`` of the transposed matrix, without asking the device."""
    indptr_t, order = sort_into_rows(indices, indptr.shape[0] - 1)
    return indptr_t, rows_of(indptr, indices)[order].to(indices.dtype), order


def rows_of(indptr: Tensor, indices: Tensor) -> Tensor:
    """Return the row of each entry."""
    counts = indptr.diff().long()
    vertices = torch.arange(counts.shape[0], device=counts.device)
    return torch.repeat_interleave(vertices, counts, output_size=indices.shape[0])


NORMALIZATIONS: dict[str | None, LaplacianKind] = {"sym": "normalized", None: "combinatorial"}


def check_normalization(normalization: Any) -> str | None:
    """Return ``normalization`` if it is "sym" or None."""
    if normalization not in (None, "sym"):
        raise ValueError(f"`normalization` must be 'sym' or None, got {normalization!r}")
    return cast("str | None", normalization)


class GraphLaplacian(nn.Module):
    r"""A Laplacian prepared for the layers: indices and weights as buffers.

    Make one with :meth:`from_laplacian`, :meth:`from_edge_index` or :meth:`from_data`, once for a graph that many
    batches share. It is the Laplacian of :func:`cayleygsp.laplacian`: isolated vertices have a zero row, self-loops
    count in the degrees. Made of edge weights that require a gradient, it passes one on to them, once; its bound
    of the spectrum is a constant.

    Attributes
    ----------
    indptr, indices, values : Tensor
        Off-diagonal weights, row by row: :math:`w_{ij}`, or :math:`w_{ij}/\sqrt{d_i d_j}` if normalized.
    diagonal : Tensor, shape (n,)
        The diagonal of Δ.
    lmax : Tensor, shape (n,)
        For each vertex, a guaranteed upper bound of the spectrum of its graph.
    scaling : Tensor, shape (n,), or None
        For each vertex, the λ_max that was given for :class:`ChebConv` to scale by; ``lmax`` by default.
    normalization : {"sym", None}
        Normalized or combinatorial.
    bound : float or None
        The largest of ``lmax`` as a number, so that no device is asked for it; None if it is not known.
    tied : bool
        Whether the two halves of an edge get the mean of their gradients.

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
    scaling: Tensor | None
    tied = True

    def __init__(
        self,
        indptr: Tensor,
        indices: Tensor,
        values: Tensor,
        diagonal: Tensor,
        lmax: Tensor,
        normalization: str | None,
        bound: float | None = None,
        scaling: Tensor | None = None,
    ) -> None:
        super().__init__()
        matrix = {"indptr": indptr, "indices": indices, "values": values, "diagonal": diagonal}
        for name, tensor in {**matrix, "lmax": lmax, "scaling": scaling}.items():
            self.register_buffer(name, tensor)
        self.normalization, self.bound = normalization, bound
        self._eigenbasis: tuple[Tensor, Tensor] | None = None
        self._core: Laplacian | None = None

    @classmethod
    def from_laplacian(
        cls, laplacian: Laplacian, *, dtype: torch.dtype = torch.float64, device: Any = None
    ) -> GraphLaplacian:
        """Return the prepared form of a Laplacian of the core.

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
        n = laplacian.n_vertices
        W = sparse.csr_array(sparse.diags_array(laplacian.diagonal) - laplacian.matrix)
        W.eliminate_zeros()
        whole = torch.int32 if W.nnz < 2**31 else torch.int64
        with outside_inference():
            made = cls(
                torch.as_tensor(W.indptr, dtype=whole, device=device),
                torch.as_tensor(W.indices, dtype=whole, device=device),
                torch.as_tensor(W.data, dtype=dtype, device=device),
                torch.as_tensor(laplacian.diagonal, dtype=dtype, device=device),
                _not_below(torch.full((n,), laplacian.lmax, dtype=torch.float64), dtype).to(device),
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
        r"""Return the prepared Laplacian of edges in the form of PyTorch Geometric.

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
            What :class:`ChebConv` scales by, one number or one per graph; it must not be below the spectrum. By default
            2 for the normalized Laplacian and a guaranteed bound for the combinatorial one, as
            :class:`cayleygsp.Laplacian` has it. :class:`CayleyConv` has no use for it.
        dtype : torch.dtype, optional
            Precision of the weights; by default that of ``edge_weight``, or torch's default.

        Raises
        ------
        ValueError, TypeError
            If indices are out of range or not whole numbers, weights are negative or not finite, the graph is not
            undirected, or ``lambda_max`` is below an eigenvalue.
        """
        given = edge_weight, num_nodes, check_normalization(normalization), batch, lambda_max
        with outside_inference():
            parts = parts_of_edges(edge_index, *given, undirected=True)
            dtype = parts.dtype if dtype is None or parts.values.requires_grad else dtype
            bound = None if torch.compiler.is_compiling() else _largest(parts.lmax)
            numbers = parts.values.to(dtype), parts.diagonal.to(dtype), _not_below(parts.lmax, dtype)
            scaling = None if parts.given is None else parts.given.to(dtype)
            return cls(parts.indptr, parts.indices, *numbers, normalization, bound, scaling)

    @classmethod
    def from_data(cls, data: Any, *, normalization: str | None = "sym", dtype: Any = None) -> GraphLaplacian:
        """Return the prepared Laplacian of a ``Data`` or ``Batch`` of PyTorch Geometric, or of an object like them.

        Parameters
        ----------
        data : object
            With ``edge_index``, and perhaps ``edge_weight`` (or ``edge_attr`` of one number per edge), ``num_nodes``,
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
    def reversible(self) -> bool:
        """Whether the spectrum is known to be within what scales it, so that recurrences may run backwards."""
        return self.scaling is None

    @property
    def n_vertices(self) -> int:
        """Number of vertices n, of all graphs together."""
        return int(self.diagonal.shape[0])

    def extra_repr(self) -> str:
        """Return the size of the graph, for ``repr``."""
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
        """Reject the state of a Laplacian of the other kind."""
        if state["normalization"] != self.normalization:
            raise ValueError(
                f"the state must be of a Laplacian with normalization={self.normalization!r}, got "
                f"{state['normalization']!r}"
            )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any, **kwargs: Any) -> None:
        state = state_dict.get(prefix + "_extra_state")
        if state is not None:
            self.set_extra_state(state)  # before anything is copied
        given = {name: state_dict.get(prefix + name) for name in self._buffers}
        check_state(given, self.n_vertices)
        is_same = all(_are_equal(given[name], buffer) for name, buffer in self._buffers.items())
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
        if is_same:  # a training that goes on computes with what it had, to the last digit
            return
        # what was derived from the buffers belongs to the graph before
        self._core = self._eigenbasis = None
        self.bound = _largest(self.lmax)

    def tensors(self, dtype: torch.dtype, *, own_scale: bool) -> GraphTensors:
        """Return the Laplacian in some precision, every graph scaled by its own bound or all by the largest."""
        lmax = (self.scaling if own_scale and self.scaling is not None else self.lmax).to(dtype)
        if not own_scale and self.n_vertices:
            lmax = torch.full_like(lmax, self.bound) if self.bound is not None else lmax.amax().expand_as(lmax)
        scale = torch.where(lmax > 0, 2 / lmax, torch.zeros_like(lmax))
        return GraphTensors(self.indptr, self.indices, self.values.to(dtype), self.diagonal.to(dtype), scale)

    def dense(self) -> Tensor:
        """Return Δ as a dense matrix."""
        L = torch.diag(self.diagonal)
        places = rows_of(self.indptr, self.indices), self.indices.long()
        return L.index_put_(places, -self.values, accumulate=True)

    def eigenbasis(self) -> tuple[Tensor, Tensor]:
        """Return all eigenvalues and eigenvectors, computed once in double precision (dense: for small graphs)."""
        with outside_inference():
            if self._eigenbasis is None:
                if self._core is None:
                    lam, Phi = torch.linalg.eigh(self.dense().double())
                else:
                    basis = self._core.eigenbasis
                    lam, Phi = torch.from_numpy(basis.eigenvalues), torch.from_numpy(basis.eigenvectors)
            else:
                lam, Phi = self._eigenbasis
            self._eigenbasis = lam.to(self.values.device), Phi.to(self.values.device)
            return self._eigenbasis


def _are_equal(given: Tensor | None, buffer: Tensor | None) -> bool:
    """Return whether a state has the numbers that stand in a buffer, in the same precision."""
    if given is None or buffer is None or given.device.type == "meta" or buffer.device.type == "meta":
        return given is buffer
    return given.dtype == buffer.dtype and given.shape == buffer.shape and torch.equal(given.to(buffer.device), buffer)


def _not_below(lmax: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a bound in another precision, rounded upwards."""
    rounded = lmax.to(dtype)
    return torch.where(rounded < lmax, torch.nextafter(rounded, torch.full_like(rounded, torch.inf)), rounded)


def _largest(lmax: Tensor) -> float | None:
    """Return the largest bound as a number, if there are numbers to look at."""
    if lmax.device.type == "meta":
        return None
    return float(lmax.max()) if lmax.numel() else 0.0


def check_state(state: Mapping[str, Tensor | None], n: int) -> None:
    """Reject a state of a Laplacian of n vertices that is none, or whose bound does not hold.

    A part that is missing or of another size is left to torch, which says so.
    """
    wanted = [state.get(name) for name in ("indptr", "indices", "values", "diagonal", "lmax")]
    parts = [part for part in wanted if part is not None and part.device.type != "meta"]
    if len(parts) < 5:
        return
    indptr, indices, values, diagonal, lmax = (part.detach().cpu() for part in parts)
    if indptr.shape != (n + 1,) or not diagonal.shape == lmax.shape == (n,) or indices.shape != values.shape:
        return
    counts = indptr.long().diff()
    if int(indptr[0]) != 0 or int(indptr[-1]) != indices.numel() or bool((counts < 0).any()):
        raise ValueError(f"`indptr` of the state must grow from 0 to {indices.numel()}, the number of its indices")
    if indices.numel() and not 0 <= int(indices.min()) <= int(indices.max()) < n:
        wrong = int(indices.min()) if int(indices.min()) < 0 else int(indices.max())
        raise ValueError(f"`indices` of the state must be between 0 and {n - 1}, got {wrong}")
    for name, numbers in (("values", values), ("diagonal", diagonal), ("lmax", lmax)):
        if not bool((torch.isfinite(numbers) & (numbers >= 0)).all()):
            raise ValueError(f"`{name}` of the state must be finite and not negative")
    there, back = sums_both_ways(rows_of(indptr, indices), indices.long(), values.double(), n)
    if bool(((there - back).abs() > SYMMETRY * (there + back)).any()):
        raise ValueError("`values` of the state must be those of a symmetric matrix")
    graphs = torch.unique(lmax, return_inverse=True)[1].numpy()
    W, d = values.double().numpy(), diagonal.double().numpy()
    lower = rayleigh_bound(indptr.numpy(), indices.numpy(), W, d, graphs)
    if bool((lmax.double().numpy() < lower * (1 - LMAX_SLACK)).any()):
        raise ValueError("`lmax` of the state must not be below the largest eigenvalue")


class ScaledLaplacian:
    """The scaled Laplacian of any graph, with its transposed if that is another, for layers of Chebyshev filters."""

    # the two directions of an edge have gradients of their own
    tied = False

    def __init__(self, graph: GraphTensors, *, bounded: bool = True) -> None:
        self.graph, self._bounded = graph, bounded

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Any,
        edge_weight: Tensor | None,
        n: int,
        *,
        normalization: str | None,
        batch: Tensor | None = None,
        lambda_max: Any = None,
        dtype: torch.dtype,
    ) -> ScaledLaplacian:
        """Take edges as PyTorch Geometric has them; see :meth:`GraphLaplacian.from_edge_index`."""
        with outside_inference():
            parts = parts_of_edges(edge_index, edge_weight, n, normalization, batch, lambda_max, undirected=False)
            given, lmax = parts.given, parts.lmax
            bounded = given is None or (parts.is_symmetric and bool((given >= (1 - _SLACK) * lmax).all()))
            by = lmax if given is None else given
            # where there is none, 2/λ_max must not be divided by zero in its derivative either
            scale = torch.where(by > 0, 2 / torch.where(by > 0, by, 1.0), 0.0).contiguous()
            dtype = parts.dtype if parts.values.requires_grad else dtype
            pattern = () if parts.is_symmetric else transposed_pattern(parts.indptr, parts.indices)
            numbers = (t.to(dtype) for t in (parts.values, parts.diagonal, scale))
            return cls(GraphTensors(parts.indptr, parts.indices, *numbers, *pattern), bounded=bounded)

    @property
    def reversible(self) -> bool:
        """Whether the recurrence can run backwards without growing: the spectrum is real and within the bound."""
        values = self.graph.values
        if not self._bounded or not self.graph.is_symmetric:
            return False
        return not values.requires_grad or bool((values.detach() >= 0).all())

    @property
    def values(self) -> Tensor:
        """Weights beside the diagonal, in the order of the rows."""
        return self.graph.values

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self.graph.diagonal.shape[0])

    def tensors(self, dtype: torch.dtype, *, own_scale: bool) -> GraphTensors:
        """Return the scaled matrix; every graph has its own scale."""
        assert own_scale
        return self.graph.to(dtype)
