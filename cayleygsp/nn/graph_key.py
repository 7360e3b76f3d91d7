"""Keys that identify graphs: their objects, the versions of these, and a checksum of their numbers."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from cayleygsp.laplacians import Laplacian
from cayleygsp.nn.modes import outside_inference

# Integers of the size of the numbers of a tensor, as which their bits are read.
_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class GraphKey:
    """What tells one graph from another: which objects, in which version, and on the CPU a checksum of the weights.

    Not seen is a change of the edges, and on other devices of the weights too, that torch does not count: by a fused
    step of an optimiser, or by writing into the memory of a tensor through numpy or ``.data``. On the CPU the bits of
    weights and of sparse matrices are compared, on other devices sparse matrices have no key: there is no telling
    whether the tensors that they were made of have changed.
    """

    def __init__(self, facts: tuple[Any, ...], references: tuple[Any, ...]) -> None:
        self.facts = facts
        self.references = references

    @classmethod
    def of(cls, given: tuple[Any, ...], x: Tensor, dtype: torch.dtype, wanted: Any = None) -> GraphKey | None:
        """Describe what was given and what is wanted of it; None if changes cannot be followed."""
        facts: list[Any] = [x.shape[-2], x.device, dtype, wanted]
        references: list[weakref.ref[Any]] = []
        for value in given:
            if isinstance(value, Tensor):
                state = _state(value)
                if state is None:
                    return None
                facts.append(state)
                references.append(weakref.ref(value))
            elif isinstance(value, Laplacian):
                facts.append(id(value))
                references.append(weakref.ref(value))
            elif value is None or isinstance(value, (int, float)):
                facts.append(value)
            else:
                return None
        return cls(tuple(facts), tuple(references))

    @property
    def is_alive(self) -> bool:
        """Whether the objects are still there."""
        return all(reference() is not None for reference in self.references)

    def matches(self, other: GraphKey) -> bool:
        """Return whether the same objects are still there, unchanged."""
        return self.facts == other.facts and self.is_alive


def _state(value: Tensor) -> tuple[Any, ...] | None:
    """Return what a change of the tensor changes; None if there is nothing of the kind."""
    if value.requires_grad or value.is_inference():  # learned numbers change at every step
        return None
    state: tuple[Any, ...] = id(value), value._version, value.shape
    if value.layout == torch.strided:
        state = *state, value.data_ptr()
        if not value.is_floating_point() or value.device.type != "cpu":
            return state
    parts = _parts(value)
    return None if parts is None else (*state, *map(_checksum, parts))


def _parts(value: Tensor) -> tuple[Tensor, ...] | None:
    """Return the dense tensors on the CPU of which one consists; None if their bits are not to be had."""
    if value.device.type != "cpu" or type(value) not in (Tensor, Parameter) or value.element_size() not in _BITS:
        return None
    if torch._C._functorch.is_functorch_wrapped_tensor(value):
        return None
    if value.layout == torch.strided:
        return (value,)
    if value.layout == torch.sparse_coo:
        return value._indices(), value._values()
    if value.layout == torch.sparse_csr:
        return value.crow_indices(), value.col_indices(), value.values()
    if value.layout == torch.sparse_csc:
        return value.ccol_indices(), value.row_indices(), value.values()
    return None


def _checksum(value: Tensor) -> int:
    """Return a sum of the bits of all numbers with odd factors, modulo 2**64: no change of one number leaves it."""
    bits = value.detach().contiguous().view(-1).view(_BITS[value.element_size()])
    return int(torch.dot(bits.long(), _FACTORS.first(bits.numel())))


class _Factors:
    """Odd numbers at random, the same at every call."""

    def __init__(self) -> None:
        self._made = torch.empty(0, dtype=torch.int64, device="cpu")

    def first(self, count: int) -> Tensor:
        """Return as many of them as are needed."""
        made = self._made
        if made.numel() < count:
            generator, size = torch.Generator("cpu").manual_seed(0), (max(2 * count, 1024),)
            with outside_inference():
                made = torch.randint(-(2**62), 2**62, size, generator=generator, device="cpu") * 2 + 1
            self._made = made
        return made[:count]


_FACTORS = _Factors()
