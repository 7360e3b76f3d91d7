"""The citation network in small: splits, networks, stopping, resuming, and what pages say."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import cayleygsp as cg
from analysis import cora
from analysis._checkpoint import Checkpoint
from analysis._planetoid import load_planetoid
from analysis._runner import Run
from analysis.cora import orders, paper, responses, results, studies
from analysis.cora.data import Split, core_laplacian, data_name, load_graph, load_inputs, split_of
from analysis.cora.layers import (
    Diffusion,
    ShiftedCayleyConv,
    SparseDropout,
    diffused_features,
    series_length,
    transition,
)
from analysis.cora.networks import make_network, start_coefficients
from analysis.cora.page import reasons
from analysis.cora.script import ORDERS_SCRIPT
from analysis.cora.settings import (
    APPNP,
    APPNP_LONG,
    AT_RANDOM,
    BINARY,
    CAYLEY,
    CAYLEY16,
    CAYLEY64,
    CHANNEL,
    CHEBNET,
    DCNN,
    DECOUPLED,
    DIVIDED,
    ENTROPY,
    EXTENDED,
    FIXED,
    GAT,
    GCN,
    HALVED,
    INNER,
    LINEAR,
    LOSS,
    MARGIN,
    MODELS,
    MONET,
    NAMES,
    ONE,
    PATIENCE,
    PLAIN,
    RANDOM,
    REAL,
    RECIPES,
    SCALED,
    SPLITS,
    STANDARD,
    SWAPPED,
    USED_BY,
    WINDOW,
    Recipe,
    recipe_of,
)
from analysis.cora.training import is_kept, is_over, learned, loss_of, make_optimizer, train
from cayleygsp.nn import CayleyConv, GraphLaplacian
from cayleygsp.responses.basis import power_basis
from tests.analysis.helpers import run
from tests.analysis.test_planetoid import SHARED, write

CPU = torch.device("cpu")

OF_PYG = (GCN, GAT, MONET, APPNP, APPNP_LONG)
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch_geometric.*"),
]


@pytest.fixture(scope="module")
def drawn():
    return load_inputs("drawn", None, CPU)


def real_cora():
    data = SHARED if (SHARED / "cora").is_dir() else None
    try:
        return load_planetoid("cora", data)
    except OSError as error:
        pytest.skip(f"the data set is not here: {error}")


def small(model, split=STANDARD, **changes):
    return dataclasses.replace(recipe_of(model, split), **{"dataset": "drawn", "epochs": 6, **changes})


def test_the_quick_form_trains_and_says_so(tmp_path):
    document, page = run(cora, tmp_path, "--workers", "1", "--work", str(tmp_path / "work"))
    assert {row["model"] for row in document["rows"]} == {run["setting"]["model"] for run in document["runs"]}
    assert all(row["paper"] is None and row["n"] == 1 for row in document["rows"])  # the paper has no such graph
    best = max(row["mean"] for row in document["rows"])
    assert best > 45  # of four classes
    assert "The graph is drawn." in page


def test_orders_and_responses_in_small(tmp_path):
    common = ["--quick", "--workers", "1", "--epochs", "3", "--work", str(tmp_path / "work")]
    shown = {"orders": orders, "responses": responses, **dict.fromkeys(("starts", "decoupled", "dcnn"), studies)}
    for show, module in shown.items():
        folder = tmp_path / show
        assert cora.main([*common, "--show", show, "--results", str(folder)]) == 0
        document = json.loads((folder / "cora.json").read_text(encoding="utf-8"))
        assert module.markdown(document) == (folder / "cora.md").read_text(encoding="utf-8")
        assert (folder / "cora.png").stat().st_size > 1000
        if show == "responses":
            assert {one["split"] for one in document["learned"]} == {STANDARD, EXTENDED}


def test_a_study_shows_test_accuracies_only_where_nothing_is_chosen():
    for name, study in studies.STUDIES.items():
        assert len({json.dumps(change) for change in study.tried}) == len(study.tried)
        runs = [
            {
                "setting": change,
                "numbers": {"validation": 0.5 + k / 100, "validation_loss": 1.0, "best_epoch": 3}
                | ({"accuracy": 0.7} if study.with_test else {}),
            }
            for k, change in enumerate(study.tried)
        ]
        models = dict.fromkeys(change["model"] for change in study.tried)
        document = studies.collect(name, {model: recipe_of(model, study.split) for model in models}, runs)
        assert len(document["runs"]) == len(runs)
        assert all(("accuracy" in run["numbers"]) is study.with_test for run in document["runs"])
        header, rows = studies.table(document)
        assert ("test accuracy, %" in header) is (study.with_test and study.split != INNER)
        assert all(len(row) == len(header) for row in rows)
        assert all(row["test"] == (pytest.approx(70) if study.with_test else None) for row in document["rows"])
        lines = studies.findings(document)
        if name == "dcnn":
            assert "below the paper's 72.3: as in the table (70.00);" in lines[0]
            assert lines[1] == "DCNN, at or above the paper's 72.3: none."
        elif not study.with_test or study.split == INNER:
            assert all("vertices is" in line for line in lines)
    assert studies.label({"change": {"filter_lr": 0.001, "decay_on": "all"}}) == "filter lr 0.001, decay on all"


def test_a_page_says_where_a_reason_stands_or_that_none_was_found():
    def row(model, mean, theirs):
        return {"model": model, "mean": mean, "sd": 0.3, "paper": theirs}

    rows = [row(DCNN, 75.0, 72.3), row(GCN, 81.0, 81.6), row(MONET, 84.0, 81.7), row(APPNP, 83.0, None)]
    lines = reasons({"config": {"split": STANDARD}, "rows": rows})
    assert len(lines) == 2
    assert "DCNN" in lines[0]
    assert "(cora_dcnn.md)" in lines[0]
    assert lines[1] == "Why MoNet is not nearer to the paper's 81.7: no reason was found."
    rows = [row(GCN, 89.0, 86.64), row(CAYLEY, 90.0, 88.09)]
    (line,) = reasons({"config": {"split": EXTENDED}, "rows": rows})
    assert line.endswith("no reason was found.")
    others = [
        {"split": split, "rows": {GCN: {"mean": mean, "sd": 0.2, "n": 7}}}
        for split, mean in ((HALVED, 87.5), (SWAPPED, 86))
    ]
    (line,) = reasons({"config": {"split": EXTENDED}, "rows": rows, "other_halves": others})
    assert "(cora_halved.md) it is 87.50 ± 0.20 and with [the halves swapped](cora_swapped.md) it is 86.00" in line


def test_bars_that_stand_in_a_table_are_runs_of_the_table():
    recipes = {model: recipe_of(model, EXTENDED) for model in orders.MODELS}
    settings = orders.settings_of(quick=False)
    short = [orders.changes(setting, recipes[setting["model"]]) for setting in settings]
    assert {"model": CAYLEY} in short
    assert {"model": CHEBNET} in short
    numbers = {"accuracy": 0.5, "n_parameters": 1}
    rows = orders.collect(recipes, [{"setting": setting, "numbers": numbers} for setting in short])["rows"]
    assert [{name: row[name] for name in setting} for row, setting in zip(rows, settings, strict=True)] == settings


def test_splits_of_cora_are_those_of_the_paper():
    graph = real_cora()
    standard, extended = split_of(graph, STANDARD), split_of(graph, EXTENDED)
    assert [len(part) for part in dataclasses.astuple(standard)] == [140, 500, 1000]
    assert [len(part) for part in dataclasses.astuple(extended)] == [1708, 500, 500]
    assert extended.train.tolist() == list(range(1708))
    np.testing.assert_array_equal(np.concatenate([extended.validation, extended.test]), standard.test)
    assert extended.validation.max() < extended.test.min()
    swapped = split_of(graph, SWAPPED)
    np.testing.assert_array_equal(swapped.test, extended.validation)
    np.testing.assert_array_equal(swapped.validation, extended.test)
    halved, again, other = (split_of(graph, HALVED, seed) for seed in (0, 0, 1))
    assert [len(part) for part in dataclasses.astuple(halved)] == [1708, 500, 500]
    np.testing.assert_array_equal(np.union1d(halved.validation, halved.test), standard.test)
    np.testing.assert_array_equal(halved.test, again.test)
    assert 200 < np.isin(halved.test, other.test).sum() < 300  # 250 in the mean, with a deviation of 8
    assert 200 < np.isin(halved.test, extended.test).sum() < 300


@pytest.mark.parametrize("name", SPLITS)
def test_splits_have_no_vertex_twice_and_only_labelled_ones(name):
    graph = load_graph("drawn")
    labels = graph.labels.copy()
    labels[graph.train[0]] = -1  # as a test vertex of Citeseer without a row
    if name == STANDARD:
        labels = graph.labels
    graph = dataclasses.replace(graph, labels=labels)
    for seed in range(3):
        split = split_of(graph, name, seed)
        everything = np.concatenate([split.train, split.validation, split.test])
        assert len(np.unique(everything)) == len(everything)
        assert (graph.labels[everything] >= 0).all()
        if name == INNER:
            assert not np.isin(everything, graph.test).any()


def test_random_splits_have_the_same_number_of_every_class():
    graph = load_graph("drawn")
    first, again, other = (split_of(graph, RANDOM, seed) for seed in (0, 0, 1))
    assert np.bincount(graph.labels[first.train]).tolist() == [5] * 4
    np.testing.assert_array_equal(first.test, again.test)
    assert first.test.tolist() != other.test.tolist()
    assert isinstance(first, Split)
    names = "standard, extended, swapped, halved, random, inner"
    with pytest.raises(ValueError, match=f"`name` must be one of {names}, got half"):
        split_of(graph, "half")


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
    assert paper.PARAMETERS[split].get(model, expected) == expected


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


def test_dropout_of_sparse_features_is_that_of_dense_ones(drawn):
    layer = SparseDropout(0.6)
    torch.manual_seed(0)
    mean = sum(layer(drawn.x).to_dense() for _ in range(600)) / 600
    x = drawn.x.to_dense()
    assert (layer(drawn.x).to_dense()[x == 0] == 0).all()
    # an entry has a standard deviation of √(0.6/0.4), so that of the mean is a twentieth; five of them are allowed
    torch.testing.assert_close(mean[x > 0] / x[x > 0], torch.ones(int((x > 0).sum())), rtol=0, atol=0.25)
    layer.eval()
    assert layer(drawn.x) is drawn.x


def dense_shifted(layer, x, graph):
    """Return a layer's result by the eigendecomposition of 2L/λ_max − I."""
    L = core_laplacian(graph, "combinatorial")
    lam, Phi = np.linalg.eigh(2 * L.matrix.toarray() / L.lmax - np.eye(L.n_vertices))
    C = (layer.zoom.item() * lam - 1j) / (layer.zoom.item() * lam + 1j)
    c = layer.coefficients().detach().double().numpy()
    real = layer.real_coeffs
    y = 0
    for i in range(c.shape[1]):
        g = c[0, i][None, :] * np.ones((lam.size, 1))
        for j in range(1, layer.order + 1):
            cj = c[j, i] if real else c[2 * j - 1, i] + 1j * c[2 * j, i]
            g = g + 2 * np.real(np.multiply.outer(C**j, cj))
        y = y + Phi @ (g * (Phi.T @ x[:, i])[:, None])
    return y


