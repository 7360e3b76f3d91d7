"""Groups of parameters: every parameter once, zooms with steps of their own and without decay."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cayleygsp.nn import CayleyConv, ChebConv, parameter_groups


def model():
    return torch.nn.ModuleList(
        [CayleyConv(1, 4, order=2), CayleyConv(4, 4, order=2, zoom_per_channel=True), ChebConv(4, 2, 3)]
    )


def test_every_parameter_is_in_one_group_and_zooms_are_in_the_last():
    network = model()
    others, zooms = parameter_groups(network, 0.002, zoom_factor=5)
    given = [id(p) for group in (others, zooms) for p in group["params"]]
    assert sorted(given) == sorted(id(p) for p in network.parameters())
    assert {id(p) for p in zooms["params"]} == {id(network[0].log_zoom), id(network[1].log_zoom)}
    assert others["lr"] == 0.002
    assert zooms["lr"] == pytest.approx(0.01)


@pytest.mark.parametrize("optimizer", [torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD])
def test_weight_decay_does_not_touch_zooms(optimizer):
    network = model()
    with torch.no_grad():
        network[0].log_zoom.fill_(2.0)
    before = [p.detach().clone() for p in network.parameters()]
    for p in network.parameters():
        p.grad = torch.zeros_like(p)
    optimizer(parameter_groups(network), weight_decay=0.5).step()
    assert network[0].log_zoom == 2.0
    assert any(not torch.equal(p, b) for p, b in zip(network.parameters(), before, strict=True))


def test_the_first_step_of_adam_moves_the_zoom_by_its_own_rate():
    layer = CayleyConv(1, 1, order=1, zoom=3.0)
    for p in layer.parameters():
        p.grad = torch.ones_like(p)
    torch.optim.Adam(parameter_groups(layer)).step()
    assert np.log(3.0) - float(layer.log_zoom.detach()) == pytest.approx(0.01, rel=1e-3)


def test_a_zoom_that_layers_share_and_a_frozen_model_part_are_listed_once():
    first, second = CayleyConv(1, 1, order=1), CayleyConv(1, 1, order=1)
    second.log_zoom = first.log_zoom
    groups = parameter_groups(torch.nn.ModuleList([first, second]))
    assert len(groups[1]["params"]) == 1
    torch.optim.Adam(groups)  # which refuses a parameter in two groups


def test_groups_that_would_be_empty_are_left_out():
    assert len(parameter_groups(ChebConv(1, 1, 2))) == 1


@pytest.mark.parametrize(("arguments", "name"), [({"lr": 0.0}, "lr"), ({"zoom_factor": -1.0}, "zoom_factor")])
def test_rates_that_are_not_positive_are_refused(arguments, name):
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        parameter_groups(ChebConv(1, 1, 2), **arguments)
