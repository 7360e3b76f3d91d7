"""States, precisions and beginnings of layers that learn in coordinates."""

import copy

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import CayleyConv
from tests.nn.helpers import random_graph, signals

FORMS = [{}, {"shared_filter": True}, {"zoom_per_channel": True}]


@pytest.mark.parametrize("options", FORMS)
@pytest.mark.parametrize(("stored", "own"), [("double", "float"), ("float", "double"), ("bfloat16", "float")])
def test_states_of_another_precision_are_converted(stored, own, options):
    layer = getattr(CayleyConv(2, 3, 2, **options), "double" if stored == "double" else "float")()
    state = {name: value.bfloat16() if stored == "bfloat16" else value for name, value in layer.state_dict().items()}
    other = getattr(CayleyConv(2, 3, 2, **options), own)()
    other.load_state_dict(state)
    c, size = layer.coefficients().double(), float(layer.coefficients().detach().abs().max())
    tol = 2e-2 if stored == "bfloat16" else 1e-6
    torch.testing.assert_close(other.coefficients().double(), c, atol=tol * size, rtol=0)
    if stored != "bfloat16":
        name = "coeffs" if "shared_filter" in options else "weight"
        assert torch.equal(getattr(other, name).float(), getattr(layer, name).float())


def test_a_layer_without_numbers_takes_the_precision_of_a_state():
    layer = CayleyConv(2, 3, 2).double()
    empty = CayleyConv(2, 3, 2).to("meta")
    empty.load_state_dict(layer.state_dict(), assign=True)
    assert torch.equal(empty.coefficients(), layer.coefficients())
    state = {name: value.to("meta") for name, value in layer.state_dict().items()}
    copy.deepcopy(layer).to("meta").load_state_dict(state)


@pytest.mark.parametrize("options", FORMS)
def test_training_goes_on_where_it_stood(options):
    """Also in the coordinates of a graph, or of another zoom of the start, which the fresh layer does not know."""
    for layer in (
        CayleyConv(2, 3, 2, **options).adapt_to(cg.gallery.ring(12)),
        CayleyConv(2, 3, 2, normalization=None, zoom=3.0, **options),
    ):
        for channels in (2, -1):
            fresh = CayleyConv(channels, 3, 2, normalization=layer.normalization, **options)
            fresh.load_state_dict(layer.state_dict())
            assert all(torch.equal(p, q) for p, q in zip(fresh.parameters(), layer.parameters(), strict=True))
            assert torch.equal(fresh.coefficients(), layer.coefficients())
            assert torch.equal(fresh.state_dict()["frequencies"], layer.state_dict()["frequencies"])
        old = {k: v for k, v in layer.state_dict().items() if k not in ("frequencies", "coordinates")}
        fresh = CayleyConv(2, 3, 2, normalization=layer.normalization, **options)
        fresh.load_state_dict(old, strict=False)
        torch.testing.assert_close(fresh.coefficients(), layer.coefficients(), atol=1e-4, rtol=1e-4)


def test_frequencies_are_checked_and_change_no_filter():
    layer = CayleyConv(2, 3, 2)
    other = CayleyConv(2, 3, 2).adapt_to(cg.gallery.ring(12)).state_dict()
    before = layer.coefficients()
    with pytest.raises(RuntimeError, match="`frequencies` must hold 128 finite numbers"):
        layer.load_state_dict({**layer.state_dict(), "frequencies": torch.full((128,), torch.nan)})
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        layer.load_state_dict({**other, "weight": torch.zeros(5, 4, 3), "log_zoom": torch.tensor(0.0)})
    layer.load_state_dict({"frequencies": other["frequencies"]}, strict=False)
    assert torch.equal(layer.coefficients(), before)
    lazy = CayleyConv(-1, 3, 2)
    lazy.load_state_dict(CayleyConv(-1, 3, 2).adapt_to(cg.gallery.ring(12)).state_dict())
    assert torch.equal(lazy.state_dict()["frequencies"], other["frequencies"])


@pytest.mark.parametrize("options", FORMS)
def test_parameters_and_states_are_not_taken_for_each_other(options):
    layer = CayleyConv(2, 3, 2, **options)
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), layer)
    name = "coeffs" if "shared_filter" in options else "weight"
    for named in (dict(net.named_parameters()), {k: p.detach().clone() for k, p in net.named_parameters()}):
        with pytest.raises(RuntimeError, match=r"Missing key\(s\) in state_dict: \"1.frequencies\""):
            net.load_state_dict(named)
    kept, x = getattr(layer, name), torch.ones(4, 2)
    edges = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    with pytest.raises(AttributeError, match="functional_call takes what named_parameters gives, not a state_dict"):
        torch.func.functional_call(layer, layer.state_dict(), (x, edges))
    assert getattr(layer, name) is kept
    named = {k: p.detach().clone() for k, p in layer.named_parameters()}
    called = torch.func.functional_call(layer, named, (x, edges))  # without gradients, so in another order of sums
    torch.testing.assert_close(called, layer(x, edges).detach())
    assert torch.equal(layer.frequencies, layer.state_dict()["frequencies"])


def test_autocast_leaves_the_filters_as_they_are():
    for options in FORMS:
        layer = CayleyConv(2, 3, 2, **options)
        expected, state = layer.responses([0.5]), layer.state_dict()
        with torch.autocast("cpu"):
            assert (layer.responses([0.5]) == expected).all()
            assert all(torch.equal(value, state[name]) for name, value in layer.state_dict().items())


def test_tensors_of_states_are_contiguous():
    layer = CayleyConv(2, 3, 2, zoom_per_channel=True)
    state = layer.state_dict()
    assert all(value.is_contiguous() for value in state.values())
    del state["coordinates"]
    layer.load_state_dict(state, assign=True)
    assert layer.weight.is_contiguous()