@pytest.mark.parametrize(("order", "real", "zoom"), [(1, False, 1.0), (3, True, 0.4), (2, False, 2.5)])
def test_filters_of_the_shifted_laplacian_are_those_of_its_eigenvalues(drawn, order, real, zoom):
    torch.manual_seed(order)
    layer = ShiftedCayleyConv(60, 3, order, None, False, real_coeffs=real, zoom=zoom, tol=1e-5)
    expected = dense_shifted(layer, drawn.x.to_dense().double().numpy(), drawn.graph)
    np.testing.assert_allclose(layer(drawn.x, drawn.combinatorial).detach().numpy(), expected, atol=1e-4)
    dense = layer(drawn.x.to_dense(), drawn.combinatorial).detach().numpy()
    np.testing.assert_allclose(dense, expected, atol=1e-4)


def test_the_shifted_layer_has_the_gradient_of_its_zoom(drawn):
    torch.manual_seed(0)
    layer = ShiftedCayleyConv(60, 3, 2, None, False, zoom=1.3, tol=1e-9).double()
    x = drawn.x.to_dense().double()
    graph = GraphLaplacian.from_laplacian(core_laplacian(drawn.graph, "combinatorial"))

    def value(log_zoom):
        with torch.no_grad():
            layer.log_zoom.fill_(log_zoom)
        return layer(x, graph).square().sum()

    value(0.2).backward()
    slope = (value(0.2 + 1e-4) - value(0.2 - 1e-4)).item() / 2e-4
    assert layer.log_zoom.grad.item() == pytest.approx(slope, rel=1e-4)


