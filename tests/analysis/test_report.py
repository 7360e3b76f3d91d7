"""The main report: it is complete, stands alone, keeps its promises, and fails without damage."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import io
import json
import re
import runpy
import sys

import pytest

from analysis import community, complexity, cora, mnist, movielens, report
from analysis.report import experiments, methods, script
from analysis.report.graph import compute_spectrum
from analysis.report.methods import Run, describe_runs
from cayleygsp._files import write_files
from cayleygsp._format import format_measured
from cayleygsp._html import Section
from tests.analysis.killed_rank import TINY

PICTURES = ("graph", "density", "spectrum", "resolution", "design")
PICTURES += ("response", "denoising", "methods", "bounds", "decay")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run the script once; return its folder, what it printed, and the section that takes most of its time."""
    out = tmp_path_factory.mktemp("report") / "new" / "out"
    printed, bounds = io.StringIO(), []
    bounds_section = script.bounds_section
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setattr(script, "bounds_section", lambda *args: bounds.append(bounds_section(*args)) or bounds[0])
        assert report.main(["--quick", "--out", str(out)]) == 0
    return out, printed.getvalue(), bounds[0]


@pytest.fixture
def short(ran, monkeypatch, undrawn):
    """Let the script compare few methods, draw nothing and take the section on bounds from the run before."""
    monkeypatch.setattr(methods, "settings", lambda quick: SHORT)
    monkeypatch.setattr(script, "bounds_section", lambda *args: ran[2])


@pytest.fixture(scope="module")
def folder(ran):
    return ran[0]


@pytest.fixture(scope="module")
def page(folder):
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def numbers(folder):
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def test_writes_page_numbers_and_pictures_and_nothing_else(folder):
    names = {path.name for path in folder.iterdir()}
    assert names == {"report.html", "explorer.html", "report.json", *(f"{name}.png" for name in PICTURES)}


def test_page_holds_the_pictures_that_stand_beside_it(folder, page):
    embedded = [base64.b64decode(data) for data in re.findall(r'src="data:image/png;base64,([^"]+)"', page)]
    assert embedded == [(folder / f"{name}.png").read_bytes() for name in PICTURES]
    assert all(png.startswith(b"\x89PNG") for png in embedded)


def test_page_needs_no_other_file_and_no_network(page):
    text = re.sub(r"base64,[^\"]+", "base64,", page)
    assert "http" not in text
    assert "//" not in text
    assert re.findall(r'src="(?!data:)', text) == []
    assert re.findall(r'href="(?!#)([^"]*)', text) == ["explorer.html"]
    assert "url(" not in text


def test_every_measured_error_is_below_its_bound(numbers):
    rows = numbers["methods"]
    assert len(rows) == 13
    assert all(0 <= row["measured_error"] <= row["certified_bound"] for row in rows)


def test_what_converged_keeps_its_tolerance(numbers):
    for row in numbers["methods"]:
        assert row["converged"] == (row["certified_bound"] <= row["tol"])
        if row["method"] != "jacobi":
            assert row["converged"], row


def test_small_forms_of_the_experiments_have_sections_of_their_own(monkeypatch):
    monkeypatch.setattr(community, "QUICK_MODELS", ("exact", "ChebNet"))
    monkeypatch.setattr(community, "QUICK_ORDERS", (1,))
    monkeypatch.setattr(complexity, "SIZES", ((), (90, 100)))
    monkeypatch.setattr(complexity, "TIMED_ORDERS", ((), (1,)))
    # short, and in this process: others would have to load everything again
    compute, little = community.compute, ["--workers", "1", "--epochs", "2"]
    monkeypatch.setattr(community, "compute", lambda argv, quiet: compute([*argv, *little], quiet=quiet))
    monkeypatch.setattr(movielens, "QUICK", dataclasses.replace(movielens.QUICK, steps=10))
    monkeypatch.setattr(cora.settings, "QUICK_MODELS", ("cayleynet-16", "chebnet"))
    monkeypatch.setattr(cora.settings, "QUICK_EPOCHS", 2)
    monkeypatch.setattr(mnist, "QUICK", TINY)
    sections, numbers = experiments.experiment_sections(["--seed", "3"])
    names = [picture.name for section in sections for picture in section.pictures]
    assert names == ["community", "complexity", "mnist", "cora", "movielens"]
    learning, timing, digits, citations, completion = sections
    assert [row[0] for row in learning.table.rows] == ["CayleyNet, exact", "ChebNet"]
    assert len(learning.closing) == 2
    assert {row["model"] for row in numbers["community"]} == {"exact", "ChebNet"}
    assert len(timing.table.rows) == len(complexity.MODELS)
    assert len(completion.table.rows) == len(numbers["movielens"]) == len(movielens.QUICK_MODELS)
    assert [row["model"] for row in numbers["cora"]] == ["cayleynet-16", "chebnet"]
    assert len(citations.table.rows) == 2
    assert len(digits.table.rows) == len(numbers["mnist"]) == len(mnist.QUICK_MODELS)


def test_full_run_has_the_experiments_on_its_page(tmp_path, monkeypatch, short):
    section = Section("Networks, in small", ["trained here"])
    monkeypatch.setattr(experiments, "experiment_sections", lambda argv: ([section], {"argv": argv}))
    assert report.main(["--seed", "2", "--out", str(tmp_path)]) == 0
    assert "Networks, in small" in (tmp_path / "report.html").read_text(encoding="utf-8")
    numbers = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert numbers["experiments"] == {"argv": ["--seed", "2"]}


def test_quick_run_leaves_out_only_the_slowest_method():
    assert set(methods.settings(quick=False)) - set(methods.settings(quick=True)) == {("jacobi", 1e-6, 1000)}


