"""The scripts on zoom, design and the special case: they run, and their pages and pictures come from their numbers."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import cayleygsp as cg
from analysis import design, figure_zoom, special_case
from cayleygsp import zoom


@pytest.fixture(scope="module", params=[figure_zoom, special_case, design], ids=lambda m: m.__name__)
def ran(request, tmp_path_factory):
    """Run a script in its small size; return it, its numbers and its page."""
    module, folder = request.param, tmp_path_factory.mktemp("results")
    name = module.__name__.removeprefix("analysis.")
    assert module.main(["--quick", "--results", str(folder), "--seed", "0"]) == 0
    assert {path.name for path in folder.iterdir()} == {f"{name}.{end}" for end in ("json", "md", "png")}
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return module, document, (folder / f"{name}.md").read_text(encoding="utf-8")


def test_scripts_say_how_it_came_about_and_what_they_found(ran):
    module, document, page = ran
    assert module.markdown(document) == page
    assert document["command"] in page
    assert "Quick run" in page
    {figure_zoom: check_zoom, special_case: check_special_case, design: check_design}[module](document)


def check_zoom(document):
    lam = np.array(document["eigenvalues"])
    n = document["n_marked"]
    assert document["gap"] == lam[n - 1 : n + 1].tolist()
    for row in document["zooms"]:
        theta = zoom.angles(lam, row["zoom"])
        assert row["marked_share"] == pytest.approx((theta[n - 1] - theta[0]) / np.pi)
    by_zoom = [row["marked_share"] for row in document["zooms"][:3]]
    assert by_zoom == sorted(by_zoom)  # a larger zoom spreads low frequencies more
    best = document["zooms"][3]
    assert all(best["gap_angle"] >= row["gap_angle"] for row in document["zooms"])
    changed = copy.deepcopy(document)
    changed["zooms"][0]["marked_angle"] = 1.2345
    assert "1.234 rad" in figure_zoom.markdown(changed) or "1.235 rad" in figure_zoom.markdown(changed)


def check_special_case(document):
    same = [row for row in document["rows"] if row["constant_diagonal"]]
    other = [row for row in document["rows"] if not row["constant_diagonal"]]
    assert {row["graph"] for row in same if row["kind"] == "combinatorial"} == {
        "ring",
        "random regular, degree 4",
        "random regular, degree 10",
    }
    assert all(row["kind"] == "combinatorial" for row in other)
    assert max(row["difference"] for row in same) < 1e-12
    assert min(row["difference"] for row in other) > 1e-3


def check_design(document):
    found = document["communities"]
    lam = np.array(found["eigenvalues"])
    assert lam[14] < found["cut"] < lam[15]
    for row in [*found["cayley"], *found["chebyshev"]]:
        error = np.abs(design._response(row, lam) - (lam < found["cut"])).max()
        assert error == pytest.approx(row["error"], rel=1e-6, abs=1e-9)
    assert found["cayley"][-1]["order"] == 4
    assert found["cayley"][-1]["error"] < 0.1 < found["cayley"][0]["error"]
    assert found["chebyshev"][-1]["error"] <= 0.1 < found["chebyshev_below_bound"]
    for row in [*document["low_bands"], *document["middle_bands"]]:
        assert row["cayley_error"] <= 0.1
        assert row["chebyshev_error"] <= 0.1
        assert row["chebyshev_order"] > row["cayley_order"]
    assert any("proved" in line for line in design.conclusions(document))


def test_products_are_what_a_filter_takes():
    row = design.measure_band("0 to 0.1", 0.1, cg.design.LowPass(0.1, transition=0.1))
    L = cg.laplacian(cg.gallery.ring(40)).with_lmax(4.0)
    fit = cg.design.fit_cayley(cg.design.LowPass(0.4, transition=0.4), row["cayley_order"], 4.0, row["zoom"] / 4)
    _, info = cg.CayleyFilter(L, fit.polynomial, method="chebyshev", tol=design.TOL).filter(
        np.ones(40), return_info=True
    )
    assert info.n_matvecs == pytest.approx(row["products"], rel=0.3)


@pytest.mark.parametrize("module", [figure_zoom, special_case, design])
def test_senseless_arguments_are_refused_before_anything_is_computed(module, capsys):
    with pytest.raises(SystemExit):
        module.main(["--seed", "-1"])
    assert "--seed must be 0 or more" in capsys.readouterr().err
