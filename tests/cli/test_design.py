"""The command ``design``."""

from __future__ import annotations

import numpy as np

import cayleygsp as cg
from tests.cli.running import run_json
from tests.oracle import dense_filter


def test_designed_coefficients_go_back_into_filter(folder, capsys):
    names = ["c.json", "c.csv", "c.npy", "c.png"]
    outputs = [word for name in names for word in ("-o", name)]
    numbers = run_json(capsys, "design", "--target", "low:1.5", "--graph", "@communities", "--order", "3", *outputs)
    assert numbers["cayley"]["n_parameters"] == numbers["chebyshev"]["n_parameters"] == 8
    assert numbers["cayley"]["residual_rms"] < numbers["chebyshev"]["residual_rms"]
    results = []
    for name in names[:3]:
        zoom = [] if name == "c.json" else ["--zoom", repr(numbers["cayley"]["zoom"])]
        arguments = ("--coeffs", name, *zoom, "-o", f"y_{name}.npy")
        run_json(capsys, "filter", "@communities", "f.npy", *arguments)
        results.append(np.load(f"y_{name}.npy"))
    L = cg.laplacian(cg.gallery.communities(rng=0))
    c = np.array(numbers["cayley"]["coeffs_real"]) + 1j * np.array(numbers["cayley"]["coeffs_imag"])
    expected = dense_filter(L, cg.CayleyPolynomial(c, numbers["cayley"]["zoom"])) @ np.load("f.npy")
    for y in results:
        assert np.linalg.norm(y - expected) <= 1e-5 * np.linalg.norm(expected)
