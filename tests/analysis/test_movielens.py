"""Matrix completion: the network is what the authors' code computes, and a stop in mid-run changes nothing."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from analysis import movielens
from analysis._runner import Experiment, Run
from analysis._training import Checkpoint
from analysis.movielens.data import load_ratings, part_ratings, read_ratings
from analysis.movielens.network import Network, RecurrentCell, start_factors
from analysis.movielens.objective import Objective, Places, predict
from analysis.movielens.results import course_table, errors_at_equal_steps
from analysis.movielens.settings import (
    CAYLEY,
    CHEB4,
    CHEB8,
    FULL,
    JACOBI,
    NAMES,
    NETWORKS,
    ORTHOGONAL,
    PAPER_PARAMETERS,
    PAPER_RMSE,
    QUICK,
    Config,
)
from analysis.movielens.training import train
from tests.analysis import helpers
from tests.analysis.stopped_runs import CPU, StoppingCheckpoint, whole_and_resumed


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run a part of the quick form in one process."""
    folder = tmp_path_factory.mktemp("movielens")
    argv = ["--model", CHEB4, CAYLEY, "grals", "mc", "--protocol", "paper", "validation", "--steps", "20"]
    return helpers.run(movielens, folder, *argv, "--workers", "1", "--device", "cpu", "--work", str(folder / "work"))


def test_quick_form_learns(ran):
    document, _ = ran
    for curve in document["curves"]:
        assert curve["loss"][-1] < curve["at_start"]["loss"]
    assert [row["protocol"] for row in document["rows"]] == ["paper", "validation"] * 2 + [None] * 2


def test_chosen_network_is_that_of_its_protocol(ran):
    document, _ = ran
    for run, curve in zip(document["runs"], document["curves"], strict=False):
        chosen = curve["validation_rmse"] if curve["protocol"] == "validation" else curve["loss"]
        best = int(np.argmin(chosen))
        assert run["numbers"]["rmse"] == curve["test_rmse"][best]
        assert run["numbers"]["best_step"] == 10 * (best + 1)


def test_recorded_runs_are_taken_where_the_settings_are_the_same(ran, tmp_path):
    document, _ = ran
    path = tmp_path / "movielens.json"
    path.write_text(json.dumps(document))
    argv = ["--quick", "--model", CHEB4, CAYLEY, "grals", "mc", "--protocol", "paper", "validation", "--finished"]
    argv += ["--device", "cpu", "--work", str(tmp_path / "work"), "--recorded", str(path)]
    _, again = movielens.compute([*argv, "--steps", "20"], quiet=True)
    for name in ("rows", "curves", "runs"):
        assert again[name] == document[name]
    assert "may be another one" in movielens.markdown(again)
    _, other = movielens.compute([*argv, "--steps", "30"], quiet=True)
    assert [row["model"] for row in other["rows"]] == ["mc", "grals"]  # which have no steps
    _, other = movielens.compute([*argv, "--steps", "20", "--validation-share", "0.3"], quiet=True)
    assert other["rows"] == []
    with pytest.raises(SystemExit):
        movielens.SCRIPT.parse(["--recorded", str(tmp_path / "none.json")])


def networks_with(document, losses, errors):
    """Return a document in which each network has these losses and test errors at its looks."""
    document = copy.deepcopy(document)
    row = next(row for row in document["rows"] if row["model"] == CHEB4)
    curve = document["curves"][0]
    document["rows"] = [{**row, "model": m, "mean": e[-1], "paper": PAPER_RMSE[m]} for m, e in errors.items()]
    document["curves"] = [
        {**curve, "model": m, "loss": losses[: len(e)], "test_rmse": e, "protocol": "paper"} for m, e in errors.items()
    ]
    return document


