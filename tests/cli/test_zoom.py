"""The command ``zoom``."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from tests.cli.running import run_json


def test_zoom_gives_the_share_of_the_half_circle(folder, capsys):
    numbers = run_json(capsys, "zoom", "@communities", "--zoom", "1", "--zoom", "10", "-o", "z.csv", "-o", "z.png")
    lam = np.linalg.eigvalsh(cg.laplacian(cg.gallery.communities(rng=0)).matrix.toarray())
    expected = [2 / np.pi * np.arctan(h * lam[14]) for h in (1.0, 10.0)]
    assert [row["circle_share"] for row in numbers["rows"]] == pytest.approx(expected, rel=1e-9)
    table = np.genfromtxt("z.csv", delimiter=",", names=True)
    assert table["circle_share"] == pytest.approx(expected, rel=1e-9)
    assert (folder / "z.png").read_bytes().startswith(b"\x89PNG")


def test_same_seed_gives_the_same_numbers(capsys):
    first, again, other = (run_json(capsys, "zoom", "@grid:40", "--seed", seed) for seed in ("1", "1", "2"))
    assert first == again != other


@pytest.mark.parametrize(("n", "n_lowest"), [(2, 2), (9, 9), (14, 14), (15, 15), (40, 15)])
def test_small_graphs_have_fewer_lowest_frequencies(capsys, n, n_lowest):
    assert run_json(capsys, "zoom", f"@path:{n}")["rows"][0]["n_lowest"] == n_lowest
