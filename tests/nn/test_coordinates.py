"""The coordinates that layers learn in: orthonormal at every zoom, apart from what it does, invisible outside."""

import copy

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, ChebyshevFeatures, PrecomputedCayleyConv
from cayleygsp.nn.coordinates import (
    RIDGE,
    coefficients_of,
    coordinate_table,
    coordinates_at,
    default_nodes,
    sizes,
    spectral_nodes,
    weights_of,
)
from cayleygsp.nn.ops.series import basis_at
from cayleygsp.responses.basis import basis_coefficients, power_basis, zoom_derivative
from tests.nn.helpers import random_graph, signals

FORMS = {
    "full": {},
    "real": {"real_coeffs": True},
    "shared": {"shared_filter": True},
    "zooms": {"zoom_per_channel": True},
}


def matrix(order, z, real=False, normalization="sym"):
    first, table = coordinate_table(order, real, default_nodes(normalization, 1.0))
    z = torch.as_tensor(z, dtype=torch.float64)
    return coordinates_at(torch.tensor(table), torch.tensor(first, dtype=torch.float64), z)


@pytest.mark.parametrize("normalization", ["sym", None])
@pytest.mark.parametrize(("order", "real"), [(2, False), (5, True), (8, False)])
def test_functions_are_orthonormal_and_the_zoom_is_apart(order, real, normalization):
    lam = np.array(default_nodes(normalization, 1.0))
    for z in (-3.0, -0.5, 0.0, 1.2345, 4.0):
        t = torch.tensor(z, dtype=torch.float64)
        E = matrix(order, t, real, normalization).numpy()
        slope = torch.autograd.functional.jacobian(lambda t: matrix(order, t, real, normalization), t).numpy()
        wide = power_basis(order + 1, np.exp(z) * lam, real=real)
        B = wide[:, : E.shape[0]]
        ridge = RIDGE**2 * np.eye(E.shape[0])
        np.testing.assert_allclose(E.T @ (B.T @ B / lam.size + ridge) @ E, np.eye(E.shape[0]), atol=1e-2)
        assert np.linalg.norm(E, 2) <= 1.01 / RIDGE
        change = wide @ zoom_derivative(order, real=real).T @ E + B @ slope
        apart = E.T @ (B.T @ change / lam.size + ridge @ slope)
        assert np.abs(apart).max() < 0.05 * max(
            np.abs(E.T @ B.T @ (wide @ zoom_derivative(order, real=real).T @ E)).max() / lam.size, 1
        )


def test_functions_are_alike_for_one_filter_and_fall_off_where_many_add_up():
    np.testing.assert_allclose(sizes(1, 5), np.full(5, 3.0))
    np.testing.assert_allclose(sizes(10**6, 5), 1 / np.arange(1, 6), rtol=1e-4)
    for n in (1, 2, 16):
        assert (np.diff(sizes(n, 5)) <= 0).all()
        assert (sizes(n, 5) >= sizes(n + 1, 5)).all()


