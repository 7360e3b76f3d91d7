"""Targets by name and from texts, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cayleygsp import design, responses
from cayleygsp.design.target import as_target


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("low:0.5", design.LowPass(0.5)),
        ("low:0.5:0.1", design.LowPass(0.5, 0.1)),
        ("high:2", design.HighPass(2.0)),
        ("band:0.2:0.4", design.BandPass(0.2, 0.4)),
        ("band:0.2:0.4:0.05", design.BandPass(0.2, 0.4, 0.05)),
        ("heat:3", design.Heat(3.0)),
        ("mexican:1", design.MexicanHat(1.0)),
        ("indicator:0:1.2", design.Indicator(0.0, 1.2)),
        ("band-pass:0.1r:2", design.BandPass(0.4, 2.0)),
        ("heat:3r", design.Heat(0.75)),
        ("mexicanhat:1", design.MexicanHat(1.0)),
        ("tikhonov:1e6", design.Tikhonov(1e6)),
        ("tikhonov:8r:2", design.Tikhonov(2.0, 2.0)),
        ("gaussian:0.5r:1", design.Gaussian(2.0, 1.0)),
    ],
)
def test_texts_give_the_targets(text, target):
    assert design.parse_target(text, lmax=4.0) == target


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("median:1", ValueError, "`text` must start with one of low, high, band, heat, mexican, indicator"),
        ("low", ValueError, "`text` must have the form 'low:CUTOFF', got 'low'"),
        ("heat:1:2", ValueError, "`text` must have the form 'heat:SCALE'"),
        ("low:a", ValueError, "`text` must have a number for cutoff, got 'a' in 'low:a'"),
        ("low:0.1r", ValueError, "`lmax` must be given to read the relative cutoff"),
        ("low:-1", ValueError, "`cutoff` must be positive and finite, got -1.0"),
        ("low:nan", ValueError, "`cutoff` must be positive and finite"),
        ("low:1:3", ValueError, "`transition` must be at most 2"),
        ("band:1:1", ValueError, "`low` must be at least 0 and below `high` = 1, got 1"),
        ("band:1:2:1.5", ValueError, "`transition` must be at most 1,"),
        ("tikhonov:0", ValueError, "`strength` must be positive"),
        ("tikhonov:1:2r", ValueError, "plain number for power"),
        ("gaussian:1", ValueError, "form 'gaussian:CENTER:WIDTH'"),
        ("gaussian:-1:1", ValueError, "`center` must be at least 0"),
        (3, TypeError, "`text` must be a string such as 'low:0.5', got int"),
    ],
)
def test_texts_that_make_no_sense_are_refused(text, error, message):
    with pytest.raises(error, match=message):
        design.parse_target(text)


def test_targets_are_responses():
    assert (design.LowPass, design.Heat) == (responses.LowPass, responses.Heat)
    assert design.fit_chebyshev("indicator:1:2", 3, 8.0).target.response == responses.BandPass(1.0, 2.0)


def test_band_targets_are_one_inside_zero_outside_and_free_between():
    target = as_target(design.BandPass(2.0, 4.0, transition=1.0), 9.0)
    lam = np.array([0.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.25, 4.5, 9.0])
    assert_allclose(target(lam), [0, 0, 0.5, 1, 1, 1, 0.25, 0, 0])
    assert_allclose(target.weight(lam), [1, 1, 0, 1, 1, 1, 0, 1, 1])
    assert target.features == (1.5, 2.5, 3.5, 4.5)
    both = as_target("low:2", 9.0)(lam) + as_target("high:2", 9.0)(lam)
    assert_allclose(both, np.where(lam == 2, 2, 1))  # either passes its cutoff


def test_band_from_zero_has_one_edge():
    assert design.Indicator(0, 1.2).features == (1.2,)
    assert as_target(design.BandPass(0, 1.2, 0.2), 4.0)(0.0) == 1


@pytest.mark.parametrize(
    ("target", "lmax", "expected"),
    [
        (design.LowPass(2.0, 1.0), 8.0, [(0, 1.5, 1), (2.5, 8, 0)]),
        (design.LowPass(2.0), 2.0, [(0, 2, 1)]),
        (design.HighPass(2.0), 2.0, [(0, 2, 0), (2, 2, 1)]),
        (design.LowPass(2.0, 1.0), 2.5, [(0, 1.5, 1), (2.5, 2.5, 0)]),
        (design.BandPass(1.0, 3.0, 0.5), 2.0, [(0, 0.75, 0), (1.25, 2, 1)]),
        (design.Indicator(0, 1.2), 0.0, [(0, 0, 1)]),
        (design.Heat(1.0), 3.0, [(0, 3, None)]),
    ],
)
def test_pieces_cover_the_interval_but_for_the_transition(target, lmax, expected):
    assert [(p.low, p.high, p.value) for p in as_target(target, lmax).pieces(lmax)] == expected


def test_of_a_function_nothing_is_known_but_values():
    target = as_target(np.cos, 4.0)
    assert (target.is_known, target.features, target.pieces(4.0)) == (False, (), [])
    assert_allclose(target.weight([0.0, 1.0]), 1)
