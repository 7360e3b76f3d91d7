"""The command ``denoise``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.cli import main
from tests.cli.running import N, refused, run_json


def test_the_signal_is_denoised_as_in_python(folder, capsys):
    call = ("--family", "heat", "--select", "sure", "--sigma", "0.9", "-o", "x.npy", "--figure", "x.png")
    numbers = run_json(capsys, "denoise", "@communities", "f.csv", *call)
    expected = cg.tasks.denoise(cg.gallery.communities(rng=0), np.load("f.npy"), "heat", "sure", sigma=0.9)
    assert np.load("x.npy") == pytest.approx(expected.signals, abs=1e-9)
    assert numbers["strength"] == pytest.approx(expected.strength)
    assert np.shape(numbers["curve"]) == (len(numbers["strengths"]), 2)
    assert numbers["certificate"] == "proved"
    assert not numbers["sigma_estimated"]
    assert (folder / "x.png").read_bytes().startswith(b"\x89PNG")


def test_given_strengths_and_one_for_all(folder, capsys):
    call = ["denoise", "@communities", "f.npy", "--strength", "3", "--strength", "1", "--strength", "2", "--shared"]
    assert main([*call, "--select", "discrepancy", "-o", "x.csv", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["strengths"] == [1.0, 2.0, 3.0]
    assert numbers["strength"] in (1.0, 2.0, 3.0)
    assert numbers["sigma_estimated"]


def test_words_and_a_choice_at_the_end(folder, capsys):
    call = ["denoise", "@communities", "f.npy", "--strength", "1e-3", "--strength", "1e-2", "-o", "x.txt"]
    assert main([*call, "--select", "sure", "--sigma", "1"]) == 0
    captured = capsys.readouterr()
    assert "at an end of them" in " ".join(captured.out.split())
    assert "the best may lie beyond" in captured.err
    assert np.loadtxt("x.txt").shape == (N, 2)


def test_what_cannot_be_denoised_is_one_line(folder, capsys):
    np.save("z.npy", np.load("f.npy").astype(complex) * 1j)
    assert "must be real" in refused(capsys, "denoise", "@communities", "z.npy", "-o", "x.npy")
    assert "--output" in refused(capsys, "denoise", "@communities", "f.npy")
    assert "--figure must end in .png" in refused(capsys, "denoise", "@communities", "f.npy", "--figure", "x.pdf")
    assert "--select" in refused(capsys, "denoise", "@communities", "f.npy", "--select", "best", "-o", "x.npy")
    assert "--sigma is used by" in refused(capsys, "denoise", "@communities", "f.npy", "--sigma", "1", "-o", "x.npy")
    assert "one standard input" in refused(capsys, "denoise", "-", "-", "-o", "x.npy")


def test_a_tolerance_that_cannot_be_reached_is_exit_code_3(folder, capsys):
    assert main(["denoise", "@communities", "f.npy", "--tol", "1e-17", "--strength", "1", "-o", "x.npy"]) == 3
    assert "could not certify" in capsys.readouterr().err
    assert np.load("x.npy").shape == (N, 2)
