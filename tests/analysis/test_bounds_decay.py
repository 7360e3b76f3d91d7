"""The scripts on Proposition 1 and Theorem 4: they run, and what they write says what was measured."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cayleygsp as cg
from analysis import bounds, decay


def run(module, folder):
    """Run a script in its small size and return what it wrote."""
    name = module.__name__.removeprefix("analysis.")
    assert module.main(["--quick", "--results", str(folder / "new"), "--json", str(folder / "out.json")]) == 0
    assert {path.name for path in (folder / "new").iterdir()} == {f"{name}.{end}" for end in ("json", "md", "png")}
    text = (folder / "new" / f"{name}.json").read_text(encoding="utf-8")
    assert text == (folder / "out.json").read_text(encoding="utf-8")
    assert (folder / "new" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    return json.loads(text), (folder / "new" / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def proposition(tmp_path_factory):
    return run(bounds, tmp_path_factory.mktemp("bounds"))


@pytest.fixture(scope="module")
def theorem(tmp_path_factory):
    return run(decay, tmp_path_factory.mktemp("decay"))


def test_every_graph_laplacian_zoom_and_number_of_sweeps_is_there(proposition):
    rows = proposition[0]["rows"]
    assert len(rows) == 2 * 2 * len(bounds.QUICK_ZOOMS) * len(bounds.QUICK_SWEEPS)
    assert {row["laplacian"] for row in rows} == {"combinatorial", "normalized"}


def test_the_counter_example_is_found_and_told(proposition):
    document, text = proposition
    wanted = ("ring, 16", "combinatorial", 0.5, 2)
    (row,) = (r for r in document["rows"] if (r["graph"], r["laplacian"], r["zoom"], r["n_iter"]) == wanted)
    assert row["error"] == pytest.approx(5.87, abs=0.02)
    assert row["paper"] == pytest.approx(5.0)
    assert row["broken"] == ["paper"]
    assert not row["paper_proved"]
    assert "| ring, 16 | combinatorial | 0.5 | 2 | 0.7071 | 5.87 | 5 |" in text
    assert "paper: broken in 2 of 12 cases" in text


def test_bounds_that_are_proved_are_not_broken(proposition):
    for row in proposition[0]["rows"]:
        assert not set(row["broken"]) & {"safe", "sharp"}
        assert not (row["paper_proved"] and "paper" in row["broken"])


def test_worst_phase_is_at_least_as_bad_as_any_filter_with_that_power():
    L = cg.laplacian(cg.gallery.grid(3))
    worst = bounds.worst_error(L, 0.4, 2)
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    for phase in (0.0, 0.7, 2.1):
        p = cg.CayleyPolynomial([0] * bounds.ORDER + [np.exp(1j * phase)], 0.4)
        error = cg.CayleyFilter(L, p, method="jacobi", n_iter=2).toarray() - (Phi * p(lam)) @ Phi.T
        # phases are sampled: the nearest one is off by at most half a step
        assert np.linalg.norm(error, 2) <= worst / np.cos(np.pi / (2 * bounds.N_PHASES)) * (1 + 1e-9)


def test_decay_rows_hold_masses_within_what_is_proved(theorem):
    rows = theorem[0]["rows"]
    assert len(rows) == 2 * len(decay.QUICK_ZOOM_LMAX)
    for row in rows:
        mass = np.array(row["mass"])
        assert (np.diff(mass) <= 1e-12).all()
        assert not row["broken"]
        assert (mass <= np.array(row["bounds"]["series"]) + row["floor"]).all()
        assert 0 < row["fit"]["gamma"] < row["theorem"]["gamma"] < 1
        assert not np.array(row["chebyshev_mass"])[decay.ORDER :].any()
        assert np.array(row["chebyshev_mass"])[decay.ORDER - 1] > 0


def test_larger_zoom_reaches_farther(theorem):
    rows = theorem[0]["rows"]
    for near, far in zip(rows[::2], rows[1::2], strict=True):
        assert near["zoom"] < far["zoom"]
        assert near["fit"]["gamma"] < far["fit"]["gamma"]


def test_table_and_conclusions_are_written(theorem):
    text = theorem[1]
    assert "| ring, 60 | 3 |" in text
    assert "above a curve that is called proved in 0 of 4 cases" in text


def test_hops_to_a_level():
    assert decay.hops_to([1.0, 0.5, 1e-4]) == 2
    assert decay.hops_to([1.0, 0.5]) is None


@pytest.mark.parametrize("module", [bounds, decay])
@pytest.mark.parametrize("arguments", [["--seed", "-1"], ["--repeats", "2"], ["--json", "/"]])
def test_what_the_command_line_cannot_mean_is_refused(module, arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        module.main(arguments)
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err
