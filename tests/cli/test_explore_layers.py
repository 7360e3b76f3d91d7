"""Filters of saved layers."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.cli import main
from cayleygsp.cli.explore import load_layer
from tests.cli.running import refused
from tests.cli.test_explore import content


def saved(folder, module):
    torch = pytest.importorskip("torch")
    torch.save(module.state_dict(), folder / "layer.pt")
    return folder / "layer.pt"


LAYERS = {
    "one filter per pair": {},
    "real coefficients, an even number": {"real_coeffs": True},
    "a zoom for each channel": {"zoom_per_channel": True},
    "a shared filter": {"shared_filter": True},
}


@pytest.mark.parametrize("name", LAYERS)
def test_filters_of_a_saved_layer_are_those_of_the_layer(folder, name):
    pytest.importorskip("torch")
    from cayleygsp.nn import CayleyConv

    layer = CayleyConv(2, 3, order=3, zoom=0.7, **LAYERS[name])
    filters = load_layer(saved(folder, layer))
    lam = np.linspace(0, 2, 50)
    if name == "a shared filter":
        (one,) = filters
        weight = float(layer.weight[0, 0].detach())
        np.testing.assert_allclose(one.polynomial(lam) * weight, layer.polynomial(0, 0)(lam), atol=1e-6)
        return
    assert [one.name for one in filters][:3] == [f"learned, channel {i} to {o}" for i, o in ((0, 0), (1, 0), (0, 1))]
    pairs = [(i, o) for o in range(3) for i in range(2)]
    for one, (i, o) in zip(filters, pairs, strict=True):
        expected = layer.polynomial(i, o)
        assert one.polynomial.zoom == pytest.approx(expected.zoom)
        np.testing.assert_allclose(one.polynomial(lam), expected(lam), atol=1e-6)


def test_an_odd_number_of_real_coefficients_has_to_be_said(folder):
    pytest.importorskip("torch")
    from cayleygsp.nn import CayleyConv

    layer = CayleyConv(1, 1, order=4, real_coeffs=True)
    (one,) = load_layer(saved(folder, layer), real=True)
    lam = np.linspace(0, 2, 50)
    np.testing.assert_allclose(one.polynomial(lam), layer.polynomial(0, 0)(lam), atol=1e-6)


def test_a_layer_of_a_network_is_found_by_its_name(folder, capsys):
    torch = pytest.importorskip("torch")
    from cayleygsp.nn import CayleyConv

    network = torch.nn.ModuleDict({"first": CayleyConv(1, 2, order=2), "second": CayleyConv(2, 1, order=3)})
    saved(folder, network)
    call = ["explore", "@ring:9", "--laplacian", "normalized", "-o", "page.html", "--layer", "layer.pt"]
    assert "--layer-name must say which layer of 'layer.pt': 'first', 'second'" in refused(capsys, *call)
    assert "must be one of 'first', 'second', got 'third'" in refused(capsys, *call, "--layer-name", "third")
    assert main([*call, "--layer-name", "second"]) == 0
    told = content(folder / "page.html")
    assert [one["name"] for one in told["filters"]] == ["learned, channel 0 to 0", "learned, channel 1 to 0"]
    assert len(told["filters"][0]["real"]) == 4


def test_files_that_are_no_states_are_refused(folder, capsys):
    torch = pytest.importorskip("torch")
    call = ["explore", "@ring:9", "-o", "page.html", "--layer"]
    (folder / "text.pt").write_text("nothing")
    (folder / "bytes.pt").write_bytes(bytes(range(256)) * 9)
    torch.save([1, 2], folder / "list.pt")
    torch.save(cg.gallery.ring, folder / "code.pt")  # a function: nothing in a file is run
    for name in ("text.pt", "bytes.pt", "list.pt", "code.pt"):
        assert f"'{name}' is not what torch.save(layer.state_dict(), FILE) writes" in refused(capsys, *call, name)
    torch.save({"weight": torch.ones(3)}, folder / "other.pt")
    assert "has no layer CayleyConv" in refused(capsys, *call, "other.pt")
    zoom = {"log_zoom": torch.zeros(()), "frequencies": torch.ones(3)}
    torch.save(zoom | {"weight": torch.ones(3, 4)}, folder / "flat.pt")
    assert "must have three axes, got shape (3, 4)" in refused(capsys, *call, "flat.pt")
    torch.save(zoom | {"weight": 3}, folder / "number.pt")
    assert "'weight' in 'number.pt' must be a tensor of real numbers" in refused(capsys, *call, "number.pt")
    torch.save({"log_zoom": torch.zeros(()), "weight": torch.ones(3, 1, 1)}, folder / "parameters.pt")
    assert "'parameters.pt' must hold a state_dict" in refused(capsys, *call, "parameters.pt")
    assert "there is no file 'missing.pt'" in refused(capsys, *call, "missing.pt")