def test_findings_can_turn_out_either_way(ran):
    losses = [1.0, 0.9]
    document = networks_with(ran[0], losses, {CHEB4: [1.1, 0.930], CHEB8: [1.1, 0.926], CAYLEY: [1.1, 0.924]})
    sentences = movielens.findings(document)
    assert sentences[0] == "sRGCNN, Chebyshev, r = 4 is within 0.005 of the paper's 0.929."
    names = [NAMES[model] for model in (CAYLEY, CHEB4, CHEB8)]
    assert sentences[3:] == [
        f"{names[0]} is at or below {names[2]}: 0.9240 and 0.9260.",
        f"{names[0]} is at or below {names[1]}: 0.9240 and 0.9300.",
        f"{names[2]} is at or below {names[1]}: 0.9260 and 0.9300.",
    ]
    document = networks_with(ran[0], losses, {CHEB4: [1.1, 0.8], CHEB8: [1.1, 0.9], CAYLEY: [1.1, 0.924]})
    sentences = movielens.findings(document)
    assert "is not within 0.005" in sentences[0]
    setting = {"model": CHEB4, "protocol": "paper"}
    document["runs"] = [{"setting": setting, "seed": k, "numbers": {"rmse": 0.7 + k / 5}} for k in range(2)]
    assert "Seed by seed: 0.7000 (seed 0), 0.9000 (seed 1)." in movielens.findings(document)[0]
    assert sentences[3] == f"{names[0]} is above {names[2]}: 0.9240 and 0.9000."
    assert sentences[5] == f"{names[2]} is above {names[1]}: 0.9000 and 0.8000."


def test_protocols_are_compared_over_the_seeds_that_both_have(ran):
    document = copy.deepcopy(ran[0])
    document["runs"] = [
        {"setting": {"model": CHEB4, "protocol": protocol}, "seed": seed, "numbers": {"rmse": error}}
        for protocol, seed, error in (("paper", 0, 0.92), ("paper", 1, 0.99), ("validation", 0, 0.93))
    ]
    (sentence,) = [text for text in movielens.findings(document) if "chosen by validation" in text]
    assert sentence.startswith(NAMES[CHEB4])
    assert sentence.endswith("changes by +0.0100 (seed 0).")


def test_networks_are_compared_after_equal_steps(ran):
    errors = {CHEB4: [1.2, 1.1], CHEB8: [1.3]}
    document = networks_with(ran[0], [0.9, 1.0], errors)
    assert errors_at_equal_steps(document, (CHEB8, CHEB4)) == ({CHEB4: 1.2, CHEB8: 1.3}, 10)
    expected = f"After 10 steps, {NAMES[CHEB8]} is above {NAMES[CHEB4]}: 1.3000 and 1.2000."
    assert movielens.findings(document)[2] == expected


def test_unfinished_networks_are_written_down_as_far_as_they_are(tmp_path):
    argv = ["--quick", "--steps", "20", "--every", "5", "--model", CHEB4, "--work", str(tmp_path), "--device", "cpu"]
    config = dataclasses.replace(QUICK, steps=20, every=5)
    run = Run({"model": CHEB4, "protocol": "paper"}, 0)
    folder = tmp_path / Experiment("movielens", config, [run], train).folder_name
    folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        train(config, run, StoppingCheckpoint(folder / f"{run.key}.pt", 14), CPU)  # after a step of the third interval
    before = (folder / f"{run.key}.pt").read_bytes()
    _, document = movielens.compute([*argv, "--finished", "--unfinished"], quiet=True)
    (row,) = document["rows"]
    assert row["steps"] == 10
    assert "after 10 steps of 20" in movielens.error_table(document)[1][0][1]
    assert (folder / f"{run.key}.pt").read_bytes() == before
    short = train(dataclasses.replace(config, steps=10), run, Checkpoint(tmp_path / "short.pt"), CPU)
    assert row["mean"] == short["rmse"]
    assert document["curves"][0]["loss"] == short["loss"]
    with pytest.raises(SystemExit):
        movielens.compute([*argv, "--unfinished"], quiet=True)


