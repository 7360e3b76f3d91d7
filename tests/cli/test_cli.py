"""The command line: what it computes is right, what it refuses it refuses in one line before anything is written."""

from __future__ import annotations

import json
import os
import signal as signals
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse

import cayleygsp as cg
from cayleygsp.cli import bound, decay, design, filter, info, main, options, outputs, zoom
from tests.oracle import dense_filter

N = 366


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    f = np.random.default_rng(0).standard_normal((N, 2))
    np.save("f.npy", f)
    np.savetxt("f.csv", f, delimiter=",", fmt="%.17g")
    return tmp_path


def run_json(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def refused(capsys, *arguments):
    """Run what must be refused; return the message."""
    assert main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("cayleygsp: error: ")
    assert captured.err.count("\n") == 1
    assert captured.err.endswith("\n")
    return captured.err


# ------------------------------------------------------------------------------------------- what it computes


def test_info_agrees_with_the_library(capsys):
    found = run_json(capsys, "info", "@communities", "--laplacian", "normalized")
    graph = cg.gallery.communities(rng=0)
    assert (found["n_vertices"], found["n_edges"]) == (graph.n_vertices, graph.n_edges)
    assert found["lmax_bound"] == 2.0
    assert found["lmax_lower"] <= cg.laplacian(graph, "normalized").eigenvalues[-1] * (1 + 1e-12) <= 2.0


def test_info_draws_the_density(folder, capsys):
    assert main(["info", "@minnesota", "-o", "density.png"]) == 0
    out = capsys.readouterr().out
    assert "2,642" in out
    assert "density.png" in out
    assert (folder / "density.png").read_bytes().startswith(b"\x89PNG")


def test_zoom_gives_the_share_of_the_half_circle(folder, capsys):
    found = run_json(capsys, "zoom", "@communities", "--zoom", "1", "--zoom", "10", "-o", "z.csv", "-o", "z.png")
    lam = np.linalg.eigvalsh(cg.laplacian(cg.gallery.communities(rng=0)).matrix.toarray())
    expected = [2 / np.pi * np.arctan(h * lam[14]) for h in (1.0, 10.0)]
    assert [row["circle_share"] for row in found["rows"]] == pytest.approx(expected, rel=1e-9)
    table = np.genfromtxt("z.csv", delimiter=",", names=True)
    assert table["circle_share"] == pytest.approx(expected, rel=1e-9)
    assert (folder / "z.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_a_step_on_a_small_graph_is_applied_itself(folder, capsys, ending):
    found = run_json(capsys, "filter", "@communities", f"f.{ending}", "--pass", "low:1.5", "-o", f"y.{ending}")
    y = np.load("y.npy") if ending == "npy" else np.loadtxt("y.csv", delimiter=",")
    L = cg.laplacian(cg.gallery.communities(rng=0))
    expected = dense_filter(L, lambda lam: (lam <= 1.5) * 1.0) @ np.load("f.npy")
    assert np.abs(y - expected).max() < 1e-9
    assert found["converged"]
    assert "itself" in found["filter"]


def test_a_fit_is_applied_within_its_certified_error(folder, capsys):
    arguments = ("--pass", "low:1.5", "--order", "3", "--tol", "1e-4", "-o", "y.npy")
    found = run_json(capsys, "filter", "@communities", "f.npy", *arguments)
    L = cg.laplacian(cg.gallery.communities(rng=0))
    p = cg.CayleyPolynomial.fit("low:1.5", 3, L.lmax, weight=L.eigenvalues)
    assert (found["order"], found["zoom"]) == (3, pytest.approx(p.zoom))
    f = np.load("f.npy")
    error = np.linalg.norm(np.load("y.npy") - dense_filter(L, p) @ f, axis=0) / np.linalg.norm(f, axis=0)
    assert error.max() <= found["error_bound"] <= 1e-4 * found["gain"]


def test_a_step_on_a_large_graph_is_fitted_and_heat_is_not(folder, capsys):
    np.save("big.npy", np.ones(2500))
    step = run_json(capsys, "filter", "@grid:50", "big.npy", "--pass", "low:0.1r", "-o", "a.npy")
    assert step["order"] == options.DEFAULT_ORDER
    assert 0 < step["fit_residual_rms"] < 0.2
    heat = run_json(capsys, "filter", "@grid:50", "big.npy", "--pass", "heat:2", "-o", "b.npy")
    assert "order" not in heat
    assert np.load("b.npy") == pytest.approx(np.ones(2500), abs=1e-5)  # constants have frequency zero


def test_designed_coefficients_go_back_into_filter(folder, capsys):
    names = ["c.json", "c.csv", "c.npy", "c.png"]
    outputs = [word for name in names for word in ("-o", name)]
    found = run_json(capsys, "design", "--target", "low:1.5", "--graph", "@communities", "--order", "3", *outputs)
    assert found["cayley"]["n_parameters"] == found["chebyshev"]["n_parameters"] == 8
    assert found["cayley"]["residual_rms"] < found["chebyshev"]["residual_rms"]
    results = []
    for name in names[:3]:
        zoom = [] if name == "c.json" else ["--zoom", repr(found["cayley"]["zoom"])]
        arguments = ("--coeffs", name, *zoom, "-o", f"y_{name}.npy")
        run_json(capsys, "filter", "@communities", "f.npy", *arguments)
        results.append(np.load(f"y_{name}.npy"))
    L = cg.laplacian(cg.gallery.communities(rng=0))
    c = np.array(found["cayley"]["coeffs_real"]) + 1j * np.array(found["cayley"]["coeffs_imag"])
    expected = dense_filter(L, cg.CayleyPolynomial(c, found["cayley"]["zoom"])) @ np.load("f.npy")
    for y in results:
        assert np.linalg.norm(y - expected) <= 1e-5 * np.linalg.norm(expected)


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


def test_bound_agrees_with_the_library(folder, capsys):
    found = run_json(
        capsys, "bound", "@communities", "--zoom", "0.1", "--order", "4", "--sweeps", "20", "-o", "b.png", "-o", "b.csv"
    )
    L, p = cg.laplacian(cg.gallery.communities(rng=0)), cg.CayleyPolynomial([0, *[0.125] * 4], 0.1)
    assert found["kappa"] == pytest.approx(cg.bounds.kappa(L, 0.1))
    last = found["rows"][-1]
    assert last["n_iter"] == 20
    assert last["sharp"] == pytest.approx(cg.bounds.jacobi_bound(L, p, 20).value)
    assert all(0 < row["measured"] <= row["sharp"] + row["rounding"] for row in found["rows"])
    assert found["needs"]["sharp"] == cg.bounds.jacobi_sweeps(L, p, 1e-6)
    assert found["needs"]["series_degree"] == cg.bounds.series_degree(L, p, 1e-6)
    assert np.genfromtxt("b.csv", delimiter=",", names=True)["n_iter"][-1] == 20


def test_decay_is_below_what_is_proved(folder, capsys):
    found = run_json(capsys, "decay", "@ring:64", "--vertex", "3", "--zoom", "1", "--order", "2", "-o", "d.png")
    mass, floor = np.array(found["mass"]), found["floor"]
    assert (mass <= np.array(found["bounds"]["series"]["mass"]) + floor).all()
    assert found["vertex"] == 3
    assert 0 < found["fit"]["gamma"] < 1


def test_report_is_one_page_that_stands_alone(folder, capsys):
    edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [5, 6]])
    (folder / "my <graph>.txt").write_text("".join(f"{a} {b}\n" for a, b in edges))
    found = run_json(capsys, "report", "my <graph>.txt", "-o", "deep/page.html")
    page = (folder / "deep" / "page.html").read_text(encoding="utf-8")
    assert found["graph"]["n_components"] == 3
    assert "my &lt;graph&gt;" in page
    assert 'src="http' not in page
    assert "href" not in page
    assert [path.name for path in (folder / "deep").iterdir()] == ["page.html"]


