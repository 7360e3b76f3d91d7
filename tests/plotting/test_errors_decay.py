"""Pictures of decay: what is drawn, and what is marked."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp.localization import decay_curve
from cayleygsp.plotting import decay
from tests.plotting.helpers import named_lines


@pytest.fixture(scope="module")
def curve():
    p = cg.CayleyPolynomial([0.5, -0.2, 0.1j], zoom=0.3)
    return decay_curve(cg.CayleyFilter(cg.gallery.ring(64), p, method="exact"), 0)


def test_axes_are_logarithmic_and_named(ax, curve):
    assert decay(curve, ax=ax) is ax
    assert ax.get_yscale() == "log"
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert all(float(tick).is_integer() for tick in ax.get_xticks())


def test_draws_masses_fit_and_every_curve(ax, curve):
    decay(curve, ax=ax)
    drawn = named_lines(ax)
    assert {"measured", "Theorem 4", "proved, Jacobi", "proved, series"} <= set(drawn)
    x, y = drawn["measured"].get_data()
    assert_allclose(x, curve.hops)
    known = curve.mass > curve.floor
    assert_allclose(y[known], curve.mass[known])
    assert_allclose(drawn["Theorem 4"].get_ydata(), curve.bound("theorem 4").mass)
    (fit,) = (line for label, line in drawn.items() if label.startswith("fit"))
    assert_allclose(fit.get_ydata(), curve.fit.c * curve.fit.gamma ** fit.get_xdata())
    assert len(fit.get_xdata()) == curve.fit.n_points


def test_masses_below_the_floor_are_not_drawn_as_measured(ax, curve):
    assert not curve.resolved.all()
    decay(curve, ax=ax)
    assert np.isnan(named_lines(ax)["measured"].get_ydata()[curve.mass <= curve.floor]).all()
    (shade,) = [patch for patch in ax.patches if patch.get_label() == "below the error of the method"]
    assert shade.get_y() + shade.get_height() == pytest.approx(curve.floor)
    assert curve.floor / 1000 < ax.get_ylim()[0] < curve.floor


def test_ground_is_not_shaded_where_every_mass_is_known(ax):
    decay(decay_curve(cg.ChebyshevFilter(cg.gallery.ring(12), [0.5, 0.5]), 0), ax=ax)
    assert not ax.patches


def test_bounds_above_one_are_marked_empty_and_clipped(ax):
    p = cg.CayleyPolynomial([0.2, 0.3, -0.2, 0.1j], zoom=50.0)
    curve = decay_curve(cg.CayleyFilter(cg.gallery.sensor(300, rng=0), p, method="exact"), 0)
    huge = curve.bound("theorem 4").mass.max() * 1e6
    scaled = type(curve.bounds[0])("theorem 4", curve.bound("theorem 4").mass * 1e6, curve.bound("theorem 4").valid)
    curve = type(curve)(**{**vars(curve), "bounds": (scaled, *curve.bounds[1:])})
    decay(curve, ax=ax)
    drawn = named_lines(ax)
    assert set(np.asarray(drawn["1: above it a bound is empty"].get_ydata())) == {1.0}
    assert ax.get_ylim()[1] <= 1e4
    (label,) = [label for label in drawn if label.startswith("Theorem 4, off the scale: up to")]
    assert f"10^{{{int(np.ceil(np.log10(huge)))}}}" in label


def test_curves_differ_in_colour_line_and_marker(ax, curve):
    decay(curve, ax=ax)
    looks = [named_lines(ax)[name] for name in ("Theorem 4", "proved, Jacobi", "proved, series")]
    assert len({line.get_color() for line in looks}) == 3
    assert len({line.get_linestyle() for line in looks}) == 3
    assert len({line.get_marker() for line in looks}) == 3


def test_fit_and_legend_can_be_left_out(ax, curve):
    decay(curve, fit=False, legend=False, label="ring", ax=ax, color="red")
    assert not any(label.startswith("fit") for label in named_lines(ax))
    assert ax.get_legend() is None
    assert named_lines(ax)["ring"].get_color() == "red"


def test_what_is_not_proved_is_marked(ax):
    heat = cg.KernelFilter(cg.gallery.ring(32), lambda lam: np.exp(-lam), tol=1e-10)
    decay(decay_curve(heat, 0), ax=ax)
    hollow = named_lines(ax)["proved, series, not proved here"]
    assert hollow.get_markerfacecolor() == "white"


def test_other_objects_are_refused(ax):
    with pytest.raises(TypeError, match="`curve` must be a Decay, got list"):
        decay([1, 2], ax=ax)


def test_fit_that_is_nearly_perfect_does_not_read_as_perfect(ax, curve):
    almost = dataclasses.replace(curve, fit=dataclasses.replace(curve.fit, gamma=0.9999, r_squared=0.99999))
    decay(almost, ax=ax)
    assert "fit, γ = 1 − 1e-4, R² = 1 − 1e-5" in named_lines(ax)
