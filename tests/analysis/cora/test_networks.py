"""The networks: sizes, starts, and what is learned."""

from __future__ import annotations

import dataclasses
import importlib.util

import numpy as np
import pytest
import torch

from analysis.cora.data import load_inputs
from analysis.cora.networks import make_network, start_coefficients
from analysis.cora.settings import (
    AT_RANDOM,
    CAYLEY,
    CAYLEY16,
    CAYLEY64,
    CHANNEL,
    CHEBNET,
    DCNN,
    DECOUPLED,
    EXTENDED,
    FIXED,
    GCN,
    LINEAR,
    ONE,
    PAPER_PARAMETERS,
    PLAIN,
    RECIPES,
    STANDARD,
    Recipe,
    recipe_of,
)
from analysis.cora.training import make_optimizer
from cayleygsp.nn import CayleyConv
from cayleygsp.responses.basis import power_basis
from tests.analysis.cora.small_runs import CPU, OF_PYG, small
from tests.analysis.helpers import SHARED, real_cora


def parameters(network, *, of_filters=True):
    named = {name: p for name, p in network.named_parameters() if p.requires_grad}
    small_ones = ("log_zoom", "coeffs") if not of_filters else ()
    return sum(p.numel() for name, p in named.items() if not name.endswith(small_ones))


@pytest.mark.parametrize(
    ("model", "split", "expected"),
    [
        (CAYLEY16, STANDARD, 23_040),
        (CAYLEY64, STANDARD, 92_160),
        (GCN, STANDARD, 23_040),
        (DCNN, STANDARD, 22_935),
        (CAYLEY, EXTENDED, 46_080),
        (CHEBNET, EXTENDED, 46_080),
        (DCNN, EXTENDED, 47_546),
    ],
)
def test_networks_have_the_parameters_of_the_tables(model, split, expected):
    real_cora()
    if model in OF_PYG:
        pytest.importorskip("torch_geometric", reason="GCN is that of PyTorch Geometric")
    inputs = load_inputs("cora", SHARED if (SHARED / "cora").is_dir() else None, CPU)
    network = make_network(model, recipe_of(model, split), inputs)
    assert parameters(network, of_filters=False) == expected
    assert PAPER_PARAMETERS[split].get(model, expected) == expected


def test_all_networks_map_features_to_scores_and_learn(drawn):
    with_pyg = importlib.util.find_spec("torch_geometric") is not None
    for (model, split), recipe in RECIPES.items():
        if model in OF_PYG and not with_pyg:
            continue
        recipe = dataclasses.replace(recipe, dataset="drawn")
        torch.manual_seed(0)
        network = make_network(model, recipe, drawn)
        optimizer = make_optimizer(network, model, recipe)
        scores = network(drawn.x)
        assert scores.shape == (drawn.graph.n_vertices, 4), (model, split)
        before = [p.detach().clone() for p in network.parameters() if p.requires_grad]
        torch.nn.functional.cross_entropy(scores, drawn.labels).backward()
        optimizer.step()
        learned = [p for p in network.parameters() if p.requires_grad]
        moved = [not torch.equal(a, b) for a, b in zip(before, learned, strict=True)]
        assert all(moved), (model, split)


def test_a_shared_filter_starts_as_a_low_pass():
    recipe = Recipe(order=2, zoom=2.0)
    layer = CayleyConv(2, 2, 2, zoom=2.0, shared_filter=True, bias=False)
    layer.set_coefficients(torch.from_numpy(start_coefficients(recipe)))
    with torch.no_grad():
        layer.weight.copy_(torch.eye(2))
    lam = np.linspace(0, 2, 9)
    np.testing.assert_allclose(layer.responses(lam)[:, 0, 0], 1 / (1 + (2 * lam) ** 2), atol=1e-5)
    near = start_coefficients(Recipe(order=6, zoom=3.0, alpha=0.1))
    layer = CayleyConv(1, 1, 6, zoom=3.0, shared_filter=True, bias=False)
    layer.set_coefficients(torch.from_numpy(near))
    with torch.no_grad():
        layer.weight.fill_(1.0)
    np.testing.assert_allclose(layer.responses(lam)[:, 0, 0], 0.1 / (0.1 + 0.9 * lam), atol=0.05)