def test_the_package_refuses_the_shifted_laplacian(drawn):
    L = core_laplacian(drawn.graph, "combinatorial")
    shifted = (2 / L.lmax) * L.matrix.toarray() - np.eye(L.n_vertices)
    with pytest.raises(ValueError, match="is no combinatorial Laplacian"):
        cg.Laplacian.from_matrix(shifted)
    with pytest.raises(TypeError, match=r"must be a cayleygsp\.Laplacian"):
        GraphLaplacian.from_laplacian(shifted)


def test_series_of_the_shifted_laplacian_are_long_enough():
    x = np.cos(np.pi * (np.arange(4000) + 0.5) / 4000)
    for zoom in (0.2, 1.0, 4.0):
        for order in (1, 3, 6):
            C = ((zoom * x - 1j) / (zoom * x + 1j)) ** order
            k = np.arange(400)
            series = np.abs(2 / 4000 * np.cos(k[:, None] * np.arccos(x)) @ (2 * C))
            assert series[series_length(zoom, order, 1e-4) :].sum() < 1e-4


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


def test_diffusion_is_what_its_formula_says(drawn):
    torch.manual_seed(0)
    layer = Diffusion(60, 4, 2)
    P, X = transition(drawn).toarray(), drawn.x.to_dense().double().numpy()
    np.testing.assert_allclose(P.sum(0), 1 - 1 / (drawn.graph.adjacency.sum(axis=0) + 1))
    diffused = np.hstack([X, P @ X, P @ P @ X])
    w, W, b = (p.detach().double().numpy() for p in (layer.weight, layer.dense.weight, layer.dense.bias))
    x = diffused_features(drawn, 2)
    torch.testing.assert_close(layer(x).double(), torch.from_numpy(np.tanh(diffused * w) @ W.T + b), rtol=0, atol=1e-5)
    gradients = []
    for features in (x, x.to_dense()):
        layer.zero_grad()
        layer(features).square().sum().backward()
        gradients.append([p.grad.clone() for p in layer.parameters()])
    for sparse, dense in zip(*gradients, strict=True):
        torch.testing.assert_close(sparse, dense, rtol=1e-4, atol=1e-5)


