"""The tolerance, the gain that it is relative to, and the warning where it is not reached."""

import warnings

import numpy as np
import pytest
from hypothesis import given

import cayleygsp as cg
from cayleygsp.filters.application import warn_of_error
from cayleygsp.methods.base import filter_gain
from tests.strategies import cayley_polynomials, laplacians

METHODS = ("exact", "chebyshev", "multigrid", "jacobi", "auto")


@pytest.fixture(scope="module")
def sensor():
    return cg.laplacian(cg.gallery.sensor(50, rng=1))


def test_an_unreachable_tolerance_warns_with_what_was_reached():
    g = cg.CayleyFilter(cg.gallery.ring(32), cg.CayleyPolynomial([1.0, 1.0], 1.0), method="chebyshev", tol=1e-17)
    with pytest.warns(cg.ConvergenceWarning, match=r"could not certify tol=1e-17: the error is at most .*e-1"):
        _, info = g.filter(np.ones(32), return_info=True)
    assert not info.converged
    single = cg.CayleyFilter(cg.gallery.ring(32), cg.CayleyPolynomial([1.0, 1.0], 1.0), method="exact", tol=1e-9)
    with pytest.warns(cg.ConvergenceWarning):
        single.filter(np.arange(32, dtype=np.float32) / 7)


@pytest.mark.parametrize(("bound", "gain", "written"), [(1.2341e-5, 1.0, "1.24e-05"), (2.0010001, 0.0, "2.01")])
def test_what_was_reached_is_rounded_up(bound, gain, written):
    with pytest.warns(cg.ConvergenceWarning, match=f"the error is at most {written}"):
        warn_of_error("the filter", 1e-6, bound, gain, False, np.float64)


def test_tolerance_is_relative_to_the_gain(sensor):
    f = np.random.default_rng(0).standard_normal(50)
    p = cg.CayleyPolynomial([0.5, -0.3, 0.2], 3.0)
    scaled = cg.CayleyPolynomial(1e6 * p.coeffs, 3.0)
    _, info = cg.CayleyFilter(sensor, p, method="chebyshev", tol=1e-5).filter(f, return_info=True)
    _, scaled_info = cg.CayleyFilter(sensor, scaled, method="chebyshev", tol=1e-5).filter(f, return_info=True)
    assert scaled_info.n_matvecs == info.n_matvecs
    assert scaled_info.error_bound == pytest.approx(1e6 * info.error_bound)


@given(L=laplacians(), p=cayley_polynomials())
def test_gain_is_never_overestimated(L, p):
    lam = np.linspace(0, np.linalg.eigvalsh(L.matrix.toarray())[-1], 20001)
    near_zero = np.geomspace(1e-9, 1, 5000) * lam[-1]
    true_gain = np.abs(p(np.concatenate([lam, near_zero]))).max()
    assert filter_gain(L, p) <= true_gain * (1 + 1e-3)


@pytest.mark.parametrize("n", [12, 2100])
@pytest.mark.parametrize(
    ("method", "options"),
    [("exact", {}), ("chebyshev", {}), ("multigrid", {}), ("jacobi", {}), ("jacobi", {"normalize": True})],
)
def test_products_warn_on_every_path_where_the_tolerance_is_not_certified(n, method, options):
    """Single precision cannot reach 1e-9; the factorisation stands behind "exact" for 2100 vertices."""
    g = cg.CayleyFilter(cg.gallery.ring(n), cg.CayleyPolynomial([0.5, 0.3j], 0.5), method=method, tol=1e-9, **options)
    f = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    for _ in range(2 if options else 3):
        with pytest.warns(cg.ConvergenceWarning, match="could not certify tol=1e-09") as record:
            g @ f
        assert record[0].filename == __file__
    if not options:
        with pytest.warns(cg.ConvergenceWarning, match="could not certify tol=1e-09") as record:
            g.H @ f
        assert record[0].filename == __file__
        with pytest.warns(cg.ConvergenceWarning, match="could not certify tol=1e-09"):
            g.rmatmat(f[:, None])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cg.CayleyFilter(g.laplacian, g.response, method=method, tol=1e-3).H @ f


@pytest.mark.parametrize("method", METHODS)
def test_responses_and_zooms_beyond_the_range_of_numbers_are_refused_by_name(sensor, method):
    with pytest.raises(ValueError, match=r"`polynomial` must have responses of at most 1e\+305 .*, got inf"):
        cg.CayleyFilter(sensor, cg.CayleyPolynomial([1e308, 1e308], 1.0), method=method)
    with pytest.raises(ValueError, match=r"`polynomial` must have a zoom of at most 1e\+150, .*, got 1e\+300"):
        cg.CayleyFilter(sensor, cg.CayleyPolynomial([1.0, 1.0], 1e300), method=method)
    with pytest.raises(ValueError, match="`coeffs` must have responses of at most"):
        cg.ChebyshevFilter(sensor, [1e308, 1e308])


def test_the_gain_is_looked_for_once(sensor, monkeypatch):
    calls = []
    p = cg.CayleyPolynomial([0.5, -0.25], 2.0)
    evaluate = cg.CayleyPolynomial.__call__
    monkeypatch.setattr(
        cg.CayleyPolynomial, "__call__", lambda self, lam: calls.append(np.size(lam)) or evaluate(self, lam)
    )
    cg.CayleyFilter(sensor, p)
    assert calls.count(2050) == 2  # up to the bounds of λ_max from above and from below


def test_a_response_that_is_not_known_at_zero_is_refused():
    L = cg.laplacian(cg.gallery.ring(30))
    g = cg.responses.Rational.approximate(cg.responses.Heat(2.0), (1.0, L.lmax_bound))
    for make in (lambda: cg.KernelFilter(L, g), lambda: cg.FilterBank(L, [2 * g])):
        with pytest.raises(ValueError, match=r"known on all of the spectrum, which begins at 0, .* from 1 on"):
            make()
