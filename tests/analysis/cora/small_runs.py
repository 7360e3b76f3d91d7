"""What the tests of the citation network share: recipes in small, and the real graph where it is."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from analysis._planetoid import load_planetoid
from analysis.cora.settings import (
    APPNP,
    APPNP_LONG,
    GAT,
    GCN,
    MONET,
    STANDARD,
    recipe_of,
)
from tests.analysis.test_planetoid import SHARED

CPU = torch.device("cpu")
OF_PYG = (GCN, GAT, MONET, APPNP, APPNP_LONG)


def real_cora():
    data = SHARED if (SHARED / "cora").is_dir() else None
    try:
        return load_planetoid("cora", data)
    except OSError as error:
        pytest.skip(f"the data set is not here: {error}")


def small(model, split=STANDARD, **changes):
    return dataclasses.replace(recipe_of(model, split), **{"dataset": "drawn", "epochs": 6, **changes})