def test_loops_are_those_of_the_graph_with_ones_on_its_diagonal(drawn):
    L = core_laplacian(drawn.graph, "normalized", 1.0).matrix.toarray()
    A = drawn.graph.adjacency.toarray() + np.eye(drawn.graph.n_vertices)
    root = 1 / np.sqrt(A.sum(axis=1))
    np.testing.assert_allclose(L, np.eye(len(A)) - root[:, None] * A * root, atol=1e-12)
    torch.testing.assert_close(drawn.with_loops(0.0).values, drawn.normalized.values)


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


def test_the_curve_of_many_filters_is_the_root_of_their_mean_square(drawn):
    recipe = small(CAYLEY, EXTENDED, order=3)
    network = make_network(CAYLEY, recipe, drawn)
    shown = learned(network, recipe, drawn)["responses"]
    for layer, curve in zip(network.layers, shown["curves"], strict=True):
        g = layer.responses(shown["frequencies"])
        np.testing.assert_allclose(curve, np.sqrt((g**2).mean(axis=(1, 2))), rtol=1e-5)


def test_the_hinge_loss_is_that_of_probabilities():
    scores, labels = torch.tensor([[2.0, 0.0, 0.5]]), torch.tensor([0])
    p = torch.softmax(scores, 1)[0]
    assert loss_of(scores, labels, MARGIN).item() == pytest.approx(1 - float(p[0]) + float(p[2]))
    assert loss_of(scores, labels, ENTROPY).item() == pytest.approx(-float(p[0].log()))
    wrong = torch.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]), torch.tensor([1, 1])
    p = torch.softmax(wrong[0], 1)
    losses = [1 + float(p[0, 0] - p[0, 1]), 1 + float(p[1, 0] - p[1, 1])]
    assert loss_of(*wrong, MARGIN).item() == pytest.approx(np.mean(losses))


def test_binary_words_are_diffused_as_ones(drawn):
    X = diffused_features(drawn, 1, binary=True).to_dense()
    words = (drawn.x.to_dense() > 0).float()
    torch.testing.assert_close(X[:, : words.shape[1]], words)
    np.testing.assert_allclose(X[:, words.shape[1] :], transition(drawn).toarray() @ words.numpy(), atol=1e-6)


