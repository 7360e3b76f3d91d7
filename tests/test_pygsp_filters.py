import copy
import pickle

import matplotlib as mpl
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pygsp import filters, graphs

import cayleygsp as cg
from cayleygsp.pygsp_filters import Cayley

ZOOMS = (0.5, 1.0, 5.0)


@pytest.fixture(scope="module", params=["combinatorial", "normalized"])
def G(request):
    G = graphs.Sensor(64, seed=1, lap_type=request.param)
    G.compute_fourier_basis()
    return G


@pytest.fixture
def bank(G):
    return Cayley(G, [cg.CayleyPolynomial([0.5, -0.2, 0.1j], h) for h in ZOOMS], tol=1e-10)


@pytest.fixture
def plain(G):
    """The same responses in PyGSP's own class, filtered exactly."""
    return filters.Filter(G, [cg.CayleyPolynomial([0.5, -0.2, 0.1j], h) for h in ZOOMS])


@pytest.mark.parametrize("shape", [(64,), (64, 1), (64, 5), (64, 3), (64, 5, 1), (64, 5, 3), (64, 1, 3)])
@pytest.mark.parametrize("method", ["auto", "chebyshev", "exact"])
def test_shapes_and_values_are_those_of_pygsp(bank, plain, shape, method):
    s = np.random.default_rng(0).standard_normal(shape)
    expected = plain.filter(s, method="exact")
    assert_allclose(bank.filter(s, method=method), expected, atol=1e-8)
    assert bank.filter(s, method=method).shape == expected.shape


def test_analysis_synthesis_localisation_and_frames_are_those_of_pygsp(bank, plain):
    s = np.random.default_rng(0).standard_normal((64, 4))
    coefficients = bank.analyze(s)
    assert_allclose(coefficients, plain.analyze(s, method="exact"), atol=1e-8)
    assert_allclose(bank.synthesize(coefficients), plain.synthesize(coefficients, method="exact"), atol=1e-8)
    assert_allclose(bank.localize(7), plain.localize(7, method="exact"), atol=1e-8)
    assert_allclose(bank.compute_frame(), plain.compute_frame(method="exact"), atol=1e-8)
    assert_allclose(bank.estimate_frame_bounds(bank.G.e), plain.estimate_frame_bounds(plain.G.e))
    assert_allclose(bank.evaluate(bank.G.e), plain.evaluate(plain.G.e))
    assert_allclose(bank(bank.G.e), plain(plain.G.e))
    assert_allclose(bank @ s, bank.filter(s))


@pytest.mark.parametrize("n_signals", [1, 2, 3, 4])
def test_analysis_of_any_number_of_signals_is_that_of_each(bank, n_signals):
    s = np.random.default_rng(0).standard_normal((64, n_signals))
    expected = np.stack([bank.filter(f) for f in s.T], axis=1).squeeze()
    for given in (s, s.tolist(), s[:, :, None]):
        assert bank.analyze(given).shape == expected.shape
        assert_allclose(bank.analyze(given), expected, atol=1e-8)


def test_adding_and_indexing_keep_the_certified_engine(bank):
    assert isinstance(bank[0], Cayley)
    assert len(bank[0]) == 1
    assert len(bank[1:]) == 2
    heat = filters.Heat(bank.G, 3)
    both = bank + heat
    assert isinstance(both, Cayley)
    assert len(both) == 4
    s = np.random.default_rng(0).standard_normal(64)
    assert_allclose(both.filter(s)[:, 3], heat.filter(s, method="exact"), atol=1e-8)
    assert len(heat + bank) == 4


def test_a_bank_moves_to_another_graph(bank):
    ring = graphs.Ring(20)
    moved = bank(ring)
    assert moved.G is ring
    assert moved.filter(np.ones(20)).shape == (20, 3)


def test_plot_draws_every_response(bank):
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    fig, ax = bank.plot()
    assert len(ax.get_lines()) >= 3
    plt.close(fig)


def test_single_precision_and_complex_signals_are_kept(bank):
    s = np.random.default_rng(0).standard_normal((64, 5)).astype(np.float32)
    assert bank.filter(s, tol=1e-5).dtype == np.float32
    both = bank.filter(s + 2j * s, tol=1e-5)
    assert both.dtype == np.complex64
    assert_allclose(both.imag, 2 * both.real, rtol=1e-4, atol=1e-5)


def test_changing_the_laplacian_of_the_graph_changes_the_filter():
    G = graphs.Sensor(30, seed=1)
    g = Cayley(G, cg.CayleyPolynomial([0.5, -0.3], 2.0))
    s = np.random.default_rng(0).standard_normal(30)
    before = g.filter(s)
    G.compute_laplacian("normalized")
    assert np.abs(g.filter(s) - before).max() > 1e-3
    assert_allclose(g.filter(s), cg.CayleyFilter(G, g._kernels[0]).filter(s), atol=1e-5)


def test_certified_errors_are_at_hand(bank):
    _, info = bank.bank().filter(np.ones(64), return_info=True)
    assert info.converged
    assert info.error_bound.shape == (3,)


def test_repr_tells_orders_zooms_and_tolerance(bank):
    assert repr(bank) == "Cayley(in=1, out=3, order=[2, 2, 2], zoom=[0.5, 1, 5], tol=1e-10)"


def test_bad_arguments_are_refused_by_name(bank, G):
    with pytest.raises(ValueError, match="`order` is chosen from the tolerance: give `tol` instead, got order=30"):
        bank.filter(np.ones(64), order=30)
    with pytest.raises(TypeError, match=r"`G` must be a pygsp\.graphs\.Graph, got ndarray"):
        Cayley(np.eye(3), cg.CayleyPolynomial([0, 1], 1.0))
    with pytest.raises(TypeError, match=r"`polynomials` must be a CayleyPolynomial or a sequence of some, got \[\]"):
        Cayley(G, [])
    with pytest.raises(ValueError, match="`s` must have 1 or 3 features in its third dimension, got 2"):
        bank.filter(np.ones((64, 4, 2)))
    with pytest.raises(ValueError, match="at most 3 dimensions"):
        bank.filter(np.ones((64, 1, 1, 1)))
    with pytest.raises(ValueError, match="one feature in its third dimension"):
        bank.analyze(np.ones((64, 4, 3)))
    with pytest.raises(ValueError, match="3 features in its last dimension"):
        bank.synthesize(np.ones((64, 4)))


def test_bands_of_very_different_sizes_are_synthesized_on_one_scale(G):
    one = cg.CayleyPolynomial([1, 0], 1.0)
    c = np.ones((64, 1, 2))
    c[:, :, 1] = 1e-16
    assert_allclose(Cayley(G, [one, one]).synthesize(c), 1.0, rtol=1e-12)


@pytest.mark.parametrize("remake", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_banks_can_be_copied_and_pickled(bank, remake):
    s = np.random.default_rng(0).standard_normal((64, 5))
    expected = bank.filter(s)
    assert_array_equal(remake(bank).filter(s), expected)
