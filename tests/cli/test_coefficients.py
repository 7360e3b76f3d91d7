"""Coefficients that commands load."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from cayleygsp.cli.coefficients import load_coefficients
from cayleygsp.cli.errors import BadInput


def write(tmp_path, **parts):
    cayley = {"coeffs_real": [1.0, 2.0], "coeffs_imag": [0.0, 0.5], "zoom": 2.0} | parts
    (tmp_path / "p.json").write_text(json.dumps({"cayley": cayley}))
    return str(tmp_path / "p.json")


def test_json_has_coefficients_and_zoom(tmp_path):
    c, zoom = load_coefficients(write(tmp_path), None)
    assert_array_equal(c, [1, 2 + 0.5j])
    assert zoom == 2.0


@pytest.mark.parametrize("imaginary", [[0.0], [0.0, 1.0, 2.0], []])
def test_parts_of_different_length_are_refused(tmp_path, imaginary):
    with pytest.raises(BadInput, match=f"must have the same length, got 2 and {len(imaginary)}"):
        load_coefficients(write(tmp_path, coeffs_imag=imaginary), None)


@pytest.mark.parametrize(
    "parts",
    [{"coeffs_imag": 0.0}, {"coeffs_real": [[1, 2]]}, {"coeffs_real": ["1", "2"]}, {"zoom": None}, {"zoom": []}],
)
def test_json_of_another_kind_is_refused(tmp_path, parts):
    with pytest.raises(BadInput, match="is not what the design command writes"):
        load_coefficients(write(tmp_path, **parts), None)


def test_deep_json_is_refused(tmp_path):
    (tmp_path / "p.json").write_text('{"cayley":' * 100_000)
    with pytest.raises(BadInput):
        load_coefficients(str(tmp_path / "p.json"), None)


def test_two_columns_are_real_and_imaginary_parts(tmp_path):
    (tmp_path / "c.csv").write_text("1,0\n2,0.5\n")
    assert_array_equal(load_coefficients(str(tmp_path / "c.csv"), 1.0)[0], [1, 2 + 0.5j])
    np.save(tmp_path / "c.npy", np.array([1, 2 + 0.5j], dtype=">c16"))
    assert_array_equal(load_coefficients(str(tmp_path / "c.npy"), 1.0)[0], [1, 2 + 0.5j])
    (tmp_path / "c.csv").write_text("a,1\nb,2\n")
    with pytest.raises(BadInput, match="must have numbers only, got names in its first column"):
        load_coefficients(str(tmp_path / "c.csv"), 1.0)


def test_escape_sequences_are_written_out():
    with pytest.raises(BadInput, match=r"got '1,\\x1b\[31m'"):
        load_coefficients("1,\x1b[31m", 1.0)
