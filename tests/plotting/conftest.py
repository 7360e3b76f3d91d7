"""What pictures are drawn on, and of."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

import cayleygsp as cg
from cayleygsp import gallery


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="session")
def communities():
    return gallery.communities(rng=0)


@pytest.fixture(scope="session")
def eigenvalues(communities):
    return cg.laplacian(communities).eigenvalues


@pytest.fixture
def low_pass():
    return cg.CayleyPolynomial([0.5, -0.25], zoom=1.0)
