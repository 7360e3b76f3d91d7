"""Conjugate gradients on blocks, real and complex, and the cycle behind them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import cayleygsp as cg
from cayleygsp.methods.cycle import BlockCycle
from cayleygsp.methods.solvers import block_cg


def same(v):
    return v.copy()


def test_a_complex_symmetric_system_is_solved():
    rng = np.random.default_rng(0)
    B = rng.standard_normal((40, 40))
    A = B @ B.T + 1j * np.eye(40)
    b = rng.standard_normal((40, 2)) + 1j * rng.standard_normal((40, 2))
    x, residuals = block_cg(lambda v: A @ v, same, b, np.full(2, 1e-9), max_iterations=400)
    assert (np.linalg.norm(A @ x - b, axis=0) <= 1e-8).all()
    assert residuals[0] == pytest.approx(np.linalg.norm(b, axis=0))


def test_nothing_is_done_where_there_is_nothing_to_do():
    x, residuals = block_cg(same, same, np.zeros((5, 1), complex), np.zeros(1))
    assert_array_equal(x, 0)
    assert residuals.shape == (1, 1)


def test_it_gives_up_where_rounding_stops_it():
    A = np.diag(np.linspace(1, 10, 30)) + 1j * np.eye(30)
    b = np.ones((30, 1), complex)
    x, residuals = block_cg(lambda v: A @ v, same, b, np.full(1, 1e-300))
    assert len(residuals) < 300
    assert np.linalg.norm(A @ x - b) < 1e-13


def test_a_block_is_solved_as_its_columns_are():
    rng = np.random.default_rng(0)
    A = cg.laplacian(cg.gallery.grid(25)).matrix.toarray() + 0.01 * np.eye(625)
    b = rng.standard_normal((625, 5)) * 10.0 ** np.arange(-3, 2)
    cycle = BlockCycle(sparse.csr_array(A))
    x, history = block_cg(lambda v: A @ v, cycle, b, 1e-10 * np.linalg.norm(b, axis=0))
    assert history.shape[1] == 5
    assert (np.linalg.norm(A @ x - b, axis=0) <= 1e-9 * np.linalg.norm(b, axis=0)).all()
