"""Definite systems: a smallest eigenvalue that is proved, and no proof where there is none."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import cayleygsp as cg
from cayleygsp.tasks.definite import DefiniteSystem


def test_the_smallest_eigenvalue_is_bounded_from_below():
    L = cg.laplacian(cg.gallery.communities(rng=0))
    for shift in (1e-6, 1e-2, 1.0):
        A = (L.matrix + shift * sparse.diags_array((np.arange(L.n_vertices) % 9 == 0) * 1.0)).tocsr()
        system = DefiniteSystem(A)
        least = np.linalg.eigvalsh(A.toarray())[0]
        assert system.proved
        assert 0.05 * least <= system.least_eigenvalue <= least


def test_a_matrix_that_may_not_be_definite_gets_no_bound():
    system = DefiniteSystem(sparse.csr_array(np.array([[2.0, -1.0], [-1.0, 2.0]])), entry_error=0.4)
    assert not system.proved
    energy, largest = system.bound(np.ones((2, 1)), np.ones((2, 1)), np.zeros((2, 1)))
    assert np.isinf([energy, largest]).all()
