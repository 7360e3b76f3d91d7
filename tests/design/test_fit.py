"""What a fit says of itself."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import design
from cayleygsp.design.problem import graph_weight

RING = cg.laplacian(cg.gallery.ring(24))


@pytest.mark.parametrize(
    ("target", "weight", "where"),
    [
        ("heat:1", None, "at every frequency of [0, 4]"),
        ("low:1:0.5", None, "at every frequency of [0, 4] outside the transition"),
        ("heat:1", [0.0, 1.0, 2.5], "at the 3 given frequencies"),
        ("heat:1", [0.5], "at the given frequency"),
        ("heat:1", "spectrum", "at the 24 eigenvalues"),
        ("low:1:0.5", "spectrum", "at the 22 eigenvalues outside the transition"),
        ("heat:1", "density", "at every frequency of [0, 4]"),
        (np.cos, None, "at the sampled frequencies of [0, 4]"),
    ],
)
def test_a_fit_says_where_its_distance_holds(target, weight, where):
    if isinstance(weight, str):
        weight = graph_weight(RING, weight, 0)
    assert design.fit_cayley(target, 2, 4.0, 1.0, weight).where == where


def test_the_mean_is_called_estimated_where_the_density_is():
    weights = {kind: graph_weight(RING, kind, 0) for kind in ("density", "spectrum", "uniform")}
    words = {
        kind: "(estimated)" in design.fit_chebyshev("heat:1", 3, RING.lmax, w).summary for kind, w in weights.items()
    }
    assert words == {"density": True, "spectrum": False, "uniform": False}


def test_a_response_far_above_the_target_is_told():
    lam = np.array([1.0, 1.1, 1.2])
    fit = design.fit_chebyshev(lambda x: (x > 1.15).astype(float), 2, 10.0, lam, ridge=0)
    assert fit.is_far_above
    assert "far above the target's 1" in fit.summary
    assert "far above" not in design.fit_chebyshev("heat:1", 8, 10.0).summary


def test_a_fit_on_a_graph_without_edges_keeps_its_value_at_zero():
    fit = design.fit_chebyshev("heat:1", 5, 0.0)
    g = cg.ChebyshevFilter(cg.laplacian(np.zeros((3, 3))), fit.polynomial)
    assert_allclose(g @ np.ones(3), fit.polynomial(np.zeros(3)))
    assert cg.ChebyshevFilter.fit(np.zeros((3, 3)), "heat:1", 5).response.lmax == 0


def test_filters_fit_as_the_functions_do():
    for kind, function, order in (
        (cg.CayleyFilter, design.fit_cayley, 3),
        (cg.ChebyshevFilter, design.fit_chebyshev, 7),
    ):
        g, fit = kind.fit(RING, "heat:1", order, return_info=True)
        expected = function("heat:1", order, RING.lmax, weight=graph_weight(RING))
        assert_allclose(g.response.coeffs, expected.polynomial.coeffs)
        assert g.response is fit.polynomial
        assert_allclose(kind.fit(RING, "heat:1", order).response.coeffs, expected.polynomial.coeffs)
