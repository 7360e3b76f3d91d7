"""Pictures of decay and of bounds: what is drawn, and what is marked."""

from __future__ import annotations

from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp.localization import decay_curve
from cayleygsp.plotting.decay import bounds, decay


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def curve():
    p = cg.CayleyPolynomial([0.5, -0.2, 0.1j], zoom=0.3)
    return decay_curve(cg.CayleyFilter(cg.gallery.ring(64), p, method="exact"), 0)


def lines(ax):
    return {line.get_label(): line for line in ax.lines}


CALLS = {
    "decay": lambda ax, curve: decay(curve, ax=ax),
    "bounds": lambda ax, curve: bounds([0, 1, 2], [3.0, 1.0, 0.5], {"paper": [2, 2, 1], "sharp": [4, 2, 1]}, ax=ax),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_return_the_axes_they_were_given_and_change_no_settings(name, ax, curve):
    before = dict(mpl.rcParams)
    assert CALLS[name](ax, curve) is ax
    ax.figure.savefig(BytesIO(), format="png")
    assert dict(mpl.rcParams) == before
    assert ax.get_yscale() == "log"
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert all(float(tick).is_integer() for tick in ax.get_xticks())


class TestDecay:
    def test_draws_masses_fit_and_every_curve(self, ax, curve):
        decay(curve, ax=ax)
        drawn = lines(ax)
        assert {"measured", "Theorem 4", "proved, Jacobi", "proved, series"} <= set(drawn)
        x, y = drawn["measured"].get_data()
        assert_allclose(x, curve.hops)
        assert_allclose(y[curve.mass > 0], curve.mass[curve.mass > 0])
        assert_allclose(drawn["Theorem 4"].get_ydata(), curve.bound("theorem 4").mass)
        (fit,) = (line for label, line in drawn.items() if label.startswith("fit"))
        assert_allclose(fit.get_ydata(), curve.fit.c * curve.fit.gamma ** fit.get_xdata())
        assert len(fit.get_xdata()) == curve.fit.n_points

    def test_curves_differ_in_colour_line_and_marker(self, ax, curve):
        decay(curve, ax=ax)
        looks = [lines(ax)[name] for name in ("Theorem 4", "proved, Jacobi", "proved, series")]
        assert len({line.get_color() for line in looks}) == 3
        assert len({line.get_linestyle() for line in looks}) == 3
        assert len({line.get_marker() for line in looks}) == 3

    def test_fit_and_legend_can_be_left_out(self, ax, curve):
        decay(curve, fit=False, legend=False, label="ring", ax=ax, color="red")
        assert not any(label.startswith("fit") for label in lines(ax))
        assert ax.get_legend() is None
        assert lines(ax)["ring"].get_color() == "red"

    def test_what_is_not_proved_is_marked(self, ax):
        heat = cg.KernelFilter(cg.gallery.ring(32), lambda lam: np.exp(-lam), tol=1e-10)
        decay(decay_curve(heat, 0), ax=ax)
        hollow = lines(ax)["proved, series, not proved here"]
        assert hollow.get_markerfacecolor() == "white"

    def test_ground_is_grey_where_the_error_of_the_method_rules(self, ax, curve):
        decay(curve, ax=ax)
        assert any(patch.get_label() == "error of the method" for patch in ax.patches)
        assert ax.get_ylim()[0] > 1e-30
        other = Figure().subplots()
        decay(decay_curve(cg.ChebyshevFilter(cg.gallery.ring(12), [0.5, 0.5]), 0), ax=other)
        assert not other.patches

    def test_other_objects_are_refused(self, ax):
        with pytest.raises(TypeError, match="`curve` must be a Decay, got list"):
            decay([1, 2], ax=ax)


class TestBounds:
    def test_draws_errors_and_bounds(self, ax):
        bounds([0, 5], [1e-1, 1e-3], {"paper": [1.0, 0.1], "mine": [0.5, np.inf]}, ax=ax)
        drawn = lines(ax)
        assert list(drawn) == ["paper", "mine", "measured"]
        assert_allclose(drawn["paper"].get_ydata(), [1.0, 0.1])
        assert np.isnan(drawn["mine"].get_ydata()[1])

    def test_errors_above_a_bound_are_ringed(self, ax):
        bounds([0, 1, 2], [3.0, 1.0, 0.5], {"paper": [2, 2, 0.4]}, ax=ax)
        assert_allclose(lines(ax)["above a bound"].get_xdata(), [0, 2])

    def test_rounding_is_no_reason_for_a_ring(self, ax):
        bounds([0, 1], [3.0, 1e-15], {"paper": [4, 1e-20]}, rounding=[0, 1e-14], ax=ax)
        assert "above a bound" not in lines(ax)
        assert ax.get_ylim()[0] == pytest.approx(1e-16)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([[0, 1]], [1, 2], {}), "`n_iter` must have shape"),
            (([], [], {}), "`n_iter` must have shape"),
            (([0, 1], [1], {}), "`measured` must have one entry"),
            (([0, 1], [1, -1], {}), "`measured` must be finite and not negative"),
            (([0, 1], [1, 1], {"paper": [1]}), r"`curves\['paper'\]` must have one entry"),
        ],
    )
    def test_arrays_that_do_not_fit_are_refused(self, ax, arguments, message):
        with pytest.raises(ValueError, match=message):
            bounds(*arguments, ax=ax)