def test_page_shows_the_numbers_of_the_table(page, numbers):
    for row in numbers["methods"]:
        assert f"<td>{format_measured(row['measured_error'], methods.REFERENCE_ERROR)}</td>" in page
    assert "13 of 13 rows" in page
    assert numbers["versions"]["cayleygsp"] in page


def test_filter_separates_the_communities_and_removes_noise(numbers):
    # Order 8 leaves a few hundredths at both sides of the gap.
    assert 0.95 < numbers["filter"]["kept_min"] < numbers["filter"]["kept_max"] < 1.05
    assert numbers["filter"]["stopped_max"] < 0.05
    # White noise kept on 15 of 366 frequencies shrinks by sqrt(366/15) ≈ 4.9.
    assert numbers["denoising"]["rms_error_filtered"] < numbers["denoising"]["rms_error_noisy"] / 4


def test_design_bounds_and_localization_are_in_the_numbers(numbers, page):
    design = numbers["design"]
    assert design["Cayley"]["n_parameters"] == design["Chebyshev"]["n_parameters"]
    assert design["Cayley"]["residual_rms"] < design["Chebyshev"]["residual_rms"]
    # the ridge keeps the coefficients as small as the response
    assert design["Cayley"]["coeff_norm"] < 1 < design["Cayley"]["peak"] < 1.1
    rows = numbers["bounds"]["rows"]
    assert all(row["measured"] <= row["sharp"] + row["rounding"] for row in rows)
    assert f"in {len(rows)} of {len(rows)} rows" in page
    decay = numbers["decay"]
    for mass, proved in zip(decay["mass"], decay["bounds"]["series"]["mass"], strict=True):
        assert mass is None or mass <= proved + decay["floor"]
    shares = [row["circle_share"] for row in numbers["zoom"]]
    assert shares == sorted(shares)


def test_prints_the_path_of_the_report(ran):
    folder, printed, _ = ran
    assert printed.splitlines() == [str(folder / "report.html")]


SHORT = [("chebyshev", 1e-3, None), ("chebyshev", 1e-6, None), ("multigrid", 1e-3, None), ("jacobi", 1e-6, 1)]
SHORT += [("jacobi", 1e-6, 100), ("auto", 1e-6, None)]


@pytest.mark.parametrize(("module", "broken"), [(methods, "describe_runs"), (script, "write_files")])
def test_failing_run_leaves_an_earlier_report_as_it_was(tmp_path, monkeypatch, short, module, broken):
    (tmp_path / "report.html").write_text("earlier")
    (tmp_path / "graph.png").write_text("earlier too")

    def fail(*args, **kwargs):
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(module, broken, fail)
    with pytest.raises(RuntimeError, match="broken on purpose"):
        report.main(["--quick", "--out", str(tmp_path)])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "report.html": "earlier",
        "graph.png": "earlier too",
    }


def test_files_are_renamed_only_when_all_are_written(tmp_path):
    (tmp_path / "a").write_text("earlier")
    with pytest.raises(TypeError):
        write_files(tmp_path, {"a": b"new", "b": "no bytes"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "earlier"}


def test_same_seed_gives_the_same_numbers_and_another_seed_others(numbers):
    again = compute_spectrum(0)
    assert again.eigenvalues.tolist() == pytest.approx(numbers["eigenvalues"], abs=1e-10)
    assert compute_spectrum(1).graph.n_edges != again.graph.n_edges


def test_wording_follows_the_numbers():
    def run(method, n_iter, passes, error, bound, tol=1e-6):
        return Run(method, "", tol, n_iter, passes, 0.0, 0.0, error, bound, bound <= tol, method, "because")

    runs = [run("chebyshev", None, 10, 1e-4, 1e-3, 1e-3), run("chebyshev", None, 20, 1e-7, 1e-6)]
    runs += [run("multigrid", None, 5, 1e-4, 1e-3, 1e-3), run("multigrid", None, 20, 1e-7, 1e-6)]
    runs += [run("jacobi", 1, 16, 0.1, 0.5), run("jacobi", 9, 80, 0.2, 0.1), run("auto", None, 20, 1e-7, 1e-6)]
    text = " ".join(describe_runs(runs))
    assert "below the certified bound in 6 of 7 rows" in text
    assert "certifies nothing" not in text
    assert "K = 1, takes 0.8 times the passes of Chebyshev with tolerance 1e-6 (16 against 20)" in text
    assert "from K = 1 to K = 9 the error grows from 1.0e-01 to 2.0e-01" in text
    assert "chebyshev 2 times the passes (20 against 10) and multigrid 4 times the passes (20 against 5)" in text
    assert "automatic choice was auto (because)" in text


def test_every_picture_has_a_caption_and_every_section_an_anchor(page):
    assert page.count("<figcaption>") == page.count("<figure>") == len(PICTURES)
    assert "<figcaption></figcaption>" not in page
    assert re.findall(r'<a href="#([^"]+)"', page) == re.findall(r'<h2 id="([^"]+)"', page)
    assert 'alt=""' not in page


def test_script_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["report", "--help"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("analysis.report", run_name="__main__")  # as python -m does
    assert stop.value.code == 0
    assert "python -m analysis.report" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--seed", "-1"], ["--seed", "x"], ["--unknown"]])
def test_wrong_arguments_end_with_a_message(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        report.main(arguments)
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_out_must_not_be_a_file(tmp_path, capsys):
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(SystemExit):
        report.main(["--out", str(path)])
    assert "must be a folder" in capsys.readouterr().err
    assert path.read_text() == "mine"
