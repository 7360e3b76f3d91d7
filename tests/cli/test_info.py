"""The command ``info``."""

from __future__ import annotations

import pytest

import cayleygsp as cg
from cayleygsp.cli import main
from tests.cli.running import run_json


def test_info_agrees_with_the_library(capsys):
    numbers = run_json(capsys, "info", "@communities", "--laplacian", "normalized")
    graph = cg.gallery.communities(rng=0)
    assert (numbers["n_vertices"], numbers["n_edges"]) == (graph.n_vertices, graph.n_edges)
    assert numbers["lmax_bound"] == 2.0
    assert numbers["lmax_lower"] <= cg.laplacian(graph, "normalized").eigenvalues[-1] * (1 + 1e-12) <= 2.0


def test_info_draws_the_density(folder, capsys):
    assert main(["info", "@minnesota", "-o", "density.png"]) == 0
    out = capsys.readouterr().out
    assert "2,642" in out
    assert "density.png" in out
    assert (folder / "density.png").read_bytes().startswith(b"\x89PNG")


def test_bugs_keep_their_traceback(capsys, monkeypatch):
    def broken(*args):
        raise ValueError("a bug")

    monkeypatch.setattr("cayleygsp.cli.info.graph_facts", broken)
    with pytest.raises(ValueError, match="a bug"):
        main(["info", "@ring:9"])
