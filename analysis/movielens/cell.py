"""The recurrent cell that says how the factors change."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter


class RecurrentCell(nn.Module):
    r"""A long short-term memory in the form of Monti et al., with weights that all vertices share.

    All its gates are sigmoids, the candidate and the state that leaves the cell too, and the change of the factors is
    read from the memory c, not from the state h:

    .. math:: f, i, o, u = \sigma(X W + h U + b), \quad c' = f c + i u, \quad h' = o\, \sigma(c'), \quad
              \delta = \tanh(c' V + d)

    Parameters
    ----------
    features : int
        Columns of the input X, of c and of h.
    rank : int
        Columns of the change δ.

    Examples
    --------
    >>> import torch
    >>> from analysis.movielens.cell import RecurrentCell
    >>> cell = RecurrentCell(32, 10)
    >>> state, change = cell(torch.ones(5, 32), None)
    >>> change.shape, sum(p.numel() for p in cell.parameters())
    (torch.Size([5, 10]), 8650)
    """

    def __init__(self, features: int, rank: int) -> None:
        super().__init__()
        self.features = features
        self.from_input = Parameter(torch.empty(features, 4 * features))
        self.from_state = Parameter(torch.empty(features, 4 * features))
        self.bias = Parameter(torch.zeros(4 * features))
        self.to_change = Parameter(torch.empty(features, rank))
        self.change_bias = Parameter(torch.zeros(rank))
        for weight in (self.from_input, self.from_state):
            for gate in weight.detach().split(features, dim=1):  # each gate is a matrix of its own
                nn.init.xavier_uniform_(gate)
        nn.init.xavier_uniform_(self.to_change)

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor] | None) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Return the next memory and state, and the change of the factors.

        Parameters
        ----------
        x : Tensor, shape (n, features)
            What the convolution sees.
        state : tuple of Tensor, optional
            Memory c and state h, each of shape (n, features); zeros if not given.
        """
        gates = torch.addmm(self.bias, x, self.from_input)
        if state is not None:
            gates = torch.addmm(gates, state[1], self.from_state)
        f, i, o, u = gates.sigmoid().split(self.features, dim=1)
        c = i * u if state is None else torch.addcmul(i * u, f, state[0])
        h = o * c.sigmoid()
        return (c, h), torch.addmm(self.change_bias, c, self.to_change).tanh()
