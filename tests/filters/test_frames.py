"""Frame bounds that hold everywhere, signals back from their coefficients, and PyGSP's banks."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pygsp import filters, graphs

import cayleygsp as cg
from cayleygsp import responses
from tests.strategies import laplacians


@settings(max_examples=15)
@given(L=laplacians(), log_scale=st.floats(-2, 2), shift=st.floats(0.05, 1))
def test_frame_bounds_hold_at_every_frequency_of_the_interval(L, log_scale, shift):
    unit = 10**log_scale / (L.lmax or 1.0)
    bank = cg.FilterBank(L, [responses.Heat(unit), responses.MexicanHat(unit), shift * responses.Tikhonov(unit)])
    A, B = bank.frame_bounds()
    lam = np.append(np.random.default_rng(0).uniform(0, L.lmax, 300), [0.0, L.lmax])
    s = (bank.evaluate(lam) ** 2).sum(axis=0)
    assert s.min() * (1 + 1e-12) >= A
    assert s.max() <= B * (1 + 1e-12)
    assert s.max() * 1.05 + 1e-5 >= B


@settings(max_examples=10)
@given(L=laplacians(), n_signals=st.integers(1, 3), complex_signals=st.booleans())
def test_reconstruction_undoes_the_analysis_within_its_bound(L, n_signals, complex_signals):
    bank = cg.FilterBank(L, [responses.Tikhonov(1.0), cg.CayleyPolynomial([0.5, -0.25], 1.0)], tol=1e-12)
    rng = np.random.default_rng(0)
    f = rng.standard_normal((L.n_vertices, n_signals))
    f = f + 1j * rng.standard_normal(f.shape) if complex_signals else f
    c = bank.filter(f)
    x, info = bank.reconstruct(c, return_info=True)
    assert info.certificate == "proved"
    norms = np.sqrt((np.abs(c) ** 2).sum(axis=(0, 2)))
    error = np.linalg.norm(x - f, axis=0)
    # the coefficients themselves are off by the tolerance of the bank
    A, _ = bank.frame_bounds()
    assert (error <= (np.asarray(info.error_bound) + 3e-12 / np.sqrt(A)) * norms).all()
    assert (error <= 1e-8 * np.linalg.norm(f, axis=0)).all()


def test_a_bank_that_loses_frequencies_is_no_frame():
    bank = cg.FilterBank(cg.gallery.ring(30), [responses.MexicanHat(1.0)])
    assert bank.frame_bounds()[0] < 1e-9
    with pytest.raises(ValueError, match="needs a frame"):
        bank.reconstruct(np.ones((30, 1)))


BANKS = {
    "Abspline": lambda G: filters.Abspline(G, 4),
    "Expwin": lambda G: filters.Expwin(G, 0.5),
    "Gabor": lambda G: filters.Gabor(G, filters.Heat(G, 10)),
    "HalfCosine": lambda G: filters.HalfCosine(G, 4),
    "Heat": lambda G: filters.Heat(G, [1, 30]),
    "Heat, normalized": lambda G: filters.Heat(G, [10], normalize=True),
    "Held": lambda G: filters.Held(G),
    "Itersine": lambda G: filters.Itersine(G, 4),
    "MexicanHat": lambda G: filters.MexicanHat(G, 4),
    "Meyer": lambda G: filters.Meyer(G, 4),
    "Papadakis": lambda G: filters.Papadakis(G),
    "Regular": lambda G: filters.Regular(G),
    "Simoncelli": lambda G: filters.Simoncelli(G),
    "SimpleTight": lambda G: filters.SimpleTight(G, 4),
    "Wave": lambda G: filters.Wave(G, [1, 5], 0.5),
    "Rectangular": lambda G: filters.Rectangular(G, 0.1, 0.4),
}


@pytest.mark.parametrize("name", BANKS)
def test_pygsp_banks_are_taken_over(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        G = graphs.Sensor(40, seed=0)
        G.compute_fourier_basis()
        theirs = BANKS[name](G)
    bank = cg.FilterBank.from_pygsp(theirs, tol=1e-6)
    f = np.random.default_rng(0).standard_normal(40)
    exact = np.stack([G.U @ (g * (G.U.T @ f)) for g in theirs.evaluate(G.e)], axis=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)  # a kernel with a jump has no short series
        y, info = bank.filter(f, return_info=True)
    assert y.shape == (40, len(theirs._kernels))
    assert (np.linalg.norm(y - exact, axis=0) <= (np.asarray(info.error_bound) + 1e-9) * np.linalg.norm(f)).all()
    assert info.certificate == ("proved" if name.startswith("Heat") else "sampled")


def test_filters_that_are_no_functions_of_frequency_are_refused_by_name():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        G = graphs.Sensor(40, seed=0)
        G.compute_fourier_basis()
        theirs = filters.Modulation(G, filters.Heat(G, 10))
    with pytest.raises(ValueError, match=r"one function of frequency per filter, got Modulation"):
        cg.FilterBank.from_pygsp(theirs)


def test_what_is_no_pygsp_filter_is_named():
    with pytest.raises(TypeError, match="pygsp_filter"):
        cg.FilterBank.from_pygsp(lambda x: x)


def test_a_pygsp_bank_is_reconstructed():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        G = graphs.Sensor(60, seed=0)
        G.compute_fourier_basis()
        theirs = filters.Itersine(G, 5)
    bank = cg.FilterBank.from_pygsp(theirs, tol=1e-4)
    assert bank.laplacian.eigenvalues[-1] <= G.lmax * (1 + 1e-12)  # beyond, the bank has nothing
    f = np.random.default_rng(0).standard_normal(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        assert_allclose(bank.reconstruct(bank.filter(f), tol=1e-3), f, atol=1e-2)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", ">f8", "c8", "c16"])
def test_coefficients_of_every_type_come_back(dtype):
    bank = cg.FilterBank(cg.gallery.ring(40), [responses.Tikhonov(0.01)], tol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)  # single precision does not reach 1e-10
        x, info = bank.reconstruct(np.full((40, 1), 100).astype(dtype), return_info=True)
    assert np.abs(x - 100).max() <= info.error_bound * 100 * np.sqrt(40) + 1e-10
    assert x.dtype == {"f2": "f4", "f4": "f4", "c8": "c8", "c16": "c16"}.get(dtype, "f8")


@pytest.mark.parametrize(
    ("dtype", "size"), [("f8", 1e-300), ("f8", 1e-170), ("f8", 1e155), ("f8", 1e300), ("f4", 3e37)]
)
def test_signals_of_every_size_come_back(dtype, size):
    bank = cg.FilterBank(cg.gallery.ring(12), [responses.Tikhonov(1.0), responses.HighPass(1.0)], tol=1e-12)
    f = np.random.default_rng(0).uniform(0.5, 1, 12)
    c = (bank.filter(f) * size).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        x, info = bank.reconstruct(c, return_info=True)
    error = np.linalg.norm(x.astype(np.float64) / size - f) / np.linalg.norm(c.astype(np.float64) / size)
    assert error <= info.error_bound + (1e-11 if dtype == "f8" else 1e-6)
    assert info.error_bound < 1e-6


def test_what_leaves_the_range_of_numbers_is_said():
    bank = cg.FilterBank(cg.gallery.ring(12), [0.01 * responses.Tikhonov(0.01)], tol=1e-12)
    with pytest.warns(cg.ConvergenceWarning, match="overflows"):
        _, info = bank.reconstruct(np.full((12, 1), 3e38, np.float32), return_info=True)
    assert info.certificate == "none"
    assert not info.converged
    for weight in (1e160, 1e-120):
        extreme = cg.FilterBank(cg.gallery.ring(12), [weight * responses.Tikhonov(0.01)])
        with pytest.raises(ValueError, match=r"squares that sum up|needs a frame"):
            extreme.reconstruct(np.ones((12, 1)))


def test_a_frame_is_told_from_none_and_shapes_come_first():
    bank = cg.FilterBank(cg.gallery.ring(12), [responses.Heat(1.0)], tol=1e-12)
    assert bank.frame_bounds()[0] == pytest.approx(np.exp(-8), rel=1e-3)
    with pytest.raises(ValueError, match="must have shape"):
        cg.FilterBank(cg.gallery.ring(12), [responses.MexicanHat(1.0)]).reconstruct(np.ones((11, 1)))


def test_the_gain_of_a_narrow_bump_is_seen():
    L = cg.laplacian(cg.gallery.grid(24))
    assert cg.KernelFilter(L, responses.Gaussian(2.0, 1e-3), method="chebyshev", tol=1e-3).gain == pytest.approx(1.0)


def test_a_pygsp_bank_that_ends_at_its_estimate_of_the_spectrum_is_a_frame_without_eigenvalues():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        G = graphs.Sensor(300, seed=0)
        G.estimate_lmax()
        bank = cg.FilterBank.from_pygsp(filters.HalfCosine(G, 4), method="chebyshev", tol=1e-3)
        sums = (bank.evaluate(np.linalg.eigvalsh(G.L.toarray()).clip(0)) ** 2).sum(axis=0)
        assert not bank.laplacian.has_eigenbasis
        A, B = bank.frame_bounds()
    assert 0 < A <= sums.min() <= sums.max() <= B


@pytest.mark.parametrize(("bound", "message"), [(1e101, "at most 1e+100, got 1e+101"), (1.0, "at least 1.001, 1.001")])
def test_bounds_of_a_tight_frame_are_within_their_limits(bound, message):
    bank = cg.FilterBank(cg.gallery.ring(16), [responses.Heat(1.0)])
    with pytest.raises(ValueError, match=re.escape(f"`bound` must be {message}")):
        bank.complement(bound=bound)


def test_a_complement_keeps_the_method_and_what_is_known_of_the_responses():
    bank = cg.FilterBank(cg.gallery.ring(16), [lambda lam: np.exp(-lam)], method="chebyshev").complement()
    _, info = bank.filter(np.ones(16), return_info=True)
    assert info.method == "chebyshev"
    assert bank.responses[-1].from_samples


def test_a_tight_frame_with_a_bound_beyond_single_precision_gives_signals_back():
    bank = cg.FilterBank(cg.gallery.ring(16), [responses.Heat(1.0)]).complement(bound=1e40)
    f = np.arange(16, dtype=np.float32)
    x, info = bank.reconstruct(bank.filter(f), tol=1e-4, return_info=True)
    assert x.dtype == np.float32
    assert info.converged
    assert_allclose(x, f, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("size", [1e-17, 1e-20, 1e-23, 1e-30, 1e15])
def test_a_tight_frame_of_any_size_gives_signals_in_single_precision_back(size, dtype):
    bank = cg.FilterBank(cg.gallery.ring(12), [size * responses.Heat(1.0)]).complement()
    c = bank.filter(np.arange(1, 13).astype(dtype) * (1 + 2j if dtype == np.complex64 else 1))
    x, info = bank.reconstruct(c, tol=1e-4, return_info=True)
    assert x.dtype == dtype
    assert (info.converged, info.certificate) == (True, "proved")
    lam, Phi = np.linalg.eigh(bank.laplacian.matrix.toarray())
    g, wide = bank.evaluate(np.maximum(lam, 0.0)), c.astype(np.complex128)
    exact = Phi @ ((g * (wide.T @ Phi)).sum(axis=0) / (g**2).sum(axis=0))
    # what the dense eigenbasis is itself off by
    assert np.linalg.norm(x - exact) <= (info.error_bound + 1e-12 * info.gain) * np.linalg.norm(wide)


@pytest.mark.parametrize("tight", [True, False])
def test_a_reconstruction_beyond_the_range_of_numbers_is_not_certified(tight):
    bank = cg.FilterBank(cg.gallery.ring(12), [1e-20 * responses.Tikhonov(1.0)])
    bank = bank.complement() if tight else bank
    with pytest.warns(cg.ConvergenceWarning, match="overflows"):
        x, info = bank.reconstruct(np.full((12, len(bank)), 1e30, np.float32), tol=1e-4, return_info=True)
    assert not np.isfinite(x).all()
    assert (info.error_bound, info.converged, info.certificate) == (np.inf, False, "none")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("tight", [True, False])
def test_no_signals_come_back_from_no_coefficients(tight, dtype):
    bank = cg.FilterBank(cg.gallery.ring(12), [responses.Tikhonov(1.0)])
    bank = bank.complement() if tight else bank
    x, info = bank.reconstruct(np.zeros((12, 0, len(bank)), dtype), return_info=True)
    assert (x.shape, x.dtype, np.shape(info.error_bound)) == ((12, 0), dtype, (0,))
    assert info.converged