def test_same_seed_gives_the_same_numbers(capsys):
    first, again, other = (run_json(capsys, "zoom", "@grid:40", "--seed", seed) for seed in ("1", "1", "2"))
    assert first == again != other


def test_output_for_people_says_filter_method_and_error(folder, capsys):
    assert main(["filter", "@communities", "f.csv", "--pass", "mexican:1", "-o", "y.csv"]) == 0
    out = capsys.readouterr().out
    for word in ("mexican-hat (scale 1)", "method", "error bound", "within --tol 1e-06", "y.csv"):
        assert word in out
    for command in (["bound", "--zoom", "1", "--order", "2"], ["decay", "--target", "heat:1"], ["zoom"]):
        assert main([command[0], "@ring:20", *command[1:]]) == 0
        assert "20 vertices" in capsys.readouterr().out


def test_a_tolerance_that_cannot_be_reached_is_said(folder, capsys):
    arguments = ("--coeffs", "0.5,-0.25", "--zoom", "1", "--tol", "1e-18", "-o", "y.npy")
    assert main(["filter", "@communities", "f.npy", *arguments]) == 0
    captured = capsys.readouterr()
    assert "NOT within" in captured.out
    assert captured.err.startswith("cayleygsp: warning: ")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("name", ["info", "zoom", "filter", "bound", "decay", "design", "report"])
