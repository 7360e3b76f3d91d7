"""Arguments of the smooth steps."""

import numpy as np
import pytest

from cayleygsp import responses


def test_checked_numbers_are_stored():
    step, band = responses.HighPass(np.array(2), np.array(1)), responses.BandPass(1, np.float32(2), np.array(0.5))
    assert step == responses.HighPass(2.0, 1.0)
    assert band == responses.BandPass(1.0, 2.0, 0.5)
    for value in (step.cutoff, step.transition, band.low, band.high, band.transition):
        assert type(value) is float


@pytest.mark.parametrize("step", [responses.LowPass(2.0), responses.HighPass(2.0), responses.BandPass(2.0, 4.0)])
def test_default_transition_is_half_of_the_cutoff(step):
    assert step.transition is None
    assert step.width == 1.0


def test_transition_must_fit():
    with pytest.raises(ValueError, match="`transition` must be at most 4, the room left by the band edges, got 5"):
        responses.LowPass(2.0, 5.0)
    with pytest.raises(ValueError, match="`transition` must be at most 1, the room left by the band edges, got 2"):
        responses.BandPass(2.0, 3.0, 2.0)


def test_a_band_from_zero_is_a_low_pass():
    lam = np.linspace(0.0, 4.0, 50)
    np.testing.assert_array_equal(responses.BandPass(0, 2.0)(lam), responses.LowPass(2.0)(lam))
    assert responses.BandPass(0, 2.0).series(4.0, 1e-6).error == responses.LowPass(2.0).series(4.0, 1e-6).error
