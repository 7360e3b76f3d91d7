"""The levels of smoothed aggregation: small, symmetric, the same every time, and near to what they stand for."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import cayleygsp as cg
from cayleygsp.methods.cycle import BlockCycle, aggregation_levels


def shifted(graph):
    A = sparse.csr_matrix(cg.laplacian(graph).matrix + 1e-3 * sparse.eye_array(graph.n_vertices))
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    return A


GRAPHS = {
    "grid": lambda: cg.gallery.grid(22),
    "star": lambda: cg.gallery.star(400),
    "isolated": lambda: cg.Graph(sparse.block_diag([cg.gallery.grid(20).W, np.zeros((30, 30))]).tocsr()),
    "edgeless": lambda: cg.Graph(np.zeros((300, 300))),
    "pairs": lambda: cg.Graph(sparse.kron(sparse.eye_array(300), np.array([[0, 1], [1, 0]])).tocsr()),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_levels_get_smaller_and_keep_their_matrix(name):
    A = shifted(GRAPHS[name]())
    levels = aggregation_levels(A, 50)
    assert levels[-1].P is None
    for fine, coarse in itertools.pairwise(levels):
        assert coarse.A.shape[0] < fine.A.shape[0]
        if fine.P.nnz:
            np.testing.assert_allclose(coarse.A.toarray(), (fine.P.T @ fine.A @ fine.P).toarray(), atol=1e-12)
        np.testing.assert_allclose(coarse.A.toarray(), coarse.A.toarray().T, atol=1e-12)
    again = aggregation_levels(A, 50)
    assert all((one.A != other.A).nnz == 0 for one, other in zip(levels, again, strict=True))


@pytest.mark.parametrize("name", GRAPHS)
def test_a_cycle_is_symmetric_and_contracts_the_error(name):
    A = shifted(GRAPHS[name]())
    cycle, eye = BlockCycle(sparse.csr_array(A)), np.eye(A.shape[0])
    B = cycle(eye)
    np.testing.assert_allclose(B, B.T, atol=1e-9 * np.abs(B).max())
    spectrum = np.linalg.eigvals(B @ A.toarray()).real
    assert spectrum.min() > 0.1
    assert spectrum.max() < 1 + 1e-9
