"""States, precisions and beginnings of layers that learn in coordinates."""

import copy

import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import CayleyConv

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
    assert torch.equal(torch.func.functional_call(layer, named, (x, edges)), layer(x, edges))
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
