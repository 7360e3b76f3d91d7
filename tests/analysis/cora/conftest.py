"""The drawn graph, and warnings of torch and PyTorch Geometric that tests of the citation network see."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.cora.data import load_inputs
from tests.analysis.cora.small_runs import CPU


@pytest.fixture(scope="session")
def drawn():
    return load_inputs("drawn", None, CPU)


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for package in ("torch", "torch_geometric"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::DeprecationWarning:{package}.*"))