@pytest.mark.parametrize(("in_channels", "expected"), [(1, 0.3), (3, 0.3 ** (1 / 3)), (400, 1.0)])
def test_outputs_start_with_a_known_size(in_channels, expected):
    """The mean square of the responses over the frequencies, added up over the input channels."""
    layer = CayleyConv(in_channels, 20_000 // in_channels, 2)
    layer.reset_parameters(torch.Generator().manual_seed(0))
    lam = np.array(default_nodes("sym", 1.0))
    size = np.sqrt((layer.responses(lam) ** 2).mean(axis=(0, 2)).sum())
    assert size == pytest.approx(expected, rel=0.05)


def test_coordinates_can_be_differentiated_and_inverted():
    z = torch.tensor([0.3, -1.0, 20.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: matrix(2, z), z)
    E = matrix(2, z.detach())
    w = signals(5, 4, 3)
    torch.testing.assert_close(weights_of(coefficients_of(w, E), E), w, atol=1e-9, rtol=0)
    assert torch.equal(E[2], matrix(2, 30.0))  # constant beyond the table


@pytest.mark.parametrize("form", FORMS)
def test_the_outside_speaks_of_the_coefficients_alone(form):
    """state_dict, polynomial and values are those of c and h, whatever the coordinates are."""
    L, prepared = random_graph()
    c = torch.randn(
        *((7 if form != "real" else 4,) if form == "shared" else ((4 if form == "real" else 7), 2, 3)),
        dtype=torch.float64,
    )
    layer = CayleyConv(2, 3, 3, zoom=0.7, tol=1e-12, **FORMS[form]).double()
    layer.set_coefficients(c)
    name = "coeffs" if form == "shared" else "weight"
    torch.testing.assert_close(layer.state_dict()[name], c, atol=1e-10, rtol=0)
    filters = (c[:, None, None] * layer.weight.detach() if form == "shared" else c).numpy()
    p = layer.polynomial(1, 2)
    np.testing.assert_allclose(p.coeffs, basis_coefficients(filters[:, 1, 2], real=form == "real"), atol=1e-10)
    x = signals(L.n_vertices, 2)
    expected = sum(torch.from_numpy(layer.to_filter(L, i, 2, tol=1e-12) @ x[:, i].numpy()) for i in range(2))
    torch.testing.assert_close(layer(x, prepared)[:, 2].detach(), expected, atol=1e-9, rtol=0)
    # another zoom of the start has other coordinates, and so has a layer for one graph
    for other in (
        CayleyConv(2, 3, 3, zoom=5.0, tol=1e-12, **FORMS[form]),
        CayleyConv(2, 3, 3, tol=1e-12, **FORMS[form]),
    ):
        state = layer.state_dict()
        other.double().adapt_to(L).load_state_dict(state)
        torch.testing.assert_close(other(x, prepared), layer(x, prepared), atol=1e-9, rtol=0)
        torch.testing.assert_close(state[name], c, atol=1e-10, rtol=0)  # what was given is left as it was


def test_single_precision_goes_through_a_state():
    layer, other = CayleyConv(3, 4, 6), CayleyConv(-1, 4, 6)
    other.load_state_dict(layer.state_dict())
    c, again = layer.coefficients().detach(), other.coefficients().detach()
    assert float((c - again).abs().max()) < 1e-5 * float(c.abs().max())
    lam = np.linspace(0, 2, 30)
    np.testing.assert_allclose(other.responses(lam), layer.responses(lam), atol=2e-5)


def test_states_of_other_shapes_are_left_to_torch():
    layer = CayleyConv(2, 3, 3)
    for state in ({"weight": torch.zeros(3)}, {"weight": torch.zeros(5, 2, 3)}, {"weight": torch.zeros(7, 2, 4)}):
        with pytest.raises(RuntimeError, match="size mismatch for weight"):
            layer.load_state_dict({**layer.state_dict(), **state})
    with pytest.raises(RuntimeError, match="size mismatch for log_zoom"):
        layer.load_state_dict({**layer.state_dict(), "log_zoom": torch.zeros(3)})
    with pytest.raises(ValueError, match=r"`coefficients` must have shape \(7, 2, 3\), got \(3,\)"):
        layer.set_coefficients(torch.zeros(3))


def test_a_layer_without_numbers_takes_a_state():
    layer = CayleyConv(2, 3, 3)
    empty = copy.deepcopy(layer).to("meta")
    empty.load_state_dict(layer.state_dict(), assign=True)
    torch.testing.assert_close(empty.coefficients(), layer.coefficients(), atol=1e-5, rtol=1e-5)
    made = copy.deepcopy(layer).to("meta").to_empty(device="cpu")
    made.reset_parameters()
    assert torch.isfinite(made.coefficients()).all()


def test_coordinates_of_a_graph_keep_the_filters():
    L = cg.laplacian(cg.gallery.sensor(60, rng=0), "normalized")
    layer = CayleyConv(2, 3, 4).double()
    before, weight = layer.coefficients().detach(), layer.weight
    assert layer.adapt_to(L) is layer
    torch.testing.assert_close(layer.coefficients().detach(), before, atol=1e-9, rtol=0)
    assert layer.weight is weight
    assert CayleyConv(-1, 3, 4).adapt_to(L).is_lazy
    nodes = np.array(spectral_nodes(L))
    np.testing.assert_allclose(
        np.quantile(nodes, [0.25, 0.5, 0.75]), np.quantile(L.eigenvalues, [0.25, 0.5, 0.75]), atol=0.03
    )


def test_precomputed_layers_share_the_coordinates():
    L, prepared = random_graph()
    x = signals(L.n_vertices, 2)
    layer = PrecomputedCayleyConv(2, 3, 2).double()
    whole = CayleyConv(2, 3, 2, tol=1e-10).double()
    whole.load_state_dict(layer.state_dict())
    y = layer(ChebyshevFeatures(x, prepared, 2, max_zoom=2.0, tol=1e-10))
    torch.testing.assert_close(y, whole(x, prepared), atol=1e-7, rtol=0)


def test_adam_finds_the_zoom_of_a_teacher():
    L = cg.laplacian(cg.gallery.sensor(60, rng=0), "normalized")
    lam = torch.from_numpy(L.eigenvalues).clamp(min=0)
    target = torch.from_numpy(cg.CayleyPolynomial([0.2, 0.5 - 0.4j], 3.0)(lam.numpy()))
    layer = CayleyConv(1, 1, 1, bias=False).double().adapt_to(L)
    layer.reset_parameters(torch.Generator().manual_seed(0))
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.01)
    for _ in range(400):
        optimizer.zero_grad()
        response = basis_at(layer.zoom * lam, 1, False) @ layer.coefficients()[:, 0, 0]
        (response - target).square().mean().backward()
        optimizer.step()
    assert float(layer.zoom.detach()) == pytest.approx(3.0, rel=0.05)
