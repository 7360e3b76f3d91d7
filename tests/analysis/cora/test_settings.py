"""A setting changes the models that have it, and no others."""

from __future__ import annotations

import dataclasses
import importlib.util

import pytest
import torch

from analysis.cora.networks import make_network
from analysis.cora.settings import (
    AT_RANDOM,
    BINARY,
    CAYLEY16,
    CAYLEY64,
    CHANNEL,
    DECOUPLED,
    DIVIDED,
    EXTENDED,
    FIXED,
    LINEAR,
    MODELS,
    PLAIN,
    REAL,
    SCALED,
    STANDARD,
    USED_BY,
)
from analysis.cora.training import make_optimizer
from tests.analysis.cora.small_runs import OF_PYG, small

CHANGES = {
    "order": 3,
    "laplacian": SCALED,
    "loops": 2.0,
    "coeffs": REAL,
    "zoom": 2.5,
    "scaled_zoom": 7.0,
    "zooms": CHANNEL,
    "alpha": 0.3,
    "start": AT_RANDOM,
    "filter_lr": 0.7,
    "words": {DIVIDED: BINARY, BINARY: DIVIDED},
    "perceptron": {PLAIN: LINEAR, LINEAR: PLAIN},
    "score_dropout": 0.25,
}


def trained_step(model, recipe, inputs):
    """Return the parameters of a network after one step, which everything that it has takes part in."""
    torch.manual_seed(0)
    network = make_network(model, recipe, inputs)
    optimizer = make_optimizer(network, model, recipe)
    torch.nn.functional.cross_entropy(network(inputs.x), inputs.labels).backward()
    optimizer.step()
    return [p.detach() for p in network.parameters()]


@pytest.mark.parametrize("name", CHANGES)
def test_a_setting_that_a_model_does_not_have_changes_nothing(drawn, name):
    assert set(CHANGES) == set(USED_BY)
    with_pyg = importlib.util.find_spec("torch_geometric") is not None
    for model in MODELS:
        refused = name == "laplacian" and model in (CAYLEY16, CAYLEY64, DECOUPLED, FIXED)
        if refused or (model in OF_PYG and not with_pyg):
            continue
        recipe = small(model, EXTENDED if name == "scaled_zoom" else STANDARD)
        value = CHANGES[name]
        if isinstance(value, dict):
            value = value[getattr(recipe, name)]
        one, other = (
            trained_step(model, dataclasses.replace(recipe, **change), drawn) for change in ({}, {name: value})
        )
        same = len(one) == len(other) and all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
        assert same == (model not in USED_BY[name]), model
