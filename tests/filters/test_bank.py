import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

import cayleygsp as cg
from tests.oracle import dense_filter, random_polynomial
from tests.strategies import laplacians, tolerances

ZOOMS = (0.1, 1.0, 7.0)


def responses(rng):
    return [random_polynomial(3, zoom, rng) for zoom in ZOOMS] + [lambda lam: np.exp(-lam)]


@pytest.mark.parametrize("method", ["chebyshev", "exact", "auto"])
@given(L=laplacians(), tol=tolerances)
def test_bank_equals_its_filters_one_by_one_in_one_recurrence(method, L, tol):
    rng = np.random.default_rng(0)
    bank = cg.FilterBank(L, responses(rng), tol=tol, method=method)
    f = rng.standard_normal((L.n_vertices, 2))
    y, info = bank.filter(f, return_info=True)
    assert y.shape == (L.n_vertices, 2, 4)
    for i, g in enumerate(bank):
        expected = dense_filter(L, g.evaluate) @ f
        error = np.linalg.norm(y[..., i] - expected, axis=0) / np.linalg.norm(f, axis=0)
        assert (error <= info.error_bound[i] + 1e-11 * (1 + L.lmax) * info.gain[i]).all()
    if method == "chebyshev":
        assert info.n_matvecs == max(g.filter(f, return_info=True)[1].n_matvecs for g in bank)


@pytest.mark.parametrize("method", ["chebyshev", "exact"])
def test_synthesis_is_the_adjoint_of_analysis(method):
    rng = np.random.default_rng(0)
    bank = cg.FilterBank(cg.gallery.sensor(40, rng=0), responses(rng), tol=1e-8, method=method)
    f, c = rng.standard_normal((40, 3)), rng.standard_normal((40, 3, 4))
    assert np.sum(bank.filter(f) * c) == pytest.approx(np.sum(f * bank.synthesize(c)))
    assert bank.synthesize(c).shape == (40, 3)
    assert bank.synthesize(c[:, 0]).shape == (40,)
    assert_allclose(bank.synthesize(c[:, 0]), bank.synthesize(c)[:, 0], atol=1e-12)
    complex_c = c + 1j * rng.standard_normal(c.shape)
    assert_allclose(bank.synthesize(complex_c).real, bank.synthesize(c), atol=1e-12)


def test_shapes_and_dtypes_follow_the_input():
    bank = cg.FilterBank(cg.gallery.ring(20), [cg.CayleyPolynomial([0, 1], h) for h in ZOOMS], tol=1e-4)
    assert len(bank) == 3
    assert isinstance(bank[-1], cg.CayleyFilter)
    assert len(cg.FilterBank(cg.gallery.ring(20), cg.CayleyPolynomial([0, 1], 1.0))) == 1
    with pytest.raises(TypeError, match="`index` must be an integer"):
        bank[1:]
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        assert bank.filter(np.ones(20, dtype)).shape == (20, 3)
        assert bank.filter(np.ones((20, 1), dtype)).shape == (20, 1, 3)
        assert bank.filter(np.ones((20, 3), dtype)).shape == (20, 3, 3)
        assert bank.filter(np.ones((20, 3), dtype)).dtype == dtype
        assert bank.synthesize(np.ones((20, 3), dtype)).dtype == dtype
    assert bank.evaluate(np.zeros((4, 5))).shape == (3, 4, 5)


def test_bad_banks_are_refused_by_name():
    ring = cg.gallery.ring(20)
    with pytest.raises(ValueError, match="`responses` must hold at least one filter"):
        cg.FilterBank(ring, [])
    with pytest.raises(ValueError, match="`method` must be one of 'auto', 'chebyshev', 'exact', got 'jacobi'"):
        cg.FilterBank(ring, [cg.CayleyPolynomial([0, 1], 1.0)], method="jacobi")
    bank = cg.FilterBank(ring, [cg.CayleyPolynomial([0, 1], h) for h in ZOOMS])
    with pytest.raises(
        ValueError, match=r"`coefficients` must have shape \(n_vertices, \[n_signals,\] 3\), got \(20, 2\)"
    ):
        bank.synthesize(np.ones((20, 2)))
    with pytest.raises(ValueError, match=r"`coefficients` must have shape \(20,\)"):
        bank.synthesize(np.ones((19, 3)))


def test_a_bank_that_falls_short_names_the_filter():
    bank = cg.FilterBank(
        cg.gallery.ring(20), [cg.CayleyPolynomial([0, 1], h) for h in ZOOMS], tol=1e-17, method="chebyshev"
    )
    with pytest.warns(cg.ConvergenceWarning, match="the error of filter 2 is at most"):
        bank.filter(np.ones(20))