def test_table_has_a_column_for_each_protocol_that_was_run(ran):
    document = copy.deepcopy(ran[0])
    header, rows = movielens.error_table(document)
    assert {len(row) for row in rows} == {len(header)} == {3}
    document["rows"] = [row for row in document["rows"] if row["protocol"] != "validation"]
    header, rows = movielens.error_table(document)
    assert {len(row) for row in rows} == {len(header)} == {2}
    document["rows"][0] |= {"mean": 0.93, "sd": 0.002, "paper": 0.929, "n": 3}
    assert "0.9300 ± 0.0020 (0.9290, +0.0010), 3 seeds" in movielens.markdown(document)


def test_course_is_the_mean_of_the_curves(ran):
    document = copy.deepcopy(ran[0])
    curve = next(curve for curve in document["curves"] if curve["model"] == CHEB4 and curve["protocol"] == "paper")
    other = copy.deepcopy(curve)
    other["at_start"]["test_rmse"] += 2.0
    other["test_rmse"][0] += 1.0
    document["curves"].append(other)
    header, rows = course_table(document)
    assert header == ["test RMSE after steps", "0", "10", "20"]
    assert [row[0] for row in rows] == [NAMES[CHEB4], NAMES[CAYLEY]]
    expected = curve["at_start"]["test_rmse"] + 1, curve["test_rmse"][0] + 0.5, curve["test_rmse"][1]
    assert rows[0][1:] == [f"{error:.3f}" for error in expected]
    document["config"]["data"] = "movielens"
    assert course_table(document)[1][0] == ["Chebyshev, r = 4, the authors' log", "1.23", "1.14", ""]


def test_costs_are_those_of_the_networks_that_were_trained(ran):
    document, _ = ran
    costs = document["costs"]
    assert set(costs["networks"]) == {CHEB4, CAYLEY}
    assert all(time > 0 for times in costs["networks"].values() for time in times.values())
    ways = dict.fromkeys(movielens.WAYS, 1.0)  # as older records have them
    text = movielens.markdown({**document, "costs": {**costs, "ways": ways}})
    assert all(way in text for way in movielens.WAYS.values())
    header, rows = movielens.network_table(document)
    assert {len(row) for row in rows} == {len(header)}
    assert rows[0][4] == "1.00"
    assert float(rows[1][4]) == pytest.approx(
        costs["networks"][CAYLEY]["test_seconds"] / costs["networks"][CHEB4]["test_seconds"], abs=0.006
    )


def test_finished_runs_are_written_down_without_training(ran, tmp_path, monkeypatch):
    document, _ = ran
    work = document["command"].split("--work ")[1].split()[0]
    argv = ["--quick", "--steps", "20", "--runs", "2", "--finished", "--work", work, "--device", "cpu"]
    monkeypatch.setattr(movielens, "train", None)
    _, found = movielens.compute(argv, quiet=True)
    expected = {row["model"]: row["mean"] for row in document["rows"] if row["protocol"] != "validation"}
    assert {row["model"]: row["mean"] for row in found["rows"]} == expected
    assert all(row[1].endswith(", 1 seed") and "±" not in row[1] for row in movielens.error_table(found)[1])
    _, found = movielens.compute([*argv[:-4], "--work", str(tmp_path)], quiet=True)
    assert found["rows"] == []
    assert "Matrix completion" in movielens.markdown(found)


def test_stopped_run_goes_on_to_the_same_numbers(tmp_path):
    config = dataclasses.replace(QUICK, steps=20, every=5)
    run = Run({"model": CAYLEY, "protocol": "validation"}, 3)
    # in the middle of an interval, and on from there
    whole, resumed = whole_and_resumed(train, config, run, tmp_path, (8, 9))
    assert whole == resumed


