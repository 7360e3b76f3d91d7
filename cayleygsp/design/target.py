"""Targets of fits: by short texts, and what a fit asks of any response."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

import numpy as np

from cayleygsp._typing import ArrayLike, FloatArray, Kernel
from cayleygsp._validation import check_eigenvalues, check_positive
from cayleygsp.responses import BandPass, Gaussian, Heat, HighPass, LowPass, MexicanHat, Tikhonov
from cayleygsp.responses.base import Response
from cayleygsp.responses.function import as_response


def response_name(response: Response | type[Response]) -> str:
    """Return the name of a kind of response in small letters, such as "low-pass"."""
    kind = response if isinstance(response, type) else type(response)
    return re.sub(r"\B(?=[A-Z])", "-", kind.__name__).lower()


_KINDS: dict[str, type[Response]] = {
    **{response_name(kind): kind for kind in (LowPass, HighPass, BandPass, Heat, MexicanHat)},
    "indicator": BandPass,
    "tikhonov": Tikhonov,
    "gaussian": Gaussian,
}
_SHORT_NAMES = {name.partition("-")[0]: kind for name, kind in _KINDS.items()}
_ALL_NAMES = _KINDS | _SHORT_NAMES | {name.replace("-", ""): kind for name, kind in _KINDS.items()}

# Parameters that are one over a frequency, and those without a unit.
_INVERSE = ("scale", "strength")
_WITHOUT_UNIT = ("power",)


def parse_target(text: str, lmax: float | None = None) -> Response:
    r"""Return the response that a short text describes, as on the command line: a name and parameters between colons.

    Parameters
    ----------
    text : str
        ``"low:CUTOFF"``, ``"high:CUTOFF"``, ``"band:LOW:HIGH"`` or ``"indicator:LOW:HIGH"``, each with an optional
        ``":TRANSITION"``, ``"heat:SCALE"``, ``"mexican:SCALE"``, ``"tikhonov:STRENGTH"`` with an optional
        ``":POWER"``, ``"gaussian:CENTER:WIDTH"``. Frequencies are absolute; one with an "r" behind it is relative to
        ``lmax``: ``"low:0.1r"`` is a tenth of the spectrum, ``"heat:3r"`` is :math:`e^{-3\lambda/\lambda_{max}}`.
    lmax : float, optional
        What relative numbers refer to.

    Examples
    --------
    >>> from cayleygsp import design
    >>> design.parse_target("low:0.5")
    LowPass(cutoff=0.5, transition=None)
    >>> design.parse_target("band:0.25r:0.5r", lmax=8.0)
    BandPass(low=2.0, high=4.0, transition=None)
    """
    if not isinstance(text, str):
        raise TypeError(f"`text` must be a string such as 'low:0.5', got {type(text).__name__}")
    name, *words = text.strip().split(":")
    if name not in _ALL_NAMES:
        raise ValueError(f"`text` must start with one of {', '.join(_SHORT_NAMES)}, got {text!r}")
    kind: Any = _ALL_NAMES[name]
    known = [field.name for field in fields(kind)]
    needed = [field.name for field in fields(kind) if field.default is MISSING]
    if not len(needed) <= len(words) <= len(known):
        form = ":".join([name, *(p.upper() for p in needed)])
        raise ValueError(f"`text` must have the form {form!r}, got {text!r}")
    return kind(**{p: _read_number(word, text, p, lmax) for p, word in zip(known, words, strict=False)})


def _read_number(word: str, text: str, parameter: str, lmax: float | None) -> float:
    word = word.strip()
    relative = word.endswith("r")
    try:
        number = float(word.removesuffix("r"))
    except ValueError:
        raise ValueError(f"`text` must have a number for {parameter}, got {word!r} in {text!r}") from None
    if not relative:
        return number
    if parameter in _WITHOUT_UNIT:
        raise ValueError(
            f"`text` must have a plain number for {parameter}, which has no unit, got {word!r} in {text!r}"
        )
    if lmax is None:
        raise ValueError(f"`lmax` must be given to read the relative {parameter} in {text!r}")
    unit = check_positive(lmax, "lmax")
    return number / unit if parameter in _INVERSE else number * unit


class SmoothPiece(NamedTuple):
    """An interval of frequencies, its ends included, on which a target is smooth; its value if it is constant there."""

    low: float
    high: float
    value: float | None = None


class Target:
    """What a fit aims at: a response, or the sharp steps that it stands for, and where any value will do.

    Its distance from a fit can be proved if the response knows its jumps or its slopes (``is_known``).
    """

    def __init__(self, response: Response) -> None:
        self.response, self.jumps, self.features = response, response.jumps, response.features
        self._half = (response.transition or 0.0) / 2
        self._first_value = float(bool(self.jumps) and self.jumps[0][1] < 0)
        at_zero = np.zeros(1)
        self.is_known = bool(self.jumps) or response.slopes(at_zero, at_zero, at_zero) is not None

    def __repr__(self) -> str:
        return f"Target({self.response!r})"

    def __call__(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the value at the given frequencies, in their shape; a ramp leads across a transition."""
        if not self.jumps:
            return self.response(eigenvalues)
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        values = np.full(lam.shape, self._first_value)
        for place, way in self.jumps:
            if self._half:
                values += way * np.clip((lam - place) / (2 * self._half) + 0.5, 0.0, 1.0)
            else:  # what passes holds its ends
                values += way * (lam >= place if way > 0 else lam > place)
        return values

    def weight(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return 0 inside transition bands, where any value will do, and 1 elsewhere."""
        lam = check_eigenvalues(eigenvalues)
        free = [np.abs(lam - place) < self._half for place, _ in self.jumps]
        return 1.0 - np.any(free, axis=0) if free else np.ones(lam.shape)

    def pieces(self, lmax: float) -> list[SmoothPiece]:
        """Return intervals that cover [0, lmax] but for transition bands, smooth on each; none if unknown."""
        if not self.jumps:
            return [SmoothPiece(0.0, lmax)] if self.is_known else []
        pieces, low, value = [], 0.0, self._first_value
        for place, way in (*self.jumps, (np.inf, 0)):
            pieces.append(SmoothPiece(low, min(place - self._half, lmax), value))
            low, value = place + self._half, value + way
        # a piece of one frequency is one if it has the value: a sharp step has one of two at its cutoff
        return [p for p in pieces if p.low < p.high or (p.low == p.high and self(p.low) == p.value)]


def as_target(target: Kernel | str | Target, lmax: float) -> Target:
    """Return what a fit aims at for a text, a response or a function of frequency."""
    if isinstance(target, Target):
        return target
    if isinstance(target, str):
        return Target(parse_target(target, lmax if lmax > 0 else None))
    if not callable(target):
        raise TypeError(f"`target` must be callable on frequencies or a text, got {type(target).__name__}")
    return Target(as_response(target))
