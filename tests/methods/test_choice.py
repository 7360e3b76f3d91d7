import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import cayleygsp as cg
from cayleygsp.methods import choice
from cayleygsp.methods.choice import Choice, SingularSystemError
from cayleygsp.methods.costs import Cost


def predict(monkeypatch, **costs):
    """Let each way have the given cost; others are impossible."""
    monkeypatch.setattr(choice.Decision, "predict", lambda self, way, _: costs.get(way, Cost(np.inf, 0.0, 0.0)))


def test_the_number_of_signals_decides_and_prepared_methods_serve_other_numbers(monkeypatch):
    predict(monkeypatch, chebyshev=Cost(0.0, 1e-4, 1e-3), factorisation=Cost(9e-3, 1e-4, 1e-4))
    g = cg.CayleyFilter(cg.gallery.ring(100), cg.CayleyPolynomial([0.5, 0.3j], 1.0))
    f = np.random.default_rng(0).standard_normal((100, 64))
    infos = [g.filter(f[:, :m], return_info=True)[1] for m in (1, 64, 4, 1)]
    # with the factors at hand, four signals go through them, too
    assert [info.method for info in infos] == ["chebyshev", "exact", "exact", "chebyshev"]
    assert "for 64 to 127 signals" in infos[1].reason  # all of which get the same method
    assert g.method == "chebyshev"
    for again in (copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        assert_array_equal(again.filter(f), g.filter(f))
        assert again.reason == g.reason
    complex_signals = f[:, :32] + 1j * f[:, 32:]
    assert g.filter(complex_signals, return_info=True)[1].reason == infos[1].reason


def test_where_no_method_reaches_the_tolerance_the_most_accurate_is_taken():
    L = cg.laplacian(cg.gallery.sensor(60, rng=0))
    p = cg.CayleyPolynomial([0.5, -0.3, 0.2j], 3.0)
    chosen = Choice(L, [p], "auto", 1e-16).at(1)
    errors = {way: choice.prepare(L, way, [p], 1e-16).expected_errors()[0] for way in choice.WAYS}
    assert "no method is expected to reach tol; the most accurate taken" in chosen.reason
    assert chosen.method.expected_errors()[0] == min(errors.values())


@pytest.mark.parametrize("make", [cg.gallery.ring, cg.gallery.path])
@pytest.mark.parametrize("strength", [1e16, 1e18, 1e40])
def test_where_solves_are_singular_another_way_is_taken(make, strength):
    F = cg.KernelFilter(make(12), cg.responses.Tikhonov(strength))
    with pytest.warns(cg.ConvergenceWarning, match="could not certify tol"):
        y, info = F.filter(np.arange(12.0), return_info=True)
    assert not info.converged
    assert "the most accurate taken" in info.reason
    lam, Phi = np.linalg.eigh(F.laplacian.matrix.toarray())
    lam[0] = 0.0
    error = np.linalg.norm(y - Phi @ ((Phi.T @ np.arange(12.0)) / (1 + strength * lam)))
    assert error <= info.error_bound * np.linalg.norm(np.arange(12.0))


def test_a_way_that_turns_out_to_be_singular_while_it_is_measured_is_left_out(monkeypatch):
    predict(monkeypatch, multigrid=Cost(0.0, 0.0, 1.0), eigenbasis=Cost(0.0, 0.0, 1.1))
    F = cg.KernelFilter(cg.gallery.path(12), cg.responses.Tikhonov(1e16))
    with pytest.warns(cg.ConvergenceWarning):
        _, info = F.filter(np.arange(12.0), return_info=True)
    assert info.method == "exact"


def test_where_singular_solves_are_all_that_is_left_a_filter_is_refused_and_a_bank_gets_its_series(monkeypatch):
    predict(monkeypatch, multigrid=Cost(0.0, 0.0, 1.0), factorisation=Cost(0.0, 0.0, 1.0))
    prepare = choice.prepare

    def prepare_series(L, way, *rest):
        if way != "chebyshev":
            raise SingularSystemError
        return prepare(L, way, *rest)

    monkeypatch.setattr(choice, "prepare", prepare_series)
    L, g = cg.laplacian(cg.gallery.path(12)), cg.responses.Tikhonov(2.0)
    with pytest.raises(ValueError, match=r"singular in double precision, got \[Tikhonov\(strength=2"):
        Choice(L, [g], "auto", 1e-6).at(1)
    chosen = Choice(L, [g], "auto", 1e-6, best_effort=True).at(1)
    assert (chosen.method.name, chosen.reason.split("; ")[1]) == ("chebyshev", "the best series taken")


def test_a_function_whose_slope_is_known_goes_by_the_eigenvalues_of_a_small_graph(monkeypatch):
    def jump(lam):
        return np.clip(1e3 * (lam - 1.0), 0.0, 1.0)

    def refuse(*_):
        raise AssertionError("a series was computed")

    monkeypatch.setattr("cayleygsp.responses.function.KernelResponse.expand", refuse)
    g = cg.KernelFilter(cg.gallery.sensor(80, rng=0), jump, lipschitz=1e3, tol=1e-6)
    _, info = g.filter(np.ones(80), return_info=True)
    assert (info.method, info.certificate, info.converged) == ("exact", "proved", True)


def test_a_close_choice_is_measured_and_what_was_measured_decides(monkeypatch):
    p = cg.CayleyPolynomial([0.5, 0.3j], 1e4)
    L = cg.laplacian(cg.gallery.grid(46))
    predict(monkeypatch, chebyshev=Cost(0.0, 0.03, 0.0), multigrid=Cost(0.0, 0.04, 0.0))
    for seconds, expected in [(1.0, "multigrid"), (0.001, "chebyshev")]:
        monkeypatch.setattr(
            "cayleygsp.methods.series.ChebyshevMethod.sample_seconds", lambda self, m, seconds=seconds: seconds
        )
        monkeypatch.setattr("cayleygsp.methods.powers.PowersMethod.sample_seconds", lambda self, m: 0.05)
        assert Choice(L, [p], "auto", 1e-3).at(1).method.name == expected


def test_a_measurement_that_other_work_disturbed_is_made_again(monkeypatch):
    p = cg.CayleyPolynomial([0.5, 0.3j], 1e4)
    L = cg.laplacian(cg.gallery.grid(46))
    predict(monkeypatch, chebyshev=Cost(0.0, 0.03, 0.0), multigrid=Cost(0.0, 0.04, 0.0))
    disturbed, asked = iter([1.0, 0.035]), []
    monkeypatch.setattr("cayleygsp.methods.series.ChebyshevMethod.sample_seconds", lambda self, m: next(disturbed))
    monkeypatch.setattr("cayleygsp.methods.powers.PowersMethod.sample_seconds", lambda self, m: asked.append(m) or 0.05)
    assert Choice(L, [p], "auto", 1e-3).at(1).method.name == "chebyshev"
    assert asked == [1]  # what agrees with the prediction is measured once


@pytest.mark.parametrize("n_signals", [1, 40])
def test_samples_of_the_work_tell_about_what_all_of_it_takes(n_signals):
    L = cg.laplacian(cg.gallery.grid(46))
    p = cg.CayleyPolynomial([0.5, 0.3j], 1e3)
    for way in ("chebyshev", "multigrid"):
        method = choice.prepare(L, way, [p], 1e-6)
        method.sample_seconds(n_signals)  # loops are compiled
        assert 0 < method.sample_seconds(n_signals) < 60
    short = cg.CayleyPolynomial([0.5, 0.3j], 0.1)
    method = choice.prepare(L, "chebyshev", [short], 1e-6)
    assert method.sample_seconds(n_signals) is None  # there is no small part


def test_hubs_and_cliques_are_predicted_within_a_factor_of_what_a_factorisation_takes():
    # the separator guess was sixty times too high on such graphs
    from cayleygsp.methods.fill import factorisation_cost

    cost = factorisation_cost(cg.laplacian(cg.gallery.collaboration(3000, 1000, rng=0)))
    assert cost.seconds < 0.1


def test_what_is_too_dear_for_one_signal_is_asked_again_for_many():
    L = cg.laplacian(cg.gallery.grid(50))
    # no way reaches the tolerance, and the most accurate for one signal has its price for many
    g = Choice(L, [cg.CayleyPolynomial([0.5, -0.25], 3.0)], "auto", 1e-14)
    assert [g.at(m).reason.partition(";")[0] for m in (1, 256)] == ["no method is expected to reach tol"] * 2
    p = cg.CayleyPolynomial([0.5, -0.25, 0.1], 10.0)
    after_one, fresh = (Choice(L, [p], "auto", 1e-13) for _ in range(2))
    after_one.at(1)
    assert after_one.at(256).method.name == fresh.at(256).method.name == "exact"


@pytest.mark.parametrize(
    ("graph", "response", "method", "what"),
    [
        (cg.gallery.ring(12), cg.responses.Tikhonov(1e16), "multigrid", r"Tikhonov\(strength=1e\+16"),
        (cg.gallery.ring(12), cg.CayleyPolynomial([0.5, -0.25], 1e17), "multigrid", r".*zoom=1e\+17"),
        (cg.gallery.path(2500), cg.responses.Tikhonov(1e18), "exact", r"Tikhonov\(strength=1e\+18"),
    ],
)
def test_singular_systems_are_refused_with_the_response(graph, response, method, what):
    with pytest.raises(ValueError, match=rf"must have a smaller strength or zoom, .* precision, got {what}"):
        cg.KernelFilter(graph, response, method=method)


def test_a_bank_with_singular_systems_is_refused_with_the_response():
    bank = [cg.responses.Tikhonov(1.0), cg.responses.Tikhonov(1e16)]
    with pytest.raises(ValueError, match=r"got Tikhonov\(strength=1e\+16"):
        cg.FilterBank(cg.gallery.ring(12), bank, method="multigrid")
    with pytest.warns(cg.ConvergenceWarning):
        _, info = cg.FilterBank(cg.gallery.ring(12), bank).filter(np.arange(12.0), return_info=True)
    assert not info.converged
