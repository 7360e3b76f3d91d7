"""Points and weights of a fit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp.density import spectral_density
from cayleygsp.design.problem import interval_quadrature, make_problem


@given(lmax=st.floats(1e-3, 1e3), feature=st.floats(1e-6, 0.999))
def test_interval_quadrature_integrates_steps_and_powers(lmax, feature):
    nodes, weights = interval_quadrature(lmax, (feature * lmax,), lambda a, b: 6)
    assert_allclose(weights.sum(), 1)
    assert_allclose(weights @ (nodes <= feature * lmax), feature, atol=1e-12)
    assert_allclose(weights @ (nodes / lmax) ** 9, 0.1, rtol=1e-10)


def test_no_frequency_is_free_where_the_density_is_estimated():
    L = cg.laplacian(cg.gallery.grid(30))
    problem = make_problem("heat:1", L.lmax, spectral_density(L, method="kpm", rng=0), lambda a, b: 12)
    assert problem.over == "interval"
    assert problem.nodes[0] == 0
    assert problem.weights[0] >= 0.9 / L.n_vertices
    for k in range(20):  # every octave has its share
        octave = (problem.nodes > L.lmax * 0.5 ** (k + 1)) & (problem.nodes <= L.lmax * 0.5**k)
        assert problem.weights[octave].sum() > 5e-4


def test_zeros_weigh_as_many_as_there_are_components():
    L = cg.laplacian([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    for method in ("exact", "kpm"):
        problem = make_problem("heat:1", L.lmax, spectral_density(L, method=method, rng=0), lambda a, b: 12)
        assert_allclose(problem.mean_weights[problem.nodes == 0].sum(), 0.75)
        assert problem.weights[problem.nodes == 0].sum() >= 0.7
