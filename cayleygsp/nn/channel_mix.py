"""A dense matrix that mixes channels, of which the number of inputs may not be known yet."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter, UninitializedParameter


class ChannelMix(nn.Module):
    """The matrix of one term of a filter.

    Parameters
    ----------
    in_channels : int
        Channels of the input, or -1 if they are not known yet.
    out_channels : int
        Channels of the output.

    Attributes
    ----------
    weight : Parameter, shape (out_channels, in_channels)
        As torch's linear layers have it.
    """

    weight: Parameter

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.out_channels = out_channels
        if in_channels == -1:
            self.register_parameter("weight", UninitializedParameter())  # type: ignore[arg-type]
        else:
            self.weight = Parameter(torch.empty(out_channels, in_channels))

    @property
    def is_lazy(self) -> bool:
        """Whether the number of input channels is not known yet."""
        return isinstance(self.weight, UninitializedParameter)

    def materialize(self, in_channels: int) -> None:
        """Give the matrix its shape."""
        assert isinstance(self.weight, UninitializedParameter)
        self.weight.materialize((self.out_channels, in_channels))

    def forward(self, x: Tensor) -> Tensor:
        """Mix the last dimension of x."""
        return torch.nn.functional.linear(x, self.weight)

    def extra_repr(self) -> str:
        """Return the shape, for ``repr``."""
        return f"{-1 if self.is_lazy else self.weight.shape[1]}, {self.out_channels}"

    def _save_to_state_dict(self, *args: Any, **kwargs: Any) -> None:
        if not self.is_lazy:  # else there is nothing to save
            super()._save_to_state_dict(*args, **kwargs)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any, **kwargs: Any) -> None:
        given = state_dict.get(prefix + "weight")
        if not self.is_lazy:
            super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
        elif given is not None and not isinstance(given, UninitializedParameter):  # the layer found no use for it
            shape, wanted = tuple(getattr(given, "shape", ())), (self.out_channels, -1)
            args[-1].append(
                f"size mismatch for {prefix}weight: got shape {shape}, the layer needs {wanted}, -1 being any "
                "number, the same in all terms"
            )
