"""What tells one graph from another without looking at its numbers."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor

from cayleygsp.laplacians import Laplacian


class GraphKey:
    """What tells one graph from another without looking at its numbers: which objects, in which version.

    A change that torch does not count, such as writing into the memory of a tensor through numpy or ``.data``, is not
    seen.
    """

    def __init__(self, facts: tuple[Any, ...], references: tuple[Any, ...]) -> None:
        self.facts = facts
        self.references = references

    @classmethod
    def of(cls, given: tuple[Any, ...], x: Tensor, dtype: torch.dtype, wanted: Any = None) -> GraphKey | None:
        """Describe what was given and what is wanted of it; None if changes cannot be followed."""
        facts: list[Any] = [x.shape[-2], x.device, dtype, wanted]
        references = []
        for value in given:
            if isinstance(value, Tensor) and value.is_inference():
                return None
            if isinstance(value, (Tensor, Laplacian)):
                facts.append((id(value), getattr(value, "_version", 0)))
                references.append(weakref.ref(value))
                if isinstance(value, Tensor) and value.layout == torch.strided:
                    facts.append((value.data_ptr(), value.shape))
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
        """Say whether the same objects are still there, unchanged."""
        return self.facts == other.facts and self.is_alive
