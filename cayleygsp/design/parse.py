"""Targets by name and from short texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from cayleygsp._typing import Kernel
from cayleygsp._validation import check_positive
from cayleygsp.design.smoothing import Gaussian, Tikhonov
from cayleygsp.design.targets import BandPass, Heat, HighPass, Indicator, LowPass, MexicanHat, Target

_TARGETS: dict[str, type[Target]] = {
    kind.name: kind for kind in (LowPass, HighPass, BandPass, Heat, MexicanHat, Indicator, Tikhonov, Gaussian)
}

_SHORT_NAMES = {name.partition("-")[0]: name for name in _TARGETS}
_OTHER_NAMES = _SHORT_NAMES | {name.replace("-", ""): name for name in _TARGETS}

# Parameters that are one over a frequency, and those without a unit.
_INVERSE = ("scale", "strength")
_WITHOUT_UNIT = ("power",)


def make_target(name: str, **parameters: float) -> Target:
    """Return a target by its name.

    Parameters
    ----------
    name : {"low-pass", "high-pass", "band-pass", "heat", "mexican-hat", "indicator", "tikhonov", "gaussian"}
        The first word alone will do.
    **parameters
        Those of :class:`LowPass`, :class:`HighPass`, :class:`BandPass`, :class:`Heat`, :class:`MexicanHat`,
        :class:`Indicator`, :class:`Tikhonov`, :class:`Gaussian`.

    Examples
    --------
    >>> from cayleygsp import design
    >>> design.make_target("band-pass", low=0.2, high=0.4)
    BandPass(low=0.2, high=0.4, transition=0.0)
    """
    if not isinstance(name, str) or _OTHER_NAMES.get(name, name) not in _TARGETS:
        raise ValueError(f"`name` must be one of {', '.join(map(repr, _TARGETS))}, got {name!r}")
    kind = _TARGETS[_OTHER_NAMES.get(name, name)]
    known = _parameters_of(kind)
    if not set(parameters) <= set(known):
        raise TypeError(f"`parameters` of {kind.name!r} must be among {', '.join(known)}, got {', '.join(parameters)}")
    missing = [p for p in _needed(kind) if p not in parameters]
    if missing:
        raise TypeError(f"`parameters` of {kind.name!r} must include {', '.join(missing)}")
    return kind(**parameters)


def parse_target(text: str, lmax: float | None = None) -> Target:
    r"""Return the target that a short text describes, as on the command line: a name and parameters between colons.

    Parameters
    ----------
    text : str
        ``"low:CUTOFF"``, ``"high:CUTOFF"``, ``"band:LOW:HIGH"``, each with an optional ``":TRANSITION"``,
        ``"indicator:LOW:HIGH"``, ``"heat:SCALE"``, ``"mexican:SCALE"``, ``"tikhonov:STRENGTH"`` with an optional
        ``":POWER"``, ``"gaussian:CENTER:WIDTH"``. Frequencies are absolute; one with an "r" behind it is relative to
        ``lmax``: ``"low:0.1r"`` is a tenth of the spectrum, ``"heat:3r"`` is :math:`e^{-3\lambda/\lambda_{max}}`.
    lmax : float, optional
        What relative numbers refer to.

    Examples
    --------
    >>> from cayleygsp import design
    >>> design.parse_target("low:0.5")
    LowPass(cutoff=0.5, transition=0.0)
    >>> design.parse_target("band:0.25r:0.5r", lmax=8.0)
    BandPass(low=2.0, high=4.0, transition=0.0)
    """
    if not isinstance(text, str):
        raise TypeError(f"`text` must be a string such as 'low:0.5', got {type(text).__name__}")
    name, *words = text.strip().split(":")
    if _OTHER_NAMES.get(name, name) not in _TARGETS:
        raise ValueError(f"`text` must start with one of {', '.join(_SHORT_NAMES)}, got {text!r}")
    kind = _TARGETS[_OTHER_NAMES.get(name, name)]
    known, needed = _parameters_of(kind), _needed(kind)
    if not len(needed) <= len(words) <= len(known):
        form = ":".join([name, *(p.upper() for p in needed)])
        raise ValueError(f"`text` must have the form {form!r}, got {text!r}")
    numbers = {p: _read_number(word, text, p, lmax) for p, word in zip(known, words, strict=False)}
    return make_target(name, **numbers)


def _parameters_of(kind: type[Target]) -> list[str]:
    return [field.name for field in fields(kind)]  # type: ignore[arg-type]


def _needed(kind: type[Target]) -> list[str]:
    """Return the parameters that have no default."""
    return [field.name for field in fields(kind) if field.default is MISSING]  # type: ignore[arg-type]


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


def as_target(target: Kernel | str, lmax: float) -> Callable[..., Any]:
    """Return a target as a function whose values are checked; a text is parsed.

    Examples
    --------
    >>> from cayleygsp.design import as_target
    >>> as_target("low:0.5", lmax=4.0)
    LowPass(cutoff=0.5, transition=0.0)
    """
    if isinstance(target, str):
        return parse_target(target, lmax if lmax > 0 else None)
    if not callable(target):
        raise TypeError(f"`target` must be callable on frequencies or a text, got {type(target).__name__}")
    return target
