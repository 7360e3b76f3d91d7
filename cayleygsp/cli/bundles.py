"""Options that several commands have in common, declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_type_hints


def flatten(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command in which every parameter that is a dataclass is replaced by the fields of that class.

    Parameters
    ----------
    command : callable
        With annotated parameters, as typer wants them; those of a dataclass stand for several options.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import inspect
    >>> from cayleygsp.cli.bundles import flatten
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 3
    ...     height: int = 4
    >>> def area(unit: str, size: Size) -> None:
    ...     print(size.width * size.height, unit)
    >>> list(inspect.signature(flatten(area)).parameters)
    ['unit', 'width', 'height']
    >>> flatten(area)(unit="cm", width=2, height=5)
    10 cm
    """
    # get_type_hints would hide, on Python 3.10, what an option with the default None is annotated with
    hints = inspect.get_annotations(command, eval_str=True)
    bundles: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in bundles:
            parameters += _parameters(bundles[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def call(**given: Any) -> None:
        bundled = {
            name: bundle(**{field.name: given.pop(field.name) for field in fields(bundle)})
            for name, bundle in bundles.items()
        }
        command(**bundled, **given)

    del call.__wrapped__
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _parameters(bundle: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=_default(field), annotation=hints[field.name]
        )
        for field in fields(bundle)
    ]


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is MISSING else field.default
