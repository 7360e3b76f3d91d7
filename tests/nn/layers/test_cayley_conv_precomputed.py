import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, ChebyshevFeatures, GraphLaplacian, PrecomputedCayleyConv
from tests.nn.helpers import NORMALIZATIONS, random_graph, randomized, signals

FORMS = {
    "full": {},
    "real": {"real_coeffs": True},
    "shared": {"shared_filter": True},
    "zooms": {"zoom_per_channel": True},
}

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sides", [(2, 3), (3, 2)])
def test_precomputed_layer_equals_the_layer_on_the_graph(normalization, form, sides):
    L, prepared = random_graph(normalization=normalization)
    x = signals(L.n_vertices, sides[0])
    features = ChebyshevFeatures(x, prepared, order=3, max_zoom=4.0, tol=1e-12)
    options = {"normalization": normalization, **FORMS[form]}
    layer = randomized(CayleyConv(*sides, 3, tol=1e-12, **options))
    precomputed = PrecomputedCayleyConv(*sides, 3, **options).double()
    precomputed.load_state_dict(layer.state_dict())
    index = torch.tensor([5, 0, 12, 5])
    torch.testing.assert_close(precomputed(features, index), layer(x, prepared)[index], atol=1e-10, rtol=0)
    torch.testing.assert_close(precomputed(features), layer(x, L), atol=1e-10, rtol=0)
    gradients = [
        torch.autograd.grad((module(*given_as) ** 2).sum(), list(module.parameters()))
        for module, given_as in ((layer, (x, prepared)), (precomputed, (features,)))
    ]
    for left, right in zip(*gradients, strict=True):
        torch.testing.assert_close(left, right, atol=1e-8, rtol=1e-8)


def test_error_is_within_what_tol_allows():
    L, prepared = random_graph(n=30)
    x = signals(30, 1)
    for tol in (1e-2, 1e-5):
        features = ChebyshevFeatures(x, prepared, order=4, max_zoom=2.0, tol=tol)
        layer = randomized(PrecomputedCayleyConv(1, 1, 4, bias=False))
        for zoom in (0.1, 0.7, 2.0):
            with torch.no_grad():
                layer.log_zoom.fill_(np.log(zoom) - 1e-9)
            exact = layer.to_filter(L, 0, 0, method="exact") @ x[:, 0].numpy()
            error = np.linalg.norm(layer(features)[:, 0].detach().numpy() - exact)
            assert error <= 1.5 * tol * float(layer.coefficients().detach().abs().sum()) * float(x.norm())


@pytest.mark.parametrize("form", FORMS)
def test_gradients_are_those_of_finite_differences(form):
    _L, prepared = random_graph(n=6)
    features = ChebyshevFeatures(signals(6, 2), prepared, order=2, max_zoom=4.0)
    layer = randomized(PrecomputedCayleyConv(2, 3, 2, **FORMS[form]))
    names = [name for name, _ in layer.named_parameters()]
    values = tuple(parameter.detach().clone().requires_grad_() for parameter in layer.parameters())

    def call(*values):
        return torch.func.functional_call(layer, dict(zip(names, values, strict=True)), (features,))

    assert gradcheck(call, values, fast_mode=True, atol=1e-6)


def test_minibatches_train_and_the_zoom_moves():
    L = cg.laplacian(cg.gallery.ring(60), "normalized")
    x = signals(60, 1, dtype=torch.float32)
    g = cg.CayleyFilter(L, cg.CayleyPolynomial([0.2, 0.3 - 0.4j], zoom=3.0), method="exact")
    y = torch.from_numpy(g @ x.numpy()).float()
    features = ChebyshevFeatures(x, L, order=1, max_zoom=20.0)
    layer = PrecomputedCayleyConv(-1, 1, 1)
    generator = torch.Generator().manual_seed(0)
    layer(features)
    layer.reset_parameters(generator)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    for _ in range(400):
        index = torch.randint(60, (20,), generator=generator)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(layer(features, index), y[index]).backward()
        optimizer.step()
    assert torch.nn.functional.mse_loss(layer(features), y) < 1e-3
    assert abs(float(layer.zoom.detach()) - 3.0) < 1.0


def test_graph_without_edges():
    empty = GraphLaplacian.from_edge_index(torch.empty(2, 0, dtype=torch.int64), num_nodes=4)
    x = signals(4, 2)
    features = ChebyshevFeatures(x, empty, order=2, max_zoom=3.0)
    layer = randomized(PrecomputedCayleyConv(2, 3, 2, bias=False))
    np.testing.assert_allclose(layer(features).detach(), x.numpy() @ layer.responses([0.0])[0], atol=1e-12)


def test_bad_input_is_refused():
    _L, prepared = random_graph()
    x = signals(13, 2)
    good = ChebyshevFeatures(x, prepared, order=2, max_zoom=2.0)
    cases = [
        (
            (x[None], prepared, 2, 1.0),
            TypeError,
            r"`x` must be a tensor of shape \(n, channels\) .* got shape \(1, 13, 2\)",
        ),
        ((x.numpy(), prepared, 2, 1.0), TypeError, "got ndarray"),
        ((x.clone().requires_grad_(), prepared, 2, 1.0), ValueError, "`x` must not require a gradient"),
        ((x[:5], prepared, 2, 1.0), ValueError, "`x` must have 13 rows as the graph has vertices, got 5"),
        ((x / 0, prepared, 2, 1.0), ValueError, "`x` must be finite"),
        ((x, np.eye(13), 2, 1.0), TypeError, "`laplacian` must be a Laplacian or GraphLaplacian, got ndarray"),
        ((x, prepared, 0, 1.0), ValueError, "`order` must be at least 1, got 0"),
        ((x, prepared, 2, 0.0), ValueError, "`max_zoom` must be positive"),
    ]
    for arguments, error, message in cases:
        with pytest.raises(error, match=message):
            ChebyshevFeatures(*arguments)
    with pytest.raises(TypeError, match="`method` does not apply"):
        PrecomputedCayleyConv(2, 3, 2, method="exact")
    with pytest.raises(TypeError, match=r"`features` must be ChebyshevFeatures, .* got Tensor"):
        PrecomputedCayleyConv(2, 3, 2)(x)
    with pytest.raises(ValueError, match="`features` must have 4 channels, got 2"):
        PrecomputedCayleyConv(4, 3, 2)(good)
    with pytest.raises(ValueError, match="must have normalization=None as the layer, got 'sym'"):
        PrecomputedCayleyConv(2, 3, 2, normalization=None)(good)


def test_precomputed_layer_under_autocast():
    L, _ = random_graph()
    features = ChebyshevFeatures(signals(13, 2, dtype=torch.float32), L, order=2, max_zoom=2.0)
    layer = PrecomputedCayleyConv(2, 3, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = layer(features)
    assert torch.equal(found, layer(features))