def test_rules_of_stopping():
    history = {"validation": [0.5, 0.6, 0.6, 0.6], "loss": [1.0, 0.8, 0.9, 0.7]}
    assert is_kept(history, PATIENCE)
    assert is_kept(history, LOSS)
    worse = {"validation": [0.5, 0.6, 0.5], "loss": [1.0, 0.8, 0.7]}
    assert not is_kept(worse, PATIENCE)
    assert is_kept(worse, LOSS)
    assert is_kept(worse, WINDOW)
    stuck = {"validation": [0.6, 0.5, 0.5], "loss": [0.5, 0.7, 0.6]}
    assert is_over(stuck, PATIENCE, 2)
    assert is_over(stuck, LOSS, 2)
    assert not is_over(stuck, PATIENCE, 3)
    assert not is_over({"validation": [0.6, 0.5, 0.6], "loss": [0.5, 0.7, 0.6]}, PATIENCE, 2)  # as good as ever
    assert is_over({"validation": [0.0] * 3, "loss": [0.5, 0.5, 0.6]}, WINDOW, 2)
    assert not is_over({"validation": [0.0] * 3, "loss": [0.5, 0.5, 0.5]}, WINDOW, 2)
    assert not is_over({"validation": []}, WINDOW, 2)


def test_a_run_that_was_interrupted_ends_with_the_same_numbers(tmp_path):
    class Eager(Checkpoint):
        """Writes after every step, and interrupts the run."""

        is_due = True
        left = 7

        def save(self, state):
            super().save(state)
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

    for model in (CAYLEY16, DCNN):
        recipe, one = small(model, epochs=12, patience=4), Run({"model": model}, 3)
        whole = train(recipe, one, Checkpoint(tmp_path / "a.pt"), CPU)
        for k in (7, 30):
            checkpoint = Eager(tmp_path / f"{model}{k}.pt")
            checkpoint.left = k
            try:
                numbers = train(recipe, one, checkpoint, CPU)
            except KeyboardInterrupt:
                numbers = train(recipe, one, Checkpoint(checkpoint.path), CPU)
            assert {**numbers, "timing": None} == {**whole, "timing": None}


def test_killed_and_started_again_the_numbers_are_the_same(tmp_path):
    argv = ["--quick", "--model", CHEBNET, "--runs", "3", "--epochs", "40", "--workers", "1"]
    command = [sys.executable, "-m", "analysis.cora", *argv, "--work", str(tmp_path / "killed")]
    process = subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not list((tmp_path / "killed").glob("*/model=*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    documents = []
    for work in ("killed", "whole"):
        documents.append(cora.compute([*argv, "--work", str(tmp_path / work)], quiet=True)[1])
    numbers = [[run["numbers"] for run in document["runs"]] for document in documents]
    assert len(numbers[0]) == 3
    assert numbers[0] == numbers[1]


def test_findings_follow_the_numbers():
    def row(model, mean, sd=0.5):
        return {"model": model, "mean": mean, "sd": sd, "n": 50, "paper": paper.ACCURACY[STANDARD][model]}

    lines = results.findings({"rows": [row(CAYLEY16, 81.8), row(GCN, 81.5), row(MONET, 79.0)]})
    assert "within one deviation of the paper's 81.9" in lines[0]
    assert "GCN is within 1.5 points" in lines[1]
    assert "MoNet is not within 1.5 points" in lines[2]
    assert lines[3].endswith("as in the paper.")
    lines = results.findings({"rows": [row(CAYLEY16, 81.6), row(GCN, 81.5)]})
    assert f"GCN ≈ {NAMES[CAYLEY16]} (≈: not more than two standard errors apart); in the paper GCN <" in lines[2]
    single = [{**row(CAYLEY16, 80.0), "n": 1}, {**row(GCN, 81.5), "n": 1}]
    assert f"{NAMES[CAYLEY16]} ≈ GCN" in results.findings({"rows": single})[2]
    assert "81.9: 80.00 (-1.90)." in results.findings({"rows": single})[0]
    lines = results.findings({"rows": [row(CAYLEY16, 80.0), row(GCN, 81.5)]})
    assert "not within one deviation" in lines[0]
    assert "in the paper GCN <" in lines[2]
    lines = results.findings({"rows": [{**row(CAYLEY16, 80.0), "cpu_seconds": 6.0, "n": 3}]})
    assert "take 5.0 minutes of processor time" in lines[-1]
    assert "2.5 minutes on two cores" in lines[-1]
    one = {"model": CAYLEY, "mean": 88.0, "sd": 0.5, "n": 50, "paper": 88.09, "validation": 86.0}
    lines = results.findings({"rows": [one], "config": {"split": EXTENDED}})
    assert "+2.00 to +2.00 points on the test half" in lines[-1]
    for mean, n_near in ((87.0, 1), (86.5, 0)):
        other_halves = [{"split": HALVED, "rows": {CAYLEY: {"mean": mean, "sd": 0.5, "n": 9}}}]
        halves = {"rows": [one], "config": {"split": EXTENDED}, "other_halves": other_halves}
        line = results.findings(halves)[-1]
        assert f"(cora_halved.md) {n_near} of 1 methods of the paper are within 1.5 points" in line
        assert line.endswith(f"{NAMES[CAYLEY]} {mean:.2f} ± 0.50 (88.09).")
    other = {**one, "model": GCN, "mean": 88.5, "validation": 85.0}
    lines = results.findings({"rows": [one, other], "config": {"split": EXTENDED}})
    assert lines[-1].endswith(f"have: {NAMES[CAYLEY]} 86.00; GCN 85.00.")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--dropout", "1.5"], "`dropout` must be at least 0 and less than 1"),
        (["--split", "half"], "`split` must be one of standard"),
        (["--hidden", "0"], "`hidden` must be positive"),
        (["--model", "resnet"], "invalid choice: 'resnet'"),
        (["--model", CAYLEY16, "--laplacian", "shifted"], "`laplacian` must be normalized for cayleynet-16"),
    ],
)
def test_invalid_options_are_named(argv, message, capsys):
    with pytest.raises(SystemExit):
        cora.main(["--quick", *argv])
    assert message in capsys.readouterr().err


