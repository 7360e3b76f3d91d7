"""Community detection: the fast ways equal the layers, the quick form learns, and a kill changes nothing."""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from analysis import community
from analysis._networks import CHEBNET, CHEBYSHEV, EXACT, N_FEATURES, ORDERS
from analysis.community import SCRIPT
from analysis.community.network import Network, make_data, make_optimizer
from analysis.community.settings import MODELS, PAPER, PAPER_SD, QUICK, TUNING_RATES, TUNING_SEED, Config
from cayleygsp.nn import CayleyConv
from tests import oracle
from tests.analysis import helpers
from tests.analysis.stopped_runs import kill_when

ROOT = Path(__file__).parents[2]

# Over chance, and CayleyNet over ChebNet, in % of the test signals of the quick form.
CHANCE = 100 / 15
LEARNED = 1.5 * CHANCE
MARGIN = 10.0


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run the quick form in one process, on one of its two graphs; return its numbers, page and folder."""
    folder = tmp_path_factory.mktemp("community")
    argv = ["--runs", "1", "--workers", "1", "--device", "cpu", "--work", str(folder / "work")]
    return *helpers.run(community, folder, *argv), folder / "work"


def mean(document, model, order):
    return next(row["mean"] for row in document["rows"] if (row["model"], row["order"]) == (model, order))


def test_quick_form_learns_and_cayley_is_above_chebyshev(ran):
    document, _, _ = ran
    assert {row["n"] for row in document["rows"]} == {1}
    assert all(row["mean"] > LEARNED for row in document["rows"])
    for order in (1, 3):
        assert mean(document, EXACT, order) > mean(document, CHEBNET, order) + MARGIN
        assert mean(document, CHEBYSHEV, order) == pytest.approx(mean(document, EXACT, order), abs=MARGIN)


def test_page_and_rows_come_from_the_runs(ran):
    document, _, _ = ran
    for row in document["rows"]:
        same = [run for run in document["runs"] if run["setting"] == {"model": row["model"], "order": row["order"]}]
        assert row["mean"] == pytest.approx(100 * np.mean([run["numbers"]["accuracy"] for run in same]))
        assert row["sd"] == pytest.approx(100 * np.std([run["numbers"]["accuracy"] for run in same]))
    changed = copy.deepcopy(document)
    changed["rows"][0] |= {"mean": 12.25, "sd": 1.0, "paper": 90.14}
    assert "12.25 ± 1.00 (90.14, -77.89)" in community.markdown(changed)


def test_findings_can_turn_out_either_way(ran):
    document = copy.deepcopy(ran[0])
    means = {
        EXACT: (90.0, 99.0),
        CHEBNET: (95.0, 50.0),
        CHEBYSHEV: (90.5, 96.0),
        "jacobi 1": (80.0, 90.0),
        "jacobi 5": (85.0, 90.0),
    }
    for row in document["rows"]:
        row |= {"mean": means[row["model"]][row["order"] == 3], "sd": 1.0}
    sentences = community.findings(document)
    assert "above the ChebNet of the same order at r = 3 of 1, 3; the least difference is -5.0 points" in sentences[1]
    assert sentences[2] == "Accuracy grows with every step of K = 1, 5 at r = 1 of 1, 3."
    assert sentences[3] == "K = 5 is above the exact CayleyNet at no order."
    assert (
        "within one deviation of the exact CayleyNet at r = 1 of 1, 3; the means differ by at most 3.00" in sentences[4]
    )
    assert len(sentences) == 5  # one graph has no correlation
    for row in document["rows"]:
        row["mean"] = {EXACT: 99.0, CHEBNET: 50.0, "jacobi 1": 80.0, "jacobi 5": 70.0}.get(row["model"], 99.0)
    sentences = community.findings(document)
    assert "at every order; the least difference is 49.0 points" in sentences[1]
    assert sentences[2].endswith("at no order.")


def test_correlation_of_zooms_is_that_of_the_runs(ran):
    document = copy.deepcopy(ran[0])
    run = next(run for run in document["runs"] if run["setting"] == {"model": EXACT, "order": 1})
    document["runs"] = []
    for h, gap in ((1.0, (0.5, 2.0)), (2.0, (0.25, 1.0)), (4.0, (0.125, 0.5))):  # h is the zoom that spreads the gap
        document["runs"].append(copy.deepcopy(run))
        document["runs"][-1]["numbers"] |= {"zoom": h, "gap": gap}
    assert community.findings(document)[-1].endswith("of the zoom that spreads the gap: 1.00 (r = 1).")
    document["runs"][0]["numbers"]["zoom"] = 16.0
    assert not community.findings(document)[-1].endswith("1.00 (r = 1).")


def test_zoom_and_gap_of_every_run_are_those_of_its_graph(ran):
    document, _, _ = ran
    for run in document["runs"]:
        lam = make_data(QUICK, run["seed"]).laplacian.eigenvalues
        assert run["numbers"]["gap"] == pytest.approx([lam[14], lam[15]])
        assert (run["numbers"]["zoom"] is None) == (run["setting"]["model"] == CHEBNET)
    learned = [run["numbers"]["zoom"] for run in document["runs"] if run["setting"]["model"] == EXACT]
    assert all(h > 0 and h != QUICK.zoom for h in learned)


def is_in_mid_epoch(path):
    try:
        return torch.load(path, weights_only=True)["step"] > 0
    except FileNotFoundError:  # the run was finished in between
        return False


def test_killed_run_goes_on_to_the_same_numbers(ran, tmp_path):
    """Kill the program and its checkpointing run in the middle of training, by a signal that nothing can catch."""
    document, _, _ = ran
    argv = ["--quick", "--runs", "1", "--models", EXACT, "jacobi 5", "--workers", "1", "--device", "cpu"]
    argv += ["--work", str(tmp_path), "--json", str(tmp_path / "found.json")]
    kill_when(lambda: any(map(is_in_mid_epoch, tmp_path.glob("*/*.pt"))), "analysis.community", argv)
    assert list(tmp_path.glob("*/*.pt")), "killed before the first checkpoint"
    assert not (tmp_path / "found.json").exists()
    assert community.main(argv) == 0
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    expected = [run for run in document["runs"] if run["seed"] == 0 and run["setting"]["model"] in (EXACT, "jacobi 5")]
    numbers = [(run["setting"], run["numbers"]) for run in found["runs"]]
    assert numbers == [(run["setting"], run["numbers"]) for run in expected]
    assert not list(tmp_path.glob("*/*.pt"))


@pytest.mark.parametrize("model", [EXACT, "jacobi 5"])
def test_networks_have_the_layers_that_their_names_say(model):
    """Compare with the layer on the graph, values and gradients; in double precision the tests of the layers do."""
    data = make_data(QUICK, 1)
    network = Network(data, model, 3, QUICK, torch.device("cpu"))
    method, *n_iter = model.split()
    options = {"method": method, "n_iter": int(n_iter[0]) if n_iter else None}
    options["parametrization"] = QUICK.parametrization
    layer = CayleyConv(1, N_FEATURES, 3, normalization=None, **options)
    layer.load_state_dict(network.conv.state_dict())
    indices = torch.tensor([5, 0, 77, 30, *range(100, 119)])
    x = torch.from_numpy(data.signals)[:, indices].T[:, :, None]
    features, expected = network.features(indices), layer(x, data.laplacian).relu().mean(1)
    torch.testing.assert_close(features, expected, rtol=1e-4, atol=1e-5)
    for y in (features, expected):
        y.square().sum().backward()
    for ours, theirs in zip(network.conv.parameters(), layer.parameters(), strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=2e-3, atol=1e-4 * float(theirs.grad.abs().max()))


@pytest.mark.parametrize("model", [EXACT, CHEBYSHEV, CHEBNET])
def test_features_equal_the_dense_filter(model):
    data = make_data(QUICK, 2)
    network = Network(data, model, 3, QUICK, torch.device("cpu"))
    with torch.no_grad():
        found = network.features(torch.arange(6)).numpy()
    options = {"lmax": data.laplacian.lmax} if model == CHEBNET else {}
    x = data.signals[:, :6].astype(float)
    lam, Phi = oracle.eigenpairs(data.laplacian)
    responses = network.conv.responses(np.maximum(lam, 0.0), **options)[:, 0]
    y = np.stack([(Phi * responses[:, f]) @ (Phi.T @ x) for f in range(N_FEATURES)], axis=2)
    np.testing.assert_allclose(found, np.maximum(y, 0).mean(0), rtol=2e-3, atol=2e-4)


def test_data_is_what_the_paper_describes():
    data = make_data(QUICK, 3)
    assert len(set(np.bincount(data.graph.labels))) == 15
    on = data.graph.labels[:, None] == data.labels
    noise = data.signals - on
    assert noise.var() == pytest.approx(0.3, rel=0.02)
    assert abs(noise.mean()) < 0.01
    assert abs(noise[on].mean()) < 0.03
    assert set(data.labels) == set(range(15))
    assert data.laplacian.lmax == pytest.approx(data.laplacian.eigenvalues[-1])


def test_standardising_changes_nothing_that_a_classifier_could_not_do():
    """Fold the standardisation into the classifier: the scores are the same."""
    data = make_data(QUICK, 0)
    network = Network(data, EXACT, 1, QUICK, torch.device("cpu"))
    with torch.no_grad():
        network(torch.arange(50))  # in training mode: statistics are taken
        network.eval()
        mean, sd = network.standardize.running_mean, (network.standardize.running_var + network.standardize.eps).sqrt()
        weight = network.classify.weight / sd
        scores = network.features(torch.arange(20)) @ weight.T + network.classify.bias - weight @ mean
        torch.testing.assert_close(network(torch.arange(20)), scores, rtol=1e-3, atol=1e-3)


def test_seeds_have_graphs_signals_and_weights_of_their_own():
    one, other = make_data(QUICK, 0), make_data(QUICK, 1)
    assert (one.graph.W != other.graph.W).nnz > 0
    assert not np.array_equal(one.signals, other.signals)
    again = make_data.__wrapped__(QUICK, 0)
    assert np.array_equal(one.signals, again.signals)


def test_learning_rates_are_tried_on_seeds_of_their_own(tmp_path):
    argv = ["--quick", "--tune", "--runs", "1", "--orders", "1", "--epochs", "1", "--workers", "1"]
    argv += ["--work", str(tmp_path / "w"), "--results", str(tmp_path / "r")]
    assert community.main(argv) == 0
    document = json.loads((tmp_path / "r" / "community_tuning.json").read_text(encoding="utf-8"))
    assert {row["lr"] for row in document["rows"]} == set(TUNING_RATES)
    assert {row["model"] for row in document["rows"]} == {EXACT, CHEBNET}
    page = (tmp_path / "r" / "community_tuning.md").read_text(encoding="utf-8")
    assert page == community.TUNING.markdown(document)
    assert all(f"seed={TUNING_SEED}." in path.name for path in tmp_path.glob("w/*/*seed*.json"))


@pytest.mark.parametrize("model", [EXACT, CHEBYSHEV])
@pytest.mark.parametrize("parametrization", ["coefficients", "orthogonal"])
def test_networks_learn_what_the_configuration_says(model, parametrization):
    config = dataclasses.replace(QUICK, parametrization=parametrization)
    conv = Network(make_data(QUICK, 0), model, 3, config, torch.device("cpu")).conv
    assert torch.equal(conv.coefficients(), conv.weight) == (parametrization == "coefficients")
    assert Config().parametrization == "coefficients"  # as in the paper


def test_optimizer_gives_each_kind_its_rate():
    config = dataclasses.replace(QUICK, lr=0.3, cheb_lr=0.2, zoom_lr=0.01)
    data = make_data(QUICK, 0)
    cayley = make_optimizer(Network(data, EXACT, 1, config, torch.device("cpu")), config)
    assert [(group["lr"], len(group["params"])) for group in cayley.param_groups] == [(0.3, 4), (0.01, 1)]
    cheb = make_optimizer(Network(data, CHEBNET, 1, config, torch.device("cpu")), config)
    assert [(group["lr"], len(group["params"])) for group in cheb.param_groups] == [(0.2, 5)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"smallest": 10, "largest": 20}, "no two communities are of a size, got 10 and 20"),
        ({"p_out": 1.5}, "`p_out` must be within 0 and 1, got 1.5"),
        ({"batch": 1}, "`batch` must leave no step with a single signal, got 1 for 5000"),
        ({"n_train": 401, "batch": 200}, "`batch` must leave no step with a single signal, got 200 for 401"),
        ({"lr": 0.0}, "`lr` must be positive, got 0.0"),
        ({"spread": 1.0}, "`spread` must be at least 0 and less than 1, got 1.0"),
        ({"noise": -1.0}, "`noise` must not be negative"),
        ({"parametrization": "plain"}, "`parametrization` must be one of"),
    ],
)
def test_impossible_configurations_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Config(**changes)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--orders", "0", "3"], "--orders must be 1 or more, got 0"),
        (["--tune", "--models", "exact"], "--models must not be given with --tune, which tries exact and ChebNet"),
        (["--tune", "--orders", "5"], "--orders must have one of 1, 3, 7, 13 with --tune, got [5]"),
        (["--seed", "1000000"], "later seeds are for --tune, got 1000000"),
    ],
)
def test_impossible_arguments_are_refused(argv, message, capsys):
    with pytest.raises(SystemExit):
        SCRIPT.parse(argv)
    assert message in capsys.readouterr().err


def test_what_is_named_twice_is_computed_once():
    args = SCRIPT.parse(["--orders", "3", "1", "3", "--models", "exact", "ChebNet", "exact"])
    assert (args.orders, args.models) == ([1, 3], ["exact", "ChebNet"])


def test_papers_figures_are_complete():
    assert set(PAPER) == set(PAPER_SD) == set(MODELS) - {CHEBYSHEV}
    assert all(len(v) == len(ORDERS) for v in [*PAPER.values(), *PAPER_SD.values()])
