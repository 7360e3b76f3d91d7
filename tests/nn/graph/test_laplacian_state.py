"""What is checked when a state is loaded."""

import copy

import pytest
import torch

from cayleygsp.nn import GraphLaplacian

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


@pytest.mark.parametrize(
    ("name", "position", "value", "message"),
    [
        ("indices", 0, 99, "`indices` of the state must be between 0 and 3, got 99"),
        ("indices", 2, -1, "`indices` of the state must be between 0 and 3, got -1"),
        ("indices", 0, 2, "must be those of a symmetric matrix"),
        ("indptr", 1, 7, "`indptr` of the state must grow from 0 to 6"),
        ("indptr", 4, 60, "`indptr` of the state must grow from 0 to 6"),
        ("values", 1, 0.9, "must be those of a symmetric matrix"),
        ("values", 1, torch.nan, "`values` of the state must be finite and not negative"),
        ("lmax", slice(None), 1.0, "`lmax` of the state must not be below the largest eigenvalue"),
    ],
)
def test_a_state_that_is_no_laplacian_is_not_loaded(name, position, value, message):
    made = GraphLaplacian.from_edge_index(EDGES)
    before = copy.deepcopy(made.state_dict())
    state = copy.deepcopy(before)
    state[name][position] = value
    with pytest.raises(ValueError, match=message):
        made.load_state_dict(state)
    for key in ("indptr", "indices", "values", "lmax"):
        assert torch.equal(made.state_dict()[key], before[key])