def test_damaged_files_and_files_of_other_results_are_named_before_anything_is_computed(tmp_path, capsys):
    write(tmp_path, index="8\n5\n")
    (tmp_path / "none.json").write_text("[]")
    (tmp_path / "other.json").write_text(json.dumps({"config": {"dataset": "cora"}, "rows": [], "runs": []}))
    (tmp_path / "text.json").write_text("no JSON")
    for argv, message in (
        (["--dataset", "citeseer", "--data", str(tmp_path)], "features and labels must be as many"),
        (["--quick", "--recorded", str(tmp_path / "none.json")], "none.json must be the JSON file of a result"),
        (["--quick", "--recorded", str(tmp_path / "other.json")], "a result with the data drawn, got cora"),
        (["--quick", "--recorded", str(tmp_path / "text.json")], "text.json must be the JSON file of a result"),
        (["--quick", "--beside", str(tmp_path / "nothing.json")], "--beside must be a file"),
        (["--quick", "--beside", str(tmp_path / "text.json")], "got no JSON"),
    ):
        with pytest.raises(SystemExit):
            cora.main(argv)
        assert message in capsys.readouterr().err
    write(tmp_path)
    (tmp_path / "ind.citeseer.ty").write_bytes(b"")
    with pytest.raises(SystemExit):
        cora.main(["--dataset", "citeseer", "--data", str(tmp_path)])
    assert "ind.citeseer.ty: the file is damaged" in capsys.readouterr().err


def test_runs_of_other_files_with_the_same_name_are_not_taken_over(tmp_path):
    names = set()
    for k in range(2):
        folder = tmp_path / f"data{k}"
        folder.mkdir()
        write(folder, y=np.eye(3, dtype=np.int32)[[0, 1, 2 - k]])
        names.add(data_name("citeseer", folder))
        assert data_name("citeseer", folder) in names
    assert len(names) == 2
    assert all(name.startswith("citeseer-") for name in names)
    argv = ["--dataset", "citeseer", "--model", CHEBNET, "--runs", "1", "--epochs", "1", "--workers", "1"]
    argv += ["--work", str(tmp_path / "work")]
    for k in range(2):
        cora.compute([*argv, "--data", str(tmp_path / f"data{k}")], quiet=True)
    assert len(list((tmp_path / "work").glob("citeseer-*/model=*.json"))) == 2