@pytest.mark.parametrize("model", NETWORKS)
def test_parameters_are_as_many_as_in_the_paper(model):
    ratings = load_ratings("drawn")
    start = start_factors(ratings, ratings.train, FULL.rank)
    network = Network(ratings, start, model, FULL, CPU)
    assert sum(p.numel() for p in network.parameters()) == PAPER_PARAMETERS[model]
    assert PAPER_PARAMETERS == {
        CHEB4: 20_564,
        CHEB8: 23_124,
        CAYLEY: 23_124 + 2,
        JACOBI: 23_124 + 2,
        ORTHOGONAL: 23_124 + 2,
    }


def test_cell_is_the_long_short_term_memory_of_the_authors():
    torch.manual_seed(0)
    cell = RecurrentCell(3, 2)
    x, c, h = torch.randn(3, 7, 3).unbind()
    with torch.no_grad():
        cell.bias.normal_()
        (c_new, h_new), change = cell(x, (c, h))
        W, U, b = (t.split(3, dim=-1) for t in (cell.from_input, cell.from_state, cell.bias))
        f, i, o, u = (torch.sigmoid(x @ W[k] + h @ U[k] + b[k]) for k in range(4))
        expected = f * c + i * u
        torch.testing.assert_close(c_new, expected)
        torch.testing.assert_close(h_new, o * torch.sigmoid(expected))
        torch.testing.assert_close(change, torch.tanh(expected @ cell.to_change + cell.change_bias))
        zeros = torch.zeros(7, 3)
        torch.testing.assert_close(cell(x, None), cell(x, (zeros, zeros)))
    assert max(float(g.detach().abs().max()) for g in (*W, *U)) <= math.sqrt(6 / 6)


@pytest.mark.parametrize("order", [4, 8])
def test_chebyshev_network_is_the_dense_one_of_the_authors(order):
    """Compute with dense polynomials of L − I and whole matrices, as the authors' code does."""
    ratings = load_ratings("drawn")
    config = dataclasses.replace(QUICK, gamma=1e-4)
    start = start_factors(ratings, ratings.train, config.rank)
    torch.manual_seed(1)
    network = Network(ratings, start, CHEB4 if order == 4 else CHEB8, config, CPU)
    objective = Objective(ratings, ratings.train, config.gamma, CPU)
    loss = objective.loss(*network())
    loss.backward()
    ours = [p.grad.clone() for p in network.parameters()]
    network.zero_grad()
    factors, matrices = [], []
    for side, factor, L in zip((network.users, network.movies), start, ratings.laplacians, strict=True):
        S = torch.tensor(L.matrix.toarray(), dtype=torch.float32) - torch.eye(L.n_vertices)
        T = [torch.eye(L.n_vertices), S]
        for _ in range(order - 1):
            T.append(2 * S @ T[-1] - T[-2])
        F, state = torch.tensor(factor), None
        for _ in range(config.diffusions):
            conv = sum(t @ F @ w for t, w in zip(T, side.conv.weight, strict=True)) + side.conv.bias
            state, change = side.cell(conv.relu(), state)
            F = F + change
        factors.append(F)
        matrices.append(S + torch.eye(L.n_vertices))
    X = factors[0] @ factors[1].T
    scaled = 1 + 4 * (X - X.min()) / (X.max() - X.min())
    mask = torch.tensor(ratings.only(ratings.train) > 0)
    expected = ((scaled - torch.tensor(ratings.matrix))[mask] ** 2).mean()
    smooth = torch.trace(X @ matrices[1] @ X.T) + torch.trace(X.T @ matrices[0] @ X)
    expected = expected + config.gamma / 2 * smooth
    torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-5)
    expected.backward()
    for gradient, parameter in zip(ours, network.parameters(), strict=True):
        size = float(parameter.grad.abs().max())
        torch.testing.assert_close(gradient, parameter.grad, rtol=5e-3, atol=1e-3 * size)


def test_predictions_fill_the_scale():
    W, H = torch.randn(5, 2), torch.randn(4, 2)
    found = predict(W, H, Places(np.arange(20), 4, CPU))
    assert (float(found.min()), float(found.max())) == pytest.approx((1.0, 5.0))


