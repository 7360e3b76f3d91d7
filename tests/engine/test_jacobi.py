"""Compiled Jacobi sweeps against dense matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp.engine.jacobi import JacobiSweeps

ZOOM, N = 0.7, 30


@pytest.fixture(params=["combinatorial", "normalized", "plain weights", "isolated"])
def L(request):
    if request.param == "plain weights":
        return cg.laplacian(cg.gallery.path(N))
    if request.param == "isolated":
        W = np.zeros((N, N))
        W[: N - 1, : N - 1] = cg.gallery.sensor(N - 1, rng=0).W.toarray()
        return cg.laplacian(W)
    return cg.laplacian(cg.gallery.sensor(N, rng=0), request.param)


def dense_power(L, K):
    """Return the matrix of the start and K sweeps."""
    A = ZOOM * L.matrix.toarray() + 1j * np.eye(N)
    E = np.diag(A)[:, None]
    J = np.eye(N) - A / E
    return sum(np.linalg.matrix_power(J, k) for k in range(K + 1)) @ ((A - 2j * np.eye(N)) / E)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 2, 11])
@pytest.mark.parametrize("K", [0, 1, 6])
def test_sweeps_and_their_transposed_are_those_of_the_dense_matrix(L, dtype, width, K):
    sweeps = JacobiSweeps(L.kernel_graph(dtype, reorder=False), ZOOM, L.diagonal)
    parts = np.random.default_rng(0).standard_normal((2, N, width)).astype(dtype)
    y = np.ascontiguousarray(parts[0] + 1j * parts[1])
    b = sweeps.start(y)
    forward = sweeps.sweep(b, b.copy(), np.empty_like(b), K)
    backward = sweeps.transposed(np.asfortranarray(y), K)
    assert forward.dtype == backward.dtype == y.dtype
    P, atol = dense_power(L, K), 200 * np.finfo(dtype).eps
    assert_allclose(forward, P @ y, atol=atol)
    assert_allclose(backward, P.T @ y, atol=atol)