def test_the_decoupled_network_starts_as_personalized_pagerank():
    recipe = recipe_of(DECOUPLED, STANDARD)
    lam = np.linspace(0, 2, 2001)
    response = power_basis(recipe.order, recipe.zoom * lam, real=False) @ start_coefficients(recipe)
    assert np.abs(response - recipe.alpha / (recipe.alpha + (1 - recipe.alpha) * lam)).max() < 0.003


def test_a_decoupled_network_may_have_a_zoom_for_each_class(drawn):
    networks = []
    for zooms in (ONE, CHANNEL):
        recipe = small(DECOUPLED, zooms=zooms, loops=1.0)
        networks.append(make_network(DECOUPLED, recipe, drawn).eval())
    one, many = networks
    many.layers.load_state_dict(one.layers.state_dict())
    assert many.propagate.zoom.shape == (4,)
    torch.testing.assert_close(many(drawn.x), one(drawn.x), rtol=1e-3, atol=1e-4)  # they start as the same filter
    groups = make_optimizer(many, DECOUPLED, recipe).param_groups
    slow = [p for group in groups if group["lr"] == recipe.filter_lr for p in group["params"]]
    assert {id(p) for p in slow} == {id(many.propagate.log_zoom), id(many.propagate.weight)}


def test_a_filter_that_is_not_learned_stays_where_it_starts(drawn):
    recipe = small(FIXED)
    torch.manual_seed(0)
    network = make_network(FIXED, recipe, drawn)
    before = [p.detach().clone() for p in network.parameters()]
    optimizer = make_optimizer(network, FIXED, recipe)
    network(drawn.x).square().sum().backward()
    optimizer.step()
    moved = [not torch.equal(p, q) for p, q in zip(network.parameters(), before, strict=True)]
    inside = {id(p) for p in network.propagate.parameters()}
    assert moved == [id(p) not in inside for p in network.parameters()]
    torch.manual_seed(0)
    other = make_network(DECOUPLED, recipe, drawn)
    torch.testing.assert_close(list(other.parameters()), before, rtol=0, atol=0)


def test_a_perceptron_may_be_torchs_with_biases(drawn):
    plain, linear = (
        make_network(DECOUPLED, small(DECOUPLED, perceptron=kind), drawn).eval() for kind in (PLAIN, LINEAR)
    )
    assert all(layer.bias is None for layer in plain.layers)
    x = drawn.x.to_dense()
    for layer, act in zip(linear.layers, (torch.relu, lambda x: x), strict=True):
        x = act(x @ layer.weight.T + layer.bias)
    torch.testing.assert_close(linear(drawn.x), linear.propagate(x, linear.graph))


def test_scores_are_dropped_before_the_filter_in_training_alone(drawn):
    recipe = small(DECOUPLED, dropout=0.0, score_dropout=0.9)
    network = make_network(DECOUPLED, recipe, drawn)
    seen = []
    network.propagate.register_forward_hook(lambda module, inputs, output: seen.append(inputs[0]))
    network(drawn.x)
    network.eval()(drawn.x)
    dropped, whole = seen
    assert 0.7 < float((dropped == 0).double().mean()) < 1
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 10 * whole[kept])


def test_filters_may_start_at_random_with_the_same_size(drawn):
    torch.manual_seed(0)
    starts = [make_network(CAYLEY16, small(CAYLEY16, order=40, start=AT_RANDOM), drawn) for _ in range(2)]
    first, second = (network.layers[0].coefficients().detach() for network in starts)
    assert not torch.equal(first, second)
    low_pass = start_coefficients(small(CAYLEY16, order=40))
    assert float(first.square().mean().sqrt()) == pytest.approx(np.sqrt(np.mean(low_pass**2)), rel=0.3)