def test_tables_with_other_halves_are_told_beside(tmp_path):
    argv = ["--quick", "--model", CHEBNET, "--workers", "1", "--epochs", "1", "--work", str(tmp_path / "work")]
    assert cora.main([*argv, "--split", HALVED, "--json", str(tmp_path / "halved.json")]) == 0
    beside = ["--beside", str(tmp_path / "halved.json")]
    _, document = cora.compute([*argv, "--split", EXTENDED, *beside], quiet=True)
    (other,) = document["other_halves"]
    assert other["split"] == HALVED
    assert set(other["rows"]) == {CHEBNET}


def test_studies_for_choices_do_not_compute_test_accuracies(drawn, tmp_path):
    recipe, one = small(CAYLEY16), Run({"model": CAYLEY16}, 0)
    with_test = train(recipe, one, Checkpoint(tmp_path / "a.pt"), CPU)
    without = train(recipe, one, Checkpoint(tmp_path / "b.pt"), CPU, with_test=False)
    assert set(with_test) - set(without) == {"accuracy"}
    assert with_test["validation"] == without["validation"]


def test_filters_may_start_at_random_with_the_same_size(drawn):
    torch.manual_seed(0)
    starts = [make_network(CAYLEY16, small(CAYLEY16, order=40, start=AT_RANDOM), drawn) for _ in range(2)]
    first, second = (network.layers[0].coefficients().detach() for network in starts)
    assert not torch.equal(first, second)
    low_pass = start_coefficients(small(CAYLEY16, order=40))
    assert float(first.square().mean().sqrt()) == pytest.approx(np.sqrt(np.mean(low_pass**2)), rel=0.3)


def test_missing_files_are_named_before_anything_is_computed(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cora.main(["--dataset", "pubmed", "--data", str(tmp_path)])
    assert "no file ind.pubmed.graph" in capsys.readouterr().err


def test_every_model_has_a_recipe_and_finished_runs_alone_are_written(tmp_path):
    assert {model for model, _ in RECIPES} == set(MODELS)
    argv = ["--quick", "--model", CHEBNET, "--workers", "1", "--work", str(tmp_path / "work")]
    cora.compute([*argv, "--runs", "1"], quiet=True)
    _, document = cora.compute([*argv, "--runs", "2", "--finished"], quiet=True)
    assert [row["n"] for row in document["rows"]] == [1]


def test_runs_of_a_recorded_figure_are_taken_over_as_they_are(tmp_path):
    argv = ["--quick", "--show", "orders", "--workers", "1", "--epochs", "1"]
    _, document = ORDERS_SCRIPT.compute([*argv, "--work", str(tmp_path / "a")], quiet=True)
    path = tmp_path / "figure.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    again = [*argv, "--runs", "2", "--finished", "--recorded", str(path), "--work", str(tmp_path / "b")]
    _, more = ORDERS_SCRIPT.compute(again, quiet=True)
    assert len(document["runs"]) == 14
    assert more["runs"] == document["runs"]
    assert more["rows"] == document["rows"]
    assert "were taken over" in orders.markdown(more)
    assert "were taken over" not in orders.markdown(document)
    changed = [{**row, "n": 50 if row["laplacian"] != orders.SHIFTED else 3} for row in document["rows"]]
    assert "over 50 runs of each bar (3 of the shifted Laplacian);" in orders.markdown({**document, "rows": changed})


def test_runs_of_a_recorded_table_with_the_same_recipe_are_taken_over(tmp_path):
    argv = ["--quick", "--model", CHEBNET, "--workers", "1", "--epochs", "2"]
    _, document = cora.compute([*argv, "--runs", "2", "--work", str(tmp_path / "a")], quiet=True)
    path = tmp_path / "table.json"
    for row in document["rows"]:
        del row["recipe"]["words"]  # as in a table from before there was such a setting
    path.write_text(json.dumps(document), encoding="utf-8")
    again = [*argv, "--runs", "3", "--recorded", str(path), "--work", str(tmp_path / "b")]
    _, more = cora.compute(again, quiet=True)
    assert [run["numbers"] for run in more["runs"]][:2] == [run["numbers"] for run in document["runs"]]
    assert "were taken over" in cora.markdown(more)
    assert "were taken over" not in cora.markdown(document)
    assert len(list((tmp_path / "b").glob("*/model=*.json"))) == 1
    _, others = cora.compute([*again, "--finished", "--lr", "0.5"], quiet=True)
    assert others["rows"] == []
    with pytest.raises(SystemExit):
        cora.main(["--quick", "--recorded", str(tmp_path / "nothing.json")])