def test_division_is_that_of_the_authors():
    ratings = load_ratings("drawn")
    order = list(range(len(ratings.train)))
    np.random.RandomState(0).shuffle(order)
    parts = part_ratings(ratings, 0.0, seed=0)
    np.testing.assert_array_equal(parts.start, ratings.train[order[: len(order) // 2]])
    np.testing.assert_array_equal(parts.fitted, ratings.train)
    assert not len(parts.validation)
    parts = part_ratings(ratings, 0.1, seed=0)
    assert set(parts.start) < set(parts.fitted)
    np.testing.assert_array_equal(np.union1d(parts.fitted, parts.validation), ratings.train)


def test_movielens_is_what_was_published():
    ratings = read_ratings(helpers.data_file("movielens/split_1.mat"))
    assert np.bincount(ratings.matrix.ravel().astype(int))[1:].tolist() == [6_110, 11_370, 27_145, 34_174, 21_201]
    assert (ratings.users.nnz, ratings.movies.nnz) == (2 * 6_297, 2 * 14_464)
    assert not np.intersect1d(ratings.train, ratings.test).size
    assert ratings.values(ratings.train).mean() == pytest.approx(3.52835)
    error = ratings.values(ratings.test) - 3.52835
    assert np.sqrt(np.mean(error.astype(float) ** 2)) == pytest.approx(1.1537, abs=1e-4)
    assert not list((ratings.only(ratings.train).sum(axis=0) == 0).nonzero()[0][32:])


def write_mat(path, **changes):
    """Write a file of the right form with empty matrices."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        for name in ("M", "Otraining", "Otest"):
            if changes.get(name, True) is not None:
                file[name] = changes.get(name, np.zeros((1682, 943)))
        for name, n in (("W_users", 943), ("W_movies", 1682)):
            group = file.create_group(name)
            group.attrs["MATLAB_sparse"] = np.uint64(n)
            group["jc"], group["ir"], group["data"] = np.zeros(n + 1, int), np.zeros(0, int), np.zeros(0)


def with_entries(**entries):
    array = np.zeros((1682, 943))
    for value, place in entries.values():
        array[place] = value
    return array


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"M": None}, r"must have `M` of shape \(943, 1682\), got None"),
        ({"Otest": np.zeros((943, 1682))}, r"must have `Otest` of shape \(943, 1682\), got \(1682, 943\)"),
        ({"M": with_entries(a=(7, (0, 0)))}, "must have ratings from 1 to 5 in `M`"),
        ({"M": with_entries(a=(4, (0, 0)))}, "must have every rating of `M` once"),
        ({}, "must have 80000 training and 20000 test ratings"),
    ],
)
def test_damaged_ratings_are_refused_by_name(tmp_path, changes, message):
    write_mat(tmp_path / "damaged.mat", **changes)
    with pytest.raises(ValueError, match=rf"damaged\.mat.* {message}"):
        read_ratings(tmp_path / "damaged.mat")


def test_other_files_are_refused_by_name(tmp_path):
    (tmp_path / "old.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(600))
    with pytest.raises(ValueError, match=r"old\.mat.* must be a MATLAB file of version 7\.3"):
        read_ratings(tmp_path / "old.mat")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 15, "every": 10}, "`steps` must be a multiple of `every`, got 15 and 10"),
        ({"data": "netflix"}, "`data` must be movielens or drawn, got netflix"),
        ({"gamma": -1.0}, "`gamma` must not be negative"),
        ({"lr": 0.0}, "`lr` must be positive, got 0.0"),
        ({"validation_share": 1.0}, "`validation_share` must be within 0 and 1, got 1.0"),
    ],
)
def test_impossible_configurations_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Config(**changes)


def test_the_protocol_tells_the_zoom_that_networks_start_from():
    text = (Path(__file__).parents[2] / "docs" / "experiments" / "protocols.md").read_text(encoding="utf-8")
    assert f"ours is {FULL.zoom:g} on both graphs" in text
