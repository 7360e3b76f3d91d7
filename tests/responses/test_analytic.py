"""Heat, wavelets and bells."""

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp import responses


def test_one_vertex_has_no_frequency_for_a_wavelet():
    g = cg.KernelFilter(cg.gallery.path(1), responses.MexicanHat(1.0), method="chebyshev")
    assert g.filter(np.ones(1), return_info=True)[1].converged


@pytest.mark.parametrize("kind", [responses.Heat, responses.MexicanHat, responses.Tikhonov, responses.MeyerWavelet])
def test_numbers_in_an_array_make_a_filter(kind):
    f = np.arange(6.0)
    g = cg.KernelFilter(cg.gallery.path(6), kind(np.array(2.0)))
    np.testing.assert_array_equal(g @ f, cg.KernelFilter(cg.gallery.path(6), kind(2.0)) @ f)


def test_center_and_width_in_arrays_are_numbers():
    assert responses.Gaussian(np.array(1), np.array(2)) == responses.Gaussian(1.0, 2.0)
    assert hash(responses.Gaussian(np.array(1), np.array(2))) == hash(responses.Gaussian(1.0, 2.0))


@pytest.mark.parametrize("center", ["a", [1, 2], 1j])
def test_center_must_be_a_number(center):
    with pytest.raises(TypeError, match="`center` must be a real number, got "):
        responses.Gaussian(center, 1.0)


@pytest.mark.parametrize("center", [-1.0, np.nan, np.inf])
def test_center_must_be_finite_and_not_negative(center):
    with pytest.raises(ValueError, match=f"`center` must be at least 0 and finite, got {center}"):
        responses.Gaussian(center, 1.0)


@pytest.mark.parametrize(
    "response",
    [responses.Heat(0.7), responses.MexicanHat(2.5), responses.Tikhonov(3.0, 1.5), responses.Gaussian(2.0, 0.8)],
)
def test_slopes_are_derivatives_and_their_bounds_hold(response):
    lam, step = np.linspace(0.01, 6, 400), 1e-6
    slope = (response(lam + step) - response(lam - step)) / (2 * step)
    np.testing.assert_allclose(response.slopes(lam, lam, lam)[0], slope, atol=1e-8)
    bend = (response.slopes(lam + step, lam, lam)[0] - response.slopes(lam - step, lam, lam)[0]) / (2 * step)
    for low, high in ((0.0, 6.1), (0.3, 0.6), (1.1, 5.0)):
        inside = (lam >= low) & (lam <= high)
        _, first, second = response.slopes(lam, np.array([low]), np.array([high]))
        assert np.abs(slope[inside]).max() <= first[0] * (1 + 1e-6)
        assert np.abs(bend[inside]).max() <= second[0] * (1 + 1e-6)


def test_rounding_of_a_wavelet_is_positive_beyond_its_peak():
    assert responses.MexicanHat(1.0).rounding_at(np.array([5.0, 6.0])) > 0
