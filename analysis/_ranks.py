"""Processes that train one network together, as ``torchrun`` starts them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, distributed, nn
from torch.distributed.rendezvous import rendezvous

Value = TypeVar("Value")


class Ranks:
    """The processes that work together, and which of them this one is; alone unless a group has been started.

    Attributes
    ----------
    rank, size : int
        Number of this process, and how many there are.

    Examples
    --------
    >>> from analysis._ranks import Ranks
    >>> ranks = Ranks()
    >>> ranks.rank, ranks.size, ranks.total(3.0)
    (0, 1, 3.0)
    """

    def __init__(self) -> None:
        together = distributed.is_available() and distributed.is_initialized()
        self.rank = distributed.get_rank() if together else 0
        self.size = distributed.get_world_size() if together else 1

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes files and talks."""
        return self.rank == 0

    def share(self, indices: Tensor) -> Tensor:
        """Return this process's share of a minibatch."""
        return indices[self.rank :: self.size] if self.size > 1 else indices

    def weight(self, indices: Tensor) -> float:
        """Return the factor of the mean loss of this share that makes the mean over all processes that of the batch."""
        return len(self.share(indices)) * self.size / len(indices)

    def total(self, number: float) -> float:
        """Return the sum of a number over all processes."""
        if self.size == 1:
            return number
        numbers: list[float] = [0.0] * self.size
        distributed.all_gather_object(numbers, number)
        return sum(numbers)  # in the order of the processes: the same on all

    def of_first(self, value: Value) -> Value:
        """Return what the first process has."""
        if self.size == 1:
            return value
        held = [value]
        distributed.broadcast_object_list(held, src=0)
        return held[0]

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.size > 1:
            distributed.barrier()

    def wrap(self, network: nn.Module) -> nn.Module:
        """Return the network with gradients that are means over all processes."""
        if self.size == 1:
            return network
        return nn.parallel.DistributedDataParallel(network)

    def seed_step(self, *numbers: int) -> None:
        """Seed torch for one step: other random numbers in each process, the same ones when the step is repeated."""
        entropy = np.random.SeedSequence([*numbers, self.rank])
        torch.manual_seed(int(entropy.generate_state(1, np.uint64)[0]))


def is_launched() -> bool:
    """Say whether this process is one of several that ``torchrun`` has started."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1


@contextmanager
def process_group(device: str) -> Iterator[Ranks]:
    """Join the processes that ``torchrun`` has started, if it has: by gloo on processors, by nccl on graphics cards.

    Parameters
    ----------
    device : str
        "cpu" or "cuda".
    """
    if not is_launched():
        yield Ranks()
        return
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    store, rank, size = next(rendezvous("env://"))
    # torchrun keeps the store when it starts processes again: addresses of those before must not be found there
    own = distributed.PrefixStore(f"attempt {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)  # type: ignore[attr-defined]
    distributed.init_process_group("nccl" if device == "cuda" else "gloo", store=own, rank=rank, world_size=size)
    try:
        yield Ranks()
    finally:
        distributed.destroy_process_group()