def test_help_has_an_example(capsys, name):
    assert main([name, "--help"]) == 0
    assert f"Example: cayleygsp {name} " in " ".join(capsys.readouterr().out.split())


def test_without_arguments_help_is_shown(capsys):
    assert main([]) == 0
    assert "Commands" in capsys.readouterr().out


# --------------------------------------------------------------------------------------------- what it refuses

GRAPHS = {
    "empty.txt": (b"", "is empty"),
    "garbage.npz": (bytes(range(256)) * 4, "cannot be read"),
    "garbage.npy": (b"\x93NUMPY\x01\x00nonsense", "cannot be read"),
    "garbage.csv": (b"\xff\xfe\x00\x81" * 50, "garbage.csv"),
    "bad_line.txt": (b"0 1\n1 2\n2 three four five\n", "line 3"),
    "bad_weight.csv": (b"0,1,1.5\n1,2,x\n", "line 2"),
    "negative.txt": (b"0 1 1\n1 2 -3\n", "non-negative"),
    "graph.pdf": (b"%PDF", "must have one of the endings"),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("command", ["filter", "report"])
def test_bad_graphs_are_refused(folder, capsys, name, command):
    content, message = GRAPHS[name]
    (folder / name).write_bytes(content)
    before = sorted(path.name for path in folder.iterdir())
    rest = ["f.npy", "--pass", "low:1", "-o", "out.npy"] if command == "filter" else ["-o", "out.html"]
    said = refused(capsys, command, name, *rest)
    assert message in said
    assert name in said
    assert sorted(path.name for path in folder.iterdir()) == before


def test_asymmetric_matrix_is_refused(folder, capsys):
    sparse.save_npz("w.npz", sparse.csr_array([[0.0, 1.0], [2.0, 0.0]]))
    assert "must be symmetric, got W[0, 1] = 1.0 but W[1, 0] = 2.0" in refused(capsys, "info", "w.npz")


def test_folder_is_no_graph(folder, capsys):
    (folder / "d.txt").mkdir()
    assert "is not a file" in refused(capsys, "info", "d.txt")


HUGE = "--zoom times the bound of the spectrum"

REFUSED = {
    "missing graph": (["info", "nothing.mtx"], "there is no file 'nothing.mtx'"),
    "built-in": (["info", "@nothing"], "built-in graphs are"),
    "built-in size": (["info", "@grid"], "@grid takes 1 to 2 numbers"),
    "built-in word": (["info", "@ring:x"], "@ring takes whole numbers"),
    "built-in too small": (["info", "@ring:0"], "must be"),
    "missing signal": (["filter", "@ring:9", "no.npy", "--pass", "low:1", "-o", "y.npy"], "there is no file 'no.npy'"),
    "signal length": (["filter", "@ring:9", "f.npy", "--pass", "low:1", "-o", "y.npy"], "must have shape (9,)"),
    "signal line": (["filter", "@ring:3", "bad.csv", "--pass", "low:1", "-o", "y.npy"], "line 2: expected numbers"),
    "signal width": (
        ["filter", "@ring:3", "ragged.csv", "--pass", "low:1", "-o", "y.npy"],
        "line 3: expected 1 number as before, got 2",
    ),
    "signal nan": (["filter", "@ring:3", "nan.csv", "--pass", "low:1", "-o", "y.npy"], "must be finite"),
    "signal binary": (["filter", "@ring:3", "bin.txt", "--pass", "low:1", "-o", "y.npy"], "is not a text file"),
    "signal empty": (["filter", "@ring:3", "none.csv", "--pass", "low:1", "-o", "y.npy"], "is empty"),
    "signal npy": (["filter", "@ring:3", "bad.npy", "--pass", "low:1", "-o", "y.npy"], "cannot be read"),
    "signal ending": (["filter", "@ring:3", "x.wav", "--pass", "low:1", "-o", "y.npy"], "must end in"),
    "target": (["filter", "@ring:9", "f.npy", "--pass", "lowest:1", "-o", "y.npy"], "must start with one of"),
    "target number": (["design", "--target", "low:x", "--lmax", "2"], "must have a number for cutoff"),
    "neither": (["filter", "@ring:9", "f.npy", "-o", "y.npy"], "one of --pass and --coeffs"),
    "both": (["filter", "@ring:9", "f.npy", "--pass", "low:1", "--coeffs", "1,1", "-o", "y.npy"], "not both"),
    "coeffs": (["bound", "@ring:9", "--coeffs", "1,two", "--zoom", "1"], "--coeffs must be numbers"),
    "coeffs file": (["bound", "@ring:9", "--coeffs", "no.json"], "there is no file 'no.json'"),
    "coeffs json": (["bound", "@ring:9", "--coeffs", "other.json"], "is not what the design command writes"),
    "coeffs zoom": (["bound", "@ring:9", "--coeffs", "1,1"], "--zoom must be given with --coeffs"),
    "coeffs order": (
        ["bound", "@ring:9", "--coeffs", "1,1", "--zoom", "1", "--order", "3"],
        "--order must be left out",
    ),
    "complex c0": (["bound", "@ring:9", "--coeffs", "1j,1", "--zoom", "1"], "`coeffs[0]` must be real"),
    "no zoom": (["decay", "@ring:9", "--order", "2"], "--zoom and --order must be given"),
    "zoom": (["zoom", "@ring:9", "--zoom", "-1"], "--zoom must be positive and finite, got -1"),
    "zoom nan": (["zoom", "@ring:9", "--zoom", "nan"], "--zoom must be positive"),
    "tol": (["filter", "@ring:9", "f.npy", "--pass", "low:1", "--tol", "0", "-o", "y.npy"], "--tol must be positive"),
    "order": (["bound", "@ring:9", "--zoom", "1", "--order", "0"], "--order"),
    "number": (["bound", "@ring:9", "--zoom", "one", "--order", "1"], "--zoom"),
    "laplacian": (["info", "@ring:9", "--laplacian", "random"], "--laplacian"),
    "seed": (["info", "@ring:9", "--seed", "-1"], "--seed"),
    "vertex": (["decay", "@ring:9", "--vertex", "9", "--zoom", "1", "--order", "1"], "`vertex` must be below"),
    "lowest": (["zoom", "@ring:9", "--lowest", "10"], "--lowest must be at most"),
    "no edges": (["zoom", "points.npy"], "must have edges"),
    "lmax and graph": (["design", "--target", "low:1", "--lmax", "2", "--graph", "@ring:9"], "not both"),
    "lmax": (["design", "--target", "low:1", "--lmax", "0"], "--lmax must be positive"),
    "option": (["info", "@ring:9", "--unknown"], "--unknown"),
    "command": (["inform", "@ring:9"], "inform"),
    "no graph": (["info"], "GRAPH"),
    "no output": (["filter", "@ring:9", "f.npy", "--pass", "low:1"], "--output must be given"),
    "ending": (["filter", "@ring:9", "f.npy", "--pass", "low:1", "-o", "y.wav"], "must end in .npy or .csv or .txt"),
    "report ending": (["report", "@ring:9", "-o", "page.pdf"], "must end in .html"),
    "picture ending": (["info", "@ring:9", "-o", "x.npy"], "must end in .png"),
    "exists": (["report", "@ring:9", "-o", "there.html"], "exists; give --force"),
    "is a folder": (["report", "@ring:9", "-o", "folder.html", "--force"], "is a folder"),
    "below a file": (["report", "@ring:9", "-o", "f.npy/page.html"], "cannot be written"),
    "twice": (["zoom", "@ring:9", "-o", "a.png", "-o", "a.png"], "different files"),
    "twice through folders": (["zoom", "@ring:9", "-o", "a.csv", "-o", "x/../a.csv"], "different files"),
    "exists through folders": (["report", "@ring:9", "-o", "x/../there.html"], "exists; give --force"),
    "sweeps": (
        ["bound", "@ring:9", "--zoom", "1", "--order", "2", "--sweeps", "1000000000"],
        "--sweeps times the order 2 must be at most 1,000,000, got 1,000,000,000",
    ),
    "sweeps of a fit": (["bound", "@ring:9", "--target", "low:1", "--sweeps", "125001"], "times the order 8 must be"),
    "relative target": (
        ["filter", "points.npy", "three.csv", "--pass", "low:0.5r", "-o", "y.npy"],
        "the graph must have edges for the relative numbers in 'low:0.5r'",
    ),
    "relative fit": (["bound", "points.npy", "--target", "low:0.5r"], "must have edges"),
    "fit without edges": (["decay", "points.npy", "--target", "low:0.5"], "the graph must have edges for a fit"),
    "filter fit without edges": (
        ["filter", "points.npy", "three.csv", "--pass", "low:1", "--order", "2", "-o", "y.npy"],
        "the graph must have edges for a fit",
    ),
    "built-in count": (["info", "@ring"], "@ring takes 1 number, each behind a colon"),
    "huge zoom of bound": (["bound", "@ring:9", "--zoom", "1e308", "--order", "2"], HUGE),
    "huge zoom of decay": (["decay", "@ring:9", "--zoom", "1e308", "--order", "2"], HUGE),
    "huge zoom of a fit": (["decay", "@ring:9", "--zoom", "1e308", "--target", "low:1"], HUGE),
    "huge zoom": (["zoom", "@ring:9", "--zoom", "1e308", "--lowest", "2"], HUGE),
    "huge zoom of design": (["design", "--target", "low:1", "--lmax", "4", "--zoom", "1e308"], HUGE),
    "huge zoom of filter": (
        ["filter", "@ring:3", "three.csv", "--coeffs", "0.5,0.2", "--zoom", "1e308", "-o", "y.npy"],
        HUGE,
    ),
    "variable": (["info", "f.npy", "--variable", "W"], "`variable` must be left out"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(folder, capsys, case):
    np.save("points.npy", np.zeros((3, 3)))
    contents = {"bad.csv": b"1\nx\n2\n", "ragged.csv": b"1\n2\n3,4\n", "nan.csv": b"1\nnan\n2\n", "none.csv": b""}
    contents["three.csv"] = b"1\n2\n3\n"
    contents |= {"bin.txt": b"\xff\xfe\x81", "bad.npy": b"PK\x03\x04", "other.json": b"[1, 2]", "there.html": b"mine"}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "folder.html").mkdir()
    before = {path.name: path.is_dir() or path.read_bytes() for path in folder.iterdir()}
    arguments, message = REFUSED[case]
    assert message in refused(capsys, *arguments)
    assert {path.name: path.is_dir() or path.read_bytes() for path in folder.iterdir()} == before


def test_outputs_are_checked_before_work(folder, capsys, monkeypatch):
    def fail(*args, **kwargs):
        raise AssertionError("the graph was read")

    monkeypatch.setattr("cayleygsp.cli.loading.load_graph", fail)
    (folder / "there.npy").write_text("mine")
    refused(capsys, "filter", "@ring:9", "f.npy", "--pass", "low:1", "-o", "there.npy")
    refused(capsys, "report", "@ring:9", "-o", "x.pdf")


def test_force_overwrites(folder, capsys):
    (folder / "y.npy").write_text("old")
    run_json(capsys, "filter", "@communities", "f.npy", "--pass", "heat:1", "-o", "y.npy", "--force")
    assert np.load("y.npy").shape == (N, 2)


def test_a_write_that_fails_is_one_line_and_leaves_the_old_file(folder, capsys, monkeypatch):
    def full(path, target):
        raise OSError(28, "No space left on device")

    (folder / "table.csv").write_text("old")
    monkeypatch.setattr("os.replace", full)
    assert "No space left on device" in refused(
        capsys, "zoom", "@ring:9", "--lowest", "2", "-o", "table.csv", "--force"
    )
    assert (folder / "table.csv").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy", "table.csv"]


SEVERAL = {
    "info": ["@ring:9", "-o", "a.png", "-o", "b.png"],
    "zoom": ["@ring:9", "--lowest", "2", "-o", "a.csv", "-o", "b.png"],
    "filter": ["@communities", "f.npy", "--pass", "heat:1", "-o", "a.npy", "-o", "b.txt"],
    "bound": ["@ring:9", "--zoom", "1", "--order", "2", "-o", "a.csv", "-o", "b.png"],
    "decay": ["@ring:9", "--zoom", "1", "--order", "2", "-o", "a.csv", "-o", "b.png"],
    "design": ["--target", "low:1", "--lmax", "4", "-o", "a.json", "-o", "b.png"],
}


@pytest.mark.parametrize("name", SEVERAL)
def test_an_output_that_cannot_be_made_leaves_none_of_the_others(folder, capsys, monkeypatch, name):
    def fail(*args):
        raise MemoryError("no memory for the second")

    make = outputs.array_bytes
    for module in (bound, decay, design, info, zoom):
        monkeypatch.setattr(module, "png_bytes", fail)
    monkeypatch.setattr(filter, "array_bytes", lambda y, ending: fail() if ending == ".txt" else make(y, ending))
    assert "no memory for the second" in refused(capsys, name, *SEVERAL[name])
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy"]


@pytest.mark.parametrize("name", SEVERAL)
def test_several_outputs_are_all_written(folder, capsys, name):
    assert main([name, *SEVERAL[name]]) == 0
    for path in SEVERAL[name][-3::2]:
        assert (folder / path).stat().st_size > 0
        assert path in capsys.readouterr().out or path.startswith("b")


def test_a_write_that_fails_leaves_no_other_output_of_the_folder(folder, capsys, monkeypatch):
    write = type(folder).write_bytes

    def full(path, content):
        if path.name == "b.png":
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(type(folder), "write_bytes", full)
    said = refused(capsys, "zoom", *SEVERAL["zoom"])
    assert "'a.csv', 'b.png' cannot be written: No space left on device" in said
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy"]


def test_outputs_go_to_their_folders_and_no_other_is_made(folder, capsys):
    outputs = ["-o", "one/a.csv", "-o", "two/b.csv", "-o", "gone/../c.csv"]
    assert main(["zoom", "@ring:9", "--lowest", "2", *outputs]) == 0
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.csv") if path.name != "f.csv")
    assert found == ["c.csv", "one/a.csv", "two/b.csv"]
    assert not (folder / "gone").exists()


@pytest.mark.parametrize("name", ["bound", "decay", "report"])
def test_what_the_library_refuses_is_one_line(folder, capsys, monkeypatch, name):
    def refuse(*args, **kwargs):
        raise ValueError("`zoom` times the largest degree must be finite")

    place = {"bound": "bounds.kappa", "decay": "localization.decay_curve", "report": "report.page.report_on"}[name]
    monkeypatch.setattr(f"cayleygsp.{place}", refuse)
    rest = ["-o", "page.html"] if name == "report" else ["--zoom", "1", "--order", "2", "-o", "a.csv"]
    assert "`zoom` times the largest degree must be finite" in refused(capsys, name, "@ring:9", *rest)
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy"]


@pytest.mark.parametrize("name", ["bound", "decay"])
def test_large_zooms_are_answered(capsys, name):
    found = run_json(capsys, name, "@ring:9", "--zoom", "1e12", "--order", "2")
    if name == "bound":
        assert found["needs"]["sharp"] is None
        assert found["needs"]["series_degree"] is None
    else:
        assert found["mass"][-1] == 0


def test_most_sweeps_are_bounded(capsys):
    found = run_json(capsys, "bound", "@ring:9", "--zoom", "1", "--order", "1", "--sweeps", "1000000")
    assert found["rows"][-1]["n_iter"] == 1_000_000
    assert found["rows"][-1]["series"] == 0


def test_one_is_not_many(folder, capsys):
    (folder / "edge.txt").write_text("0 1\n")
    np.save("point.npy", np.zeros((1, 1)))
    np.save("loop.npy", np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert main(["zoom", "edge.txt", "--lowest", "1"]) == 0
    out = capsys.readouterr().out
    assert "2 vertices, 1 edge," in out
    assert "1 frequency, up to" in out
    assert "half circle of the lowest " in out
    assert main(["bound", "point.npy", "--zoom", "1", "--order", "1", "--sweeps", "1"]) == 0
    out = capsys.readouterr().out
    assert "1 vertex, 0 edges" in out
    assert "With 1 sweep " in out
    assert main(["info", "loop.npy"]) == 0
    out = capsys.readouterr().out
    assert "1 and 1 self-loop\n" in out
    assert "2, the largest of 2 vertices" in out
    assert "without edges  1 vertex\n" in out
    assert main(["report", "edge.txt", "-o", "page.html"]) == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "2 vertices and 1 edge:" in page
    assert "The lowest frequency goes up to" in page


def test_bugs_keep_their_traceback(capsys, monkeypatch):
    def broken(*args):
        raise ValueError("a bug")

    monkeypatch.setattr("cayleygsp.report.facts.graph_facts", broken)
    with pytest.raises(ValueError, match="a bug"):
        main(["info", "@ring:9"])


# -------------------------------------------------------------------------------------------- as a process


def start(folder, *arguments):
    command = [sys.executable, "-m", "cayleygsp.cli", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_process_ends_with_the_exit_code_and_one_line(tmp_path):
    (tmp_path / "bad.txt").write_text("0 1\n0\n")
    process = start(tmp_path, "info", "bad.txt")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "line 2" in err


def test_output_that_cannot_show_greek_letters_is_no_error(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "cayleygsp.cli", "info", "@ring:8"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, check=True)
    assert "certainly at most" in done.stdout
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="file names of other systems are text")
def test_file_names_that_are_no_text_are_no_error(tmp_path):
    name = b"bad\xff.txt"
    (tmp_path / os.fsdecode(name)).write_bytes(b"0 1\n1 2\n")
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    for arguments in (
        [b"info", name],
        [b"report", name, b"-o", b"page.html"],
        [b"zoom", name, b"--lowest", b"2", b"-o", b"out\xff.csv"],
    ):
        command = [os.fsencode(sys.executable), b"-m", b"cayleygsp.cli", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=environment, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"bad?" in done.stdout
    assert "bad?.txt" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (tmp_path / os.fsdecode(b"out\xff.csv")).exists()
    missing = [os.fsencode(sys.executable), b"-m", b"cayleygsp.cli", b"info", b"no\xff.txt"]
    done = subprocess.run(missing, cwd=tmp_path, capture_output=True, env=environment, check=False)
    assert done.returncode == 2
    assert done.stderr == b"cayleygsp: error: there is no file 'no\\udcff.txt'\n"


def test_interrupt_ends_cleanly(tmp_path):
    program = (
        "import sys\nfrom cayleygsp.cli import main, loading\n"
        "def slow(*args):\n    print('ready', flush=True)\n    import time\n    time.sleep(60)\n"
        "loading.load_graph = slow\nsys.exit(main(['report', '@ring:9', '-o', 'page.html']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signals.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_help_loads_no_pictures():
    code = "import sys\nfrom cayleygsp.cli import main\nmain(['--help'])\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    for heavy in ("matplotlib", "pygsp", "torch", "numba"):
        assert heavy not in loaded, heavy
