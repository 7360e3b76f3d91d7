"""Coefficients of Cayley polynomials, in the command or in files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from cayleygsp._text import quoted
from cayleygsp._typing import Array
from cayleygsp._validation import check_coefficients
from cayleygsp.cli.errors import input_errors
from cayleygsp.io.files import InputError, check_file, read_content
from cayleygsp.io.signals import SIGNAL_ENDINGS, parse_number, read_table

# The memory that a byte of JSON needs, at most: a digit and a comma become a number in a list.
_COST = 64


def load_coefficients(text: str, zoom: float | None) -> tuple[Array, float]:
    """Return coefficients of a Cayley polynomial and its zoom.

    Parameters
    ----------
    text : str
        Numbers between commas, "0.5,-0.25,0.1+0.2j"; or a file: .json as the design command writes it, with its zoom,
        .npy, or .csv and .txt with real and imaginary parts in columns.
    zoom : float, optional
        If given, it goes before that of a file.
    """
    with input_errors():
        path = Path(text)
        own_zoom = None
        if path.suffix.lower() == ".json":
            c, own_zoom = _read_json_coefficients(path)
        elif path.suffix.lower() in SIGNAL_ENDINGS:
            c = _read_coefficients(path)
        else:
            c = _inline_coefficients(text)
        h = own_zoom if zoom is None else zoom
        if h is None:
            raise ValueError("--zoom must be given with --coeffs, unless these are in a .json file that has it")
        return check_coefficients(c, "--coeffs"), float(h)


def _inline_coefficients(text: str) -> Array:
    try:
        return np.array([parse_number(word) for word in re.split(r"\s*,\s*|\s+", text.strip())])
    except ValueError:
        endings = ", ".join((".json", *SIGNAL_ENDINGS))
        raise ValueError(
            f"--coeffs must be numbers between commas or a file ({endings}), got {quoted(text, 60)}"
        ) from None


def _read_coefficients(path: Path) -> Array:
    """Return the numbers in a file; two columns are real and imaginary parts."""
    table = read_table(path)
    if table.names is not None:
        raise ValueError(f"{quoted(path)} must have numbers only, got names in its first column")
    c = table.values
    return c[:, 0] + 1j * c[:, 1] if c.ndim == 2 and c.shape[1] == 2 else c


def _read_json_coefficients(path: Path) -> tuple[Array, float]:
    check_file(path)
    content = read_content(path, _COST)
    try:
        cayley = json.loads(content)["cayley"]
        real, imaginary = np.array(cayley["coeffs_real"]), np.array(cayley["coeffs_imag"])
        zoom = float(cayley["zoom"])
        if not real.ndim == imaginary.ndim == 1 or {real.dtype.kind, imaginary.dtype.kind} - set("if"):
            raise ValueError("no lists of numbers")
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{quoted(path)} is not what the design command writes") from None
    if len(real) != len(imaginary):
        raise InputError(
            f"coeffs_real and coeffs_imag of {quoted(path)} must have the same length, "
            f"got {len(real)} and {len(imaginary)}"
        )
    return real + 1j * imaginary, zoom
