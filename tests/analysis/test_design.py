"""Orders for narrow bands: what is enough is enough, and products are those of a filter."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from analysis import design
from tests.analysis.helpers import run


def test_orders_are_enough_and_the_page_says_so(tmp_path):
    document, _ = run(design, tmp_path)
    found = document["communities"]
    lam = np.array(found["eigenvalues"])
    assert lam[14] < found["cut"] < lam[15]
    for row in [*found["cayley"], *found["chebyshev"]]:
        error = np.abs(design.response_at(row, lam) - (lam < found["cut"])).max()
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