def test_coefficients_before_the_first_call():
    lazy = CayleyConv(-1, 3, 2)
    for call in (lazy.coefficients, lambda: lazy.set_coefficients(torch.zeros(5, 2, 3))):
        with pytest.raises(ValueError, match="no filters before its first call"):
            call()
    assert CayleyConv(-1, 3, 2, shared_filter=True).coefficients().shape == (5,)


@pytest.mark.parametrize("options", FORMS)
def test_coefficients_that_are_no_finite_tensor_are_rejected(options):
    layer = CayleyConv(2, 3, 2, **options)
    before = layer.coefficients().detach()
    with pytest.raises(TypeError, match="`coefficients` must be a tensor, got ndarray"):
        layer.set_coefficients(before.numpy())
    with pytest.raises(TypeError, match=r"`coefficients` must be real numbers, got dtype torch\.complex64"):
        layer.set_coefficients(before.to(torch.complex64))
    with pytest.raises(ValueError, match="`coefficients` must be finite, got nan"):
        layer.set_coefficients(torch.full_like(before, torch.nan))
    torch.testing.assert_close(layer.coefficients().detach(), before, rtol=0, atol=0)


def test_all_processes_get_the_coordinates_of_a_large_graph():
    L = cg.laplacian(cg.gallery.ring(600), "normalized")
    one, two = (CayleyConv(1, 1, 1).adapt_to(L).state_dict()["frequencies"] for _ in range(2))
    assert torch.equal(one, two)


@pytest.mark.parametrize("options", FORMS)
def test_channels_found_at_the_first_call_give_the_same_coordinates(options):
    known, lazy = CayleyConv(7, 3, 2, **options), CayleyConv(-1, 3, 2, **options)
    lazy.double()
    lazy.float()(torch.ones(4, 7), torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]))
    name = "coeffs" if "shared_filter" in options else "weight"
    with torch.no_grad():
        getattr(lazy, name).copy_(getattr(known, name))
    assert torch.equal(lazy.coefficients(), known.coefficients())


PLAIN = [{}, {"shared_filter": True}, {"zoom_per_channel": True}, {"real_coeffs": True}]


@pytest.mark.parametrize("options", PLAIN)
def test_plain_coefficients_are_the_parameter_itself(options):
    layer = CayleyConv(2, 3, 2, parametrization="coefficients", **options)
    name = "coeffs" if "shared_filter" in options else "weight"
    assert layer.coefficients() is getattr(layer, name)
    c = torch.randn(layer.coefficients().shape)
    layer.set_coefficients(c)
    assert torch.equal(getattr(layer, name).detach(), c)
    assert "parametrization=coefficients" in repr(layer)
    assert "parametrization" not in repr(CayleyConv(2, 3, 2, **options))


@pytest.mark.parametrize("options", PLAIN)
@pytest.mark.parametrize("channels", [2, -1])
def test_layers_of_both_parametrizations_load_each_others_states(options, channels):
    L, prepared = random_graph()
    x = signals(L.n_vertices, 2)

    def make(parametrization, channels=2):
        return CayleyConv(channels, 3, 2, parametrization=parametrization, tol=1e-12, **options).double()

    rotated = make("orthogonal").adapt_to(L)
    plain = make("coefficients", channels)
    plain.load_state_dict(rotated.state_dict())
    torch.testing.assert_close(plain(x, prepared), rotated(x, prepared), atol=1e-12, rtol=0)
    again = make("orthogonal", channels)
    again.load_state_dict(plain.state_dict())
    torch.testing.assert_close(again(x, prepared), rotated(x, prepared), atol=1e-9, rtol=0)
    assert torch.equal(again.frequencies, rotated.frequencies)  # they came along
    fresh = make("coefficients", channels)
    fresh.load_state_dict(plain.state_dict())
    assert all(torch.equal(p, q) for p, q in zip(fresh.parameters(), plain.parameters(), strict=True))
    fresh.load_state_dict(dict(plain.named_parameters()))  # parameters are coefficients here


@pytest.mark.parametrize("options", [*PLAIN, {"method": "exact"}, {"method": "jacobi", "n_iter": 1}])
def test_gradients_in_plain_coefficients(options):
    L, prepared = random_graph(6)
    layer = CayleyConv(2, 2, 2, parametrization="coefficients", tol=1e-12, **options).double()
    named = {name: p.detach().clone().requires_grad_() for name, p in layer.named_parameters()}
    x = signals(L.n_vertices, 2)

    def outputs(*values):
        return torch.func.functional_call(layer, dict(zip(named, values, strict=True)), (x, prepared))

    assert torch.autograd.gradcheck(outputs, tuple(named.values()), atol=1e-6)


@pytest.mark.parametrize(("in_channels", "expected"), [(1, 0.3), (100, 0.3**0.01)])
def test_plain_coefficients_start_with_outputs_of_the_same_size(in_channels, expected):
    layer = CayleyConv(in_channels, 20_000 // in_channels, 2, zoom=0.6, parametrization="coefficients")
    layer.reset_parameters(torch.Generator().manual_seed(0))
    size = np.sqrt((layer.responses(np.linspace(0, 2, 30)) ** 2).mean(axis=(0, 2)).sum())
    assert size == pytest.approx(expected, rel=0.05)


def test_plain_coefficients_have_no_coordinates_to_adapt():
    with pytest.raises(ValueError, match="`adapt_to` needs parametrization='orthogonal'"):
        CayleyConv(2, 3, 2, parametrization="coefficients").adapt_to(cg.gallery.ring(12))
    with pytest.raises(ValueError, match="`parametrization` must be"):
        CayleyConv(2, 3, 2, parametrization="plain")
