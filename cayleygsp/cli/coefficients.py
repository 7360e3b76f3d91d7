"""Coefficients of Cayley polynomials, in the command or in files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from cayleygsp._typing import Array
from cayleygsp._validation import check_coefficients
from cayleygsp.cli.errors import input_errors
from cayleygsp.cli.signals import SIGNAL_ENDINGS, parse_number, read_numbers


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
        found = None
        if path.suffix.lower() == ".json":
            c, found = _read_json_coefficients(path)
        elif path.suffix.lower() in SIGNAL_ENDINGS:
            c = read_numbers(path)
            c = c[:, 0] + 1j * c[:, 1] if c.ndim == 2 and c.shape[1] == 2 else c
        else:
            c = _inline_coefficients(text)
        h = found if zoom is None else zoom
        if h is None:
            raise ValueError("--zoom must be given with --coeffs, unless these are in a .json file that has it")
        return check_coefficients(c, "--coeffs"), float(h)


def _inline_coefficients(text: str) -> Array:
    try:
        return np.array([parse_number(word) for word in re.split(r"\s*,\s*|\s+", text.strip())])
    except ValueError:
        endings = ", ".join((".json", *SIGNAL_ENDINGS))
        raise ValueError(f"--coeffs must be numbers between commas or a file ({endings}), got {text[:60]!r}") from None


def _read_json_coefficients(path: Path) -> tuple[Array, float]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["cayley"]
        return np.array(found["coeffs_real"]) + 1j * np.array(found["coeffs_imag"]), float(found["zoom"])
    except FileNotFoundError:
        raise ValueError(f"there is no file '{path}'") from None
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"'{path}' is not what the design command writes") from None
