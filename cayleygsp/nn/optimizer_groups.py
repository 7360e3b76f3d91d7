"""Parameters in groups for an optimiser: the zooms get longer steps than all others, and no weight decay."""

from __future__ import annotations

from typing import Any

from torch import nn

from cayleygsp._validation import check_positive
from cayleygsp.nn.framed_conv import FramedConv


def parameter_groups(module: nn.Module, lr: float = 1e-3, *, zoom_factor: float = 10.0) -> list[dict[str, Any]]:
    """Return the parameters of a model in groups for an optimiser of torch, zooms apart from all others.

    One step of Adam changes a parameter by no more than about the learning rate. Weights of the size one are within
    reach of its default rate of 0.001; log h is not, whose right value may be several units away.

    Parameters
    ----------
    module : torch.nn.Module
        A model, with layers of Cayley filters anywhere in it.
    lr : float
        Learning rate of all parameters but the zooms; by default that of Adam.
    zoom_factor : float
        How many times as long the steps of log h are.

    Returns
    -------
    list of dict
        What any optimiser of torch takes in the place of parameters. Zooms are the last group, without weight decay,
        which would draw them to 1; a group that would be empty is left out.

    Raises
    ------
    ValueError
        If a number is not positive and finite.

    Examples
    --------
    >>> import torch
    >>> from cayleygsp.nn import CayleyConv, parameter_groups
    >>> model = torch.nn.ModuleList([CayleyConv(1, 8, order=3), torch.nn.Linear(8, 2)])
    >>> optimizer = torch.optim.Adam(parameter_groups(model), weight_decay=5e-4)
    >>> [(len(group["params"]), group["lr"], group["weight_decay"]) for group in optimizer.param_groups]
    [(4, 0.001, 0.0005), (1, 0.01, 0.0)]
    """
    lr, zoom_factor = check_positive(lr, "lr"), check_positive(zoom_factor, "zoom_factor")
    zooms = {layer.log_zoom: None for layer in module.modules() if isinstance(layer, FramedConv)}
    others = [parameter for parameter in module.parameters() if parameter not in zooms]
    groups = [{"params": others, "lr": lr}, {"params": list(zooms), "lr": zoom_factor * lr, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]
