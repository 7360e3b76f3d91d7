"""The command ``filter``."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.cli import filter, main
from tests.cli.running import N, refused, run_json
from tests.oracle import dense_filter


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_a_step_on_a_small_graph_is_applied_itself(folder, capsys, ending):
    numbers = run_json(capsys, "filter", "@communities", f"f.{ending}", "--pass", "low:1.5", "-o", f"y.{ending}")
    y = np.load("y.npy") if ending == "npy" else np.loadtxt("y.csv", delimiter=",")
    L = cg.laplacian(cg.gallery.communities(rng=0))
    expected = dense_filter(L, lambda lam: (lam <= 1.5) * 1.0) @ np.load("f.npy")
    assert np.abs(y - expected).max() < 1e-9
    assert numbers["converged"]
    assert "itself" in numbers["filter"]


def test_a_fit_is_applied_within_its_certified_error(folder, capsys):
    arguments = ("--pass", "low:1.5", "--order", "3", "--tol", "1e-4", "-o", "y.npy")
    numbers = run_json(capsys, "filter", "@communities", "f.npy", *arguments)
    L = cg.laplacian(cg.gallery.communities(rng=0))
    p = cg.design.fit_cayley("low:1.5", 3, L.lmax, weight=L.eigenvalues).polynomial
    assert (numbers["order"], numbers["zoom"]) == (3, pytest.approx(p.zoom))
    f = np.load("f.npy")
    error = np.linalg.norm(np.load("y.npy") - dense_filter(L, p) @ f, axis=0) / np.linalg.norm(f, axis=0)
    assert error.max() <= numbers["error_bound"] <= 1e-4 * numbers["gain"]


def test_a_step_on_a_large_graph_is_smooth_and_proved(folder, capsys):
    np.save("ones.npy", np.ones(2642))
    step = run_json(capsys, "filter", "@minnesota", "ones.npy", "--pass", "low:0.01", "-o", "a.npy")
    assert step["certificate"] == "proved"
    assert "smooth steps, from 0.001 to 0.999 across 0.005" in step["filter"]
    error = np.linalg.norm(np.load("a.npy") - 1) / np.sqrt(2642)
    assert error <= step["error_bound"] <= 1e-6
    np.save("big.npy", np.ones(2500))
    fitted = run_json(capsys, "filter", "@grid:50", "big.npy", "--pass", "low:0.1r", "--order", "8", "-o", "c.npy")
    assert fitted["order"] == 8
    assert 0 < fitted["fit_residual_rms"] < 0.2
    heat = run_json(capsys, "filter", "@grid:50", "big.npy", "--pass", "heat:2", "-o", "b.npy")
    assert "order" not in heat
    assert heat["certificate"] == "proved"
    assert np.load("b.npy") == pytest.approx(np.ones(2500), abs=1e-5)  # constants have frequency zero


def test_single_precision_and_complex_signals_keep_their_kind(folder, capsys):
    f = np.load("f.npy")
    np.save("single.npy", f[:, 0].astype(np.float32))
    np.save("complex.npy", f[:, 0] + 1j * f[:, 1])
    for name, dtype in (("single", np.float32), ("complex", np.complex128)):
        arguments = ("--coeffs", "0.5,-0.25", "--zoom", "1", "-o", f"{name}_y.npy", "-o", f"{name}_y.txt")
        run_json(capsys, "filter", "@communities", f"{name}.npy", *arguments)
        y = np.load(f"{name}_y.npy")
        assert y.dtype == dtype
        assert np.array_equal(np.loadtxt(f"{name}_y.txt", dtype=dtype), y)


def test_a_tolerance_that_cannot_be_reached_is_said_and_is_exit_code_3(folder, capsys):
    arguments = ("--coeffs", "0.5,-0.25", "--zoom", "1", "--tol", "1e-18", "-o", "y.npy")
    assert main(["filter", "@communities", "f.npy", *arguments]) == 3
    captured = capsys.readouterr()
    assert "NOT within" in captured.out
    assert captured.err.startswith("cayleygsp: warning: ")
    assert captured.err.count("\n") == 1
    assert np.load("y.npy").shape == (N, 2)


@pytest.mark.parametrize("warns", [True, False])
def test_the_error_bound_is_not_rounded_down(folder, capsys, monkeypatch, warns):
    if not warns:
        monkeypatch.setattr("cayleygsp.filters.application.warn_of_error", lambda *args, **options: None)
    for k in range(6):
        arguments = ("--coeffs", "0.5,-0.25", "--zoom", str(1 + 0.1 * k), "--tol", "1e-18", "-o", "y.npy", "--force")
        assert main(["filter", "@communities", "f.npy", *arguments]) == 3
        shown = capsys.readouterr()
        assert main(["filter", "@communities", "f.npy", *arguments, "--json"]) == 3
        bound = json.loads(capsys.readouterr().out)["relative_error_bound"]
        assert bound <= float(re.search(r"error bound\s+(\S+) of the gain", shown.out).group(1)) <= 1.1 * bound
        assert bound <= float(re.search(r"(\S+) of the gain", shown.err).group(1)) <= 1.1 * bound


def test_force_overwrites(folder, capsys):
    (folder / "y.npy").write_text("old")
    run_json(capsys, "filter", "@communities", "f.npy", "--pass", "heat:1", "-o", "y.npy", "--force")
    assert np.load("y.npy").shape == (N, 2)


@pytest.mark.parametrize("method", ["auto", "exact", "chebyshev", "multigrid", "jacobi"])
def test_the_method_is_the_one_that_is_asked_for(folder, capsys, method):
    arguments = ("--coeffs", "0.5,-0.25", "--zoom", "0.1", "--method", method, "-o", f"{method}.npy")
    numbers = run_json(capsys, "filter", "@communities", "f.npy", *arguments)
    if method != "auto":
        assert numbers["method"].startswith(method)
    L = cg.laplacian(cg.gallery.communities(rng=0))
    expected = dense_filter(L, cg.CayleyPolynomial([0.5, -0.25], 0.1)) @ np.load("f.npy")
    assert np.linalg.norm(np.load(f"{method}.npy") - expected) <= 1e-5 * np.linalg.norm(expected)


def test_a_method_that_cannot_reach_the_tolerance_is_one_line(folder, capsys):
    arguments = ("--coeffs", "0.5,-0.25", "--zoom", "1e6", "--method", "jacobi", "-o", "y.npy")
    assert "sweeps" in refused(capsys, "filter", "@communities", "f.npy", *arguments)


@pytest.mark.parametrize("graph", ["@ring:12", "@path:12"])
def test_a_strength_beyond_what_can_be_solved_for_is_one_line(folder, capsys, graph):
    np.save("ramp.npy", np.arange(12.0))
    call = ["filter", graph, "ramp.npy", "--pass", "tikhonov:1e18", "-o", "y.npy"]
    assert "must have a smaller strength or zoom" in refused(capsys, *call, "--method", "multigrid")
    assert main(call) == 3
    message = capsys.readouterr().err
    assert message.startswith("cayleygsp: warning: ")
    assert message.count("\n") == 1


def test_a_signal_without_columns_is_refused_before_work(folder, capsys, monkeypatch):
    np.save("none.npy", np.ones((9, 0)))
    monkeypatch.setattr(filter, "CayleyFilter", None)
    message = refused(capsys, "filter", "@ring:9", "none.npy", "--coeffs", "1,1", "--zoom", "1", "-o", "y.npy")
    assert "none.npy" in message
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy", "none.npy"]


@pytest.mark.parametrize("quiet", [[], ["--quiet"], ["--json"]])
def test_a_tolerance_that_was_not_reached_is_told_in_every_form(folder, capsys, quiet):
    arguments = ("--coeffs", "0.5,-0.25", "--zoom", "1", "--tol", "1e-18", "-o", "y.npy", *quiet)
    assert main(["filter", "@communities", "f.npy", *arguments]) == 3
    captured = capsys.readouterr()
    assert captured.err.startswith("cayleygsp: warning: ")
    assert "e-1" in captured.err
    assert captured.err.count("\n") == 1
    assert np.load("y.npy").shape == (N, 2)
    assert (captured.out == "") == (quiet == ["--quiet"])


def test_directed_graphs_are_made_undirected_when_asked_for(folder, capsys):
    np.save("w.npy", np.array([[0.0, 1.0, 0.0], [3.0, 0.0, 2.0], [0.0, 2.0, 0.0]]))
    assert "symmetric" in refused(capsys, "info", "w.npy")
    largest = run_json(capsys, "info", "w.npy", "--symmetrize", "max")
    mean = run_json(capsys, "info", "w.npy", "--symmetrize", "mean")
    assert (largest["degree_max"], mean["degree_max"]) == (5.0, 4.0)


@pytest.mark.parametrize("text", ["tikhonov:1e6", "tikhonov:10:2", "gaussian:2:0.5", "mexicanhat:1"])
def test_named_responses_are_proved(text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("f.npy", np.random.default_rng(0).standard_normal(2500))
    result = run_json(capsys, "filter", "@grid:50", "f.npy", "--pass", text, "-o", "y.npy")
    assert result["certificate"] == "proved"
    assert result["converged"]
    if text.startswith("tikhonov"):
        solved = run_json(capsys, "filter", "@grid:50", "f.npy", "--pass", text, "-o", "z.npy", "--method", "multigrid")
        assert solved["method"] == "multigrid"
        assert np.linalg.norm(np.load("y.npy") - np.load("z.npy")) <= 2e-6 * 50
