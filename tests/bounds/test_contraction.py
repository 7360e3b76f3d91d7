"""How fast the Jacobi iteration contracts, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp import bounds
from cayleygsp.bounds.contraction import is_regular, jacobi_factor
from tests.strategies import laplacians

KINDS = ("sharp", "safe", "paper")


def iteration_matrix(L, zoom):
    """J = I - Diag(hΔ + i)^{-1} (hΔ + i), dense."""
    A = zoom * L.matrix.toarray() + 1j * np.eye(L.n_vertices)
    return np.eye(L.n_vertices) - A / np.diag(A)[:, None]


@given(L=laplacians(), zoom=st.floats(1e-3, 1e3))
def test_kappa_is_the_largest_row_sum_of_the_iteration_matrix(L, zoom):
    J = iteration_matrix(L, zoom)
    assert bounds.kappa(L, zoom) == pytest.approx(np.abs(J).sum(axis=1).max(), rel=1e-10, abs=1e-13)


@given(L=laplacians(kinds=("combinatorial",)), zoom=st.floats(1e-3, 1e3))
def test_kappa_of_the_combinatorial_laplacian_is_that_of_the_largest_degree(L, zoom):
    hd = zoom * L.diagonal.max()
    assert bounds.kappa(L, zoom) == pytest.approx(hd / np.sqrt(hd**2 + 1), rel=1e-10, abs=1e-13)


def test_kappa_of_a_normalized_star_exceeds_one_but_the_sharp_rate_does_not():
    L = cg.laplacian(cg.gallery.star(17), "normalized")
    assert bounds.kappa(L, 1.0) == pytest.approx(4 / np.sqrt(2))
    assert jacobi_factor(L, 1.0) == pytest.approx(1 / np.sqrt(2))


@given(L=laplacians(), zoom=st.floats(1e-2, 1e2))
def test_a_sweep_contracts_on_every_graph(L, zoom):
    E = np.hypot(zoom * L.diagonal, 1)
    J = iteration_matrix(L, zoom)
    weighted = np.linalg.norm(np.sqrt(E)[:, None] * J / np.sqrt(E), 2)
    factor = jacobi_factor(L, zoom)
    assert weighted <= factor * (1 + 1e-9) + 1e-14
    assert factor < 1


@pytest.mark.parametrize(
    ("graph", "kind", "regular"),
    [
        (cg.gallery.ring(12), "combinatorial", True),
        (cg.gallery.ring(12), "normalized", True),
        (cg.gallery.random_regular(20, 4, rng=0), "combinatorial", True),
        (cg.gallery.path(5), "combinatorial", False),
        (cg.gallery.path(5), "normalized", False),
        (np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1), "normalized", False),
    ],
)
def test_regular_graphs_are_told_from_others(graph, kind, regular):
    assert is_regular(cg.laplacian(graph, kind)) is regular
