"""What the tests of the citation network share: recipes in small, and the real graph where it is."""

from __future__ import annotations

import dataclasses

import torch

from analysis.cora.settings import (
    APPNP,
    APPNP_LONG,
    GAT,
    GCN,
    MONET,
    STANDARD,
    recipe_of,
)

CPU = torch.device("cpu")
OF_PYG = (GCN, GAT, MONET, APPNP, APPNP_LONG)


def small(model, split=STANDARD, **changes):
    return dataclasses.replace(recipe_of(model, split), **{"dataset": "drawn", "epochs": 6, **changes})
