"""The MNIST experiment: its quick form learns, is the paper's network, and may be stopped anywhere."""

from __future__ import annotations

import copy
import dataclasses
import json
import time

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from analysis import _timing, mnist
from analysis._networks import learned_zooms, n_parameters
from analysis._runner import Run
from analysis._training import Checkpoint
from analysis.mnist import training
from analysis.mnist.data import draw_digits, load_digits
from analysis.mnist.networks import make_network
from analysis.mnist.settings import CAYLEYNET, CHEBNET, FULL, JACOBI, LENET, QUICK, Config
from analysis.mnist.training import Images, learned_filters, make_optimizer, train
from cayleygsp.nn import CayleyConv
from tests.analysis import helpers
from tests.analysis.killed_rank import TINY
from tests.analysis.stopped_runs import CPU, whole_and_resumed


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run the quick form on drawn digits, in one process."""
    folder = tmp_path_factory.mktemp("mnist")
    argv = ["--data", "drawn", "--workers", "1", "--device", "cpu", "--work", str(folder / "work")]
    return helpers.run(mnist, folder, *argv)


def test_quick_form_learns(ran):
    document, page = ran
    assert [row["model"] for row in document["rows"]] == [CHEBNET, CAYLEYNET]
    for curve in document["curves"]:
        assert curve["loss"][-1] < 0.9 * curve["loss"][0]
        assert len(curve["validation"]) == QUICK.epochs
    assert min(row["mean"] for row in document["rows"]) > 25  # ten digits
    assert "The digits are generated" in page
    assert [len(row["zooms"]) for row in document["rows"]] == [0, 1]


@pytest.fixture
def untrained(monkeypatch):
    """Neither train nor take times."""
    monkeypatch.setattr(mnist, "train", None)
    times = {"step_seconds": 1.0, "test_seconds": 1.0}
    monkeypatch.setattr(mnist, "measure_costs", lambda config, zooms, device: dict.fromkeys(zooms, times))


@pytest.mark.usefixtures("untrained")
def test_finished_runs_are_written_down_without_training(ran, tmp_path):
    document, _ = ran
    work = document["command"].split("--work ")[1].split()[0]
    argv = ["--quick", "--data", "drawn", "--runs", "2", "--finished", "--device", "cpu", "--work"]
    _, found = mnist.compute([*argv, work], quiet=True)
    assert [row["mean"] for row in found["rows"]] == [row["mean"] for row in document["rows"]]
    assert all("1 of 2 seeds" in row[1] for row in mnist.accuracy_table(found)[1])
    _, found = mnist.compute([*argv, str(tmp_path)], quiet=True)
    assert found["rows"] == []
    assert "Not trained to the end yet: ChebNet, CayleyNet." in mnist.findings(found)
    assert "Digits on the graph" in mnist.markdown(found)


@pytest.mark.usefixtures("untrained")
def test_recorded_runs_are_taken_where_the_settings_are_the_same(ran, tmp_path):
    document, _ = ran
    path = tmp_path / "mnist.json"
    path.write_text(json.dumps(document))
    argv = ["--quick", "--data", "drawn", "--finished", "--device", "cpu", "--work", str(tmp_path / "work")]
    argv += ["--recorded", str(path)]
    _, again = mnist.compute(argv, quiet=True)
    for name in ("runs", "curves", "frequencies", "missing"):
        assert again[name] == document[name]
    for old, new in zip(document["rows"], again["rows"], strict=True):
        assert {k: v for k, v in old.items() if "seconds" not in k} == {
            k: v for k, v in new.items() if "seconds" not in k
        }
    _, other = mnist.compute([*argv, "--parametrization", "orthogonal"], quiet=True)
    assert [row["model"] for row in other["rows"]] == [CHEBNET]  # which has no such setting
    assert other["missing"] == [CAYLEYNET]
    _, other = mnist.compute([*argv, "--lr", "0.03"], quiet=True)
    assert other["rows"] == []
    with pytest.raises(SystemExit):
        mnist.SCRIPT.parse(["--recorded", str(tmp_path / "none.json")])


def test_costs_are_measured_in_turns_at_the_learned_zooms(monkeypatch):
    seen = []

    def interleave(calls, repeats, *, clock):
        for call in calls.values():
            call()
        seen.append((list(calls), repeats, clock))
        return {name: [3.0, 1.0, 2.0] for name in calls}

    monkeypatch.setattr(_timing, "interleave", interleave)
    made = []
    monkeypatch.setattr(training, "make_network", lambda *args: made.append(make_network(*args)) or made[-1])
    found = training.measure_costs(TINY, {CHEBNET: [], CAYLEYNET: [0.7, 1.3]}, "cpu")
    assert found == {model: {"step_seconds": 2.0, "test_seconds": 2.0} for model in (CHEBNET, CAYLEYNET)}
    assert seen == 2 * [([CHEBNET, CAYLEYNET], training.ROUNDS, time.process_time)]
    assert learned_zooms(made[1][0]) == pytest.approx([0.7, 1.3])  # steps were taken, and left them there


def test_findings_can_turn_out_either_way(ran):
    document = copy.deepcopy(ran[0])
    cheb, cayley = document["rows"]
    cheb |= {"mean": 99.2, "paper": 99.14, "test_seconds": 1.0, "step_seconds": 2.0}
    cayley |= {"mean": 99.05, "paper": 99.18, "test_seconds": 1.2, "step_seconds": 3.0}
    sentences = mnist.findings(document)
    assert sentences[1:3] == [
        "ChebNet is at or above 99.0 %; the paper has 99.14 %.",
        "CayleyNet is below 99.1 %; the paper has 99.18 %.",
    ]
    assert "1.20 times the test time, within 1.4, and 1.50 times the training step" in sentences[3]
    cayley["test_seconds"] = 1.5
    assert "1.50 times the test time, not within 1.4" in mnist.findings(document)[3]
    document["curves"].append({**document["curves"][1], "model": JACOBI, "loss": [0.25]})
    first = document["curves"][1]["loss"][0]
    assert mnist.findings(document)[-1].startswith(
        f"After as many steps the training loss is {first:.4f} with our filters and 0.2500 by the paper's Jacobi"
    )
    assert "99.20 (99.14, +0.06)" in mnist.markdown(document)  # one run has no deviation
    cheb |= {"n": 2, "sd": 0.05}
    assert "99.20 ± 0.05 (99.14, +0.06)" in mnist.markdown(document)


@pytest.mark.parametrize(
    ("model", "expected"), [(LENET, 1_663_370), (CHEBNET, 2_056_586), (CAYLEYNET, 2_056_588), (JACOBI, 2_056_588)]
)
def test_parameters_are_as_many_as_in_the_paper(model, expected):
    """Count those of LeNet5 as published; those on graphs have 61 places in the place of 49, and zooms."""
    network, order = make_network(model, FULL, 0)
    assert n_parameters(network) == expected
    assert sorted(order.tolist()) == list(range(784))
    if model != LENET:
        assert expected - 1_663_370 == (61 - 49) * 64 * 512 + 2 * (model != CHEBNET)


def test_weights_start_as_in_the_original_code():
    network, _ = make_network(CAYLEYNET, FULL, 3)
    again, _ = make_network(CAYLEYNET, FULL, 3)
    for mine, other in zip(network.parameters(), again.parameters(), strict=True):
        assert torch.equal(mine, other)
    for layer in (m for m in network.modules() if isinstance(m, CayleyConv)):
        c = layer.coefficients().detach()
        assert float(c.abs().max()) <= 0.2 + 1e-5
        assert float(c.std()) == pytest.approx(0.088, abs=0.004)  # of a normal law cut at two deviations
        assert float(layer.zoom.detach()) == pytest.approx(FULL.zoom)
    for bias in (network.stages[0].bias, network.stages[1].bias, network.dense.bias, network.out.bias):
        assert torch.equal(bias, torch.full_like(bias, 0.1))


@pytest.mark.parametrize("model", [CHEBNET, CAYLEYNET])
def test_network_is_the_padded_one_with_dense_filters(model):
    """Compute with fake vertices and dense matrices in double precision; bias and ReLU before the pooling."""
    config = dataclasses.replace(QUICK, features=(3, 4), hidden=5)
    network, order = make_network(model, config, 1)
    network.eval()
    tree = network.stages[0].pool.coarsening
    images = torch.rand(4, 784, generator=torch.Generator().manual_seed(0))
    x = tree.permute(images.double().numpy().T)[..., None].swapaxes(0, 1)  # (batch, padded, 1)
    for level, stage in zip((0, 2), network.stages, strict=True):
        real = np.flatnonzero(~tree.is_fake[level])
        lam, Phi = np.linalg.eigh(stage.graph.dense().double().numpy())
        responses = stage.convolution.responses(np.maximum(lam, 0))
        y = np.zeros((*x.shape[:2], responses.shape[2]))
        y[:, real] = np.einsum("vk,kio,uk,bui->bvo", Phi, responses, Phi, x[:, real], optimize=True)
        y = np.maximum(y + stage.bias.detach().double().numpy(), 0)
        y[:, tree.is_fake[level]] = 0
        x = y.reshape(len(y), -1, 4, y.shape[2]).max(axis=2)
    h = F.relu(network.dense.double()(torch.tensor(x).flatten(1)))
    expected = network.out.double()(h).detach()
    found = network.float()(images[:, order, None]).detach()
    torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=1e-3)


def test_second_layer_by_series_gives_what_the_eigenbasis_gives():
    for model in (CHEBNET, CAYLEYNET):
        outputs = []
        for second in ("exact", "series"):
            network, _ = make_network(model, dataclasses.replace(QUICK, second=second), 2)
            x = torch.rand(3, 784, 1, generator=torch.Generator().manual_seed(1))
            outputs.append(network.eval()(x).detach())
        torch.testing.assert_close(outputs[0], outputs[1], rtol=1e-2, atol=1e-2)


def test_jacobi_is_trained_for_the_first_epoch_of_the_same_run(tmp_path):
    config = dataclasses.replace(TINY, epochs=2, sweeps=60)
    runs = [train(config, Run({"model": m}, 0), Checkpoint(tmp_path / f"{m}.pt"), CPU) for m in (CAYLEYNET, JACOBI)]
    assert [len(run["validation"]) for run in runs] == [2, 1]
    # with so many sweeps nothing is left of the difference
    assert runs[1]["validation_loss"] == pytest.approx(runs[0]["validation_loss"][:1], rel=1e-3)


@pytest.mark.parametrize("model", [LENET, CAYLEYNET])
def test_stopped_run_goes_on_to_the_same_numbers(tmp_path, model):
    run = Run({"model": model}, 3)
    # in the middle of an epoch, and on from there
    whole, resumed = whole_and_resumed(train, TINY, run, tmp_path, (3, 4))
    assert whole == resumed


def test_dense_layers_alone_are_penalised_and_gradients_cut():
    config = dataclasses.replace(TINY, penalty=0.5, clip=1e-3, lr=1.0, momentum=0.0)
    network, order = make_network(CAYLEYNET, config, 0)
    before = [p.detach().clone() for p in network.parameters()]
    images = Images(load_digits(config).train, order, CPU)
    optimizer = make_optimizer(network, config, True)
    F.cross_entropy(network(images.take(torch.arange(5))), images.labels[:5]).backward()
    gradients = [p.grad.clone() for p in network.parameters()]
    norm = torch.sqrt(sum(g.square().sum() for g in gradients))
    optimizer.step()
    names = [name for name, _ in network.named_parameters()]
    for name, p, old, g in zip(names, network.parameters(), before, gradients, strict=True):
        penalty = 0.5 * old if name.startswith(("dense", "out")) else 0 * old
        torch.testing.assert_close(p.detach(), old - g * (1e-3 / norm) - penalty, rtol=1e-4, atol=1e-5)


def test_learned_filters_on_the_grid_are_centred_and_have_their_responses():
    network, _ = make_network(CHEBNET, QUICK, 0)
    first, second = learned_filters(network)
    image = np.reshape(first["images"][0], (28, 28))
    assert np.unravel_index(np.abs(image).argmax(), image.shape) == (14, 14)
    far = np.abs(np.arange(28)[:, None] - 14) > 2 * 8  # nine terms reach eight hops of at most two pixels
    assert not np.any(image[np.broadcast_to(far, image.shape)])
    assert len(first["responses"][0]) == len(second["responses"][0]) == 201
    assert "images" not in second


def test_drawn_digits_are_digits():
    images, labels = draw_digits(200, np.random.default_rng(1))
    assert (images.shape, images.dtype, set(labels)) == ((200, 28, 28), np.uint8, set(range(10)))
    means = np.stack([images[labels == digit].mean(axis=0) for digit in range(10)]).reshape(10, -1)
    distances = ((images.reshape(200, 1, -1) - means) ** 2).sum(-1)
    assert (distances.argmin(1) == labels).mean() > 0.5


def test_parts_of_mnist_are_those_of_the_original_code():
    helpers.data_file("mnist/train-images-idx3-ubyte.gz")
    digits = load_digits(FULL)
    assert [len(part) for part in (digits.train, digits.validation, digits.test)] == [55_000, 5_000, 10_000]
    counts = (torch.bincount(digits.train.labels) + torch.bincount(digits.validation.labels)).tolist()
    assert counts == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert digits.validation.labels[:5].tolist() == [5, 0, 4, 1, 9]
    with pytest.raises(ValueError, match=r"`n_test` must be at most 10000 for mnist, got 10001"):
        load_digits(dataclasses.replace(FULL, n_test=10_001))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": "cifar"}, "`data` must be mnist or drawn, got cifar"),
        ({"second": "dense"}, "`second` must be exact or series, got dense"),
        ({"parametrization": "own"}, "`parametrization` must be orthogonal or coefficients, got own"),
        ({"features": (32,)}, "`features` must be two numbers, got 1"),
        ({"lr": 0.0}, "`lr` must be positive, got 0.0"),
        ({"penalty": -1.0}, "`penalty` must not be negative"),
        ({"dropout": 1.0}, "`dropout` and `momentum` must be below 1, got 1.0 and 0.9"),
        ({"batch": 300}, "`n_train` must be a multiple of `batch`, got 55000 and 300"),
    ],
)
def test_impossible_configurations_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Config(**changes)


def test_workers_do_not_go_with_torchrun(monkeypatch, capsys):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SystemExit):
        mnist.SCRIPT.parse(["--quick", "--data", "drawn", "--workers", "2"])
    assert "--workers must be 1 under torchrun, got 2" in capsys.readouterr().err
    assert mnist.SCRIPT.parse(["--quick", "--data", "drawn"]).workers == 1
