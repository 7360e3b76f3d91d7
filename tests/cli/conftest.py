"""A folder to work in, with signals in it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import N


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    f = np.random.default_rng(0).standard_normal((N, 2))
    np.save("f.npy", f)
    np.savetxt("f.csv", f, delimiter=",", fmt="%.17g")
    return tmp_path
