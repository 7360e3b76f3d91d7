"""The timing study: every method computes the same filter, and page and picture come from the numbers."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import cayleygsp as cg
from analysis import complexity
from analysis._networks import CHEBNET
from analysis.complexity import (
    AVERAGE_DEGREE,
    EIGENBASIS,
    INVERSION,
    KINDS,
    MODELS,
    SCRIPT,
    SERIES,
    SIZES,
    TIMED_ORDERS,
    exponent,
    make_graph,
    make_layer,
)
from cayleygsp.nn import GraphLaplacian
from tests import oracle
from tests.analysis.helpers import run


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return run(complexity, tmp_path_factory.mktemp("complexity"))


def test_every_model_is_timed_at_every_order_and_size(ran):
    document, _ = ran
    found = {(row["model"], row["kind"], row["order"]) for row in document["by_order"]}
    assert found == {(m, k, r) for m in MODELS for k in KINDS for r in TIMED_ORDERS[1]}
    assert {row["n_vertices"] for row in document["by_size"]} == set(SIZES[1])
    assert all(row["seconds"]["mean"] > 0 for row in [*document["by_order"], *document["by_size"]])


def test_ratios_are_those_of_the_times_and_of_the_paper(ran):
    document, _ = ran
    by_key = {(row["model"], row["kind"], row["order"]): row for row in document["by_order"]}
    for (model, kind, order), row in by_key.items():
        base = by_key[CHEBNET, kind, order]["seconds"]["mean"]
        assert row["ratio"] == pytest.approx(row["seconds"]["mean"] / base)
        assert (row["paper_ratio"] is None) == (model in (SERIES, EIGENBASIS))
    # the paper's own figure of ratios, of which times are another
    assert by_key[INVERSION, "test", 1]["paper_ratio"] == pytest.approx(29.09, rel=2e-3)
    assert by_key["jacobi 13", "training", 3]["paper_ratio"] == pytest.approx(5.354, rel=2e-3)
    changed = copy.deepcopy(document)
    row = next(row for row in changed["by_order"] if row["model"] == INVERSION and row["kind"] == "test")
    row |= {"ratio": 4.0, "paper_ratio": 29.0}
    row["seconds"]["mean"] = 0.123
    assert "123 ms, 4× (29×, -25)" in complexity.markdown(changed)


@pytest.mark.parametrize("model", [INVERSION, EIGENBASIS, SERIES])
def test_exact_layers_equal_the_dense_filter(model):
    L = cg.laplacian(make_graph(60, 0))
    layer = make_layer(model, 3).double()
    x = np.random.default_rng(0).standard_normal((60, 2))
    with torch.no_grad():
        y = layer(torch.from_numpy(x.T[:, :, None].copy()), GraphLaplacian.from_laplacian(L)).numpy()
    for channel in (0, 31):
        G = oracle.dense_filter(L, layer.polynomial(0, channel))
        np.testing.assert_allclose(y[:, :, channel], (G @ x).T, atol=3e-3 if model == SERIES else 1e-9)


def test_inversion_has_the_gradients_of_the_eigenbasis():
    L = GraphLaplacian.from_laplacian(cg.laplacian(make_graph(60, 0)))
    layers = [make_layer(model, 3).double() for model in (INVERSION, EIGENBASIS)]
    layers[1].load_state_dict(layers[0].state_dict())
    x = torch.randn(3, 60, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for layer in layers:
        layer(x, L).square().sum().backward()
    for ours, theirs in zip(*(layer.parameters() for layer in layers), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad)


def test_graphs_have_as_many_edges_a_vertex_at_every_size():
    for n in (300, 3000, 30_000):
        graph = make_graph(n, 0)
        assert graph.n_vertices == n
        assert 2 * graph.n_edges / n == pytest.approx(AVERAGE_DEGREE, rel=0.08)


def test_findings_can_turn_out_either_way(ran):
    document = copy.deepcopy(ran[0])
    for row in document["by_order"]:
        row["seconds"]["mean"] = {SERIES: 2.0 * row["order"], "jacobi 13": 4.0}.get(row["model"], 1.0)
    for e in document["exponents"]:
        e["exponent"] = 0.9
    sentences = complexity.findings(document)
    assert sentences[0].startswith(
        "Test: our series takes 0.50 (r = 1) to 1.50 (r = 3) of the time of Jacobi with K = 13"
    )
    assert "0.90 to 0.90: their time grows at most linearly" in sentences[2]
    next(e for e in document["exponents"] if e["model"] == SERIES)["exponent"] = 1.5
    assert "0.90 to 1.50: their time grows faster than linearly" in complexity.findings(document)[2]


def test_exponent_is_the_slope():
    rows = [
        {"model": CHEBNET, "kind": "test", "n_vertices": n, "seconds": {"mean": 1e-6 * n**1.5}} for n in (10, 100, 1000)
    ]
    assert exponent(rows, CHEBNET, "test")["exponent"] == pytest.approx(1.5)
    assert exponent(rows[:1], CHEBNET, "test")["exponent"] is None


def test_impossible_sizes_and_orders_are_refused(capsys):
    for argv, message in ((["--sizes", "20"], "--sizes must be 45"), (["--orders", "0"], "--orders must be 1")):
        with pytest.raises(SystemExit):
            SCRIPT.parse(argv)
        assert message in capsys.readouterr().err
