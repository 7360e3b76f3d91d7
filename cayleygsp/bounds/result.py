"""An error bound, and what it supposes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

BoundKind: TypeAlias = Literal["sharp", "safe", "paper"]

BOUND_KINDS: tuple[BoundKind, ...] = ("sharp", "safe", "paper")


@dataclass(frozen=True)
class Assumption:
    """Something that a bound supposes, or a case that it distinguishes.

    Attributes
    ----------
    name : str
        In a few words.
    holds : bool
        Whether it is so on this graph, for this response.
    text : str
        What follows.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> bound = cg.bounds.jacobi_bound(cg.gallery.ring(16), cg.CayleyPolynomial([0.0, 0.0, 1.0], zoom=0.5), 2, "paper")
    >>> [(assumption.name, assumption.holds) for assumption in bound.assumptions][:2]
    [('regular graph', True), ('κ < 1 (diagonal dominance)', True)]
    """

    name: str
    holds: bool
    text: str


@dataclass(frozen=True)
class Bound:
    r"""A bound of the error :math:`\|Gf - \tilde Gf\|_2 / \|f\|_2`, with its assumptions; ``valid`` if it is proved.

    Attributes
    ----------
    value : float
        The number; infinite where nothing can be said.
    kind : {"sharp", "safe", "paper", "series"}
        Which bound it is.
    valid : bool
        Whether the number is proved to be no smaller than the error, here. For "paper" that is so if its proof is
        complete (r = 1) or if a proved bound is no larger.
    assumptions : tuple of Assumption
        What was looked at.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> bound = cg.bounds.jacobi_bound(cg.gallery.ring(16), cg.CayleyPolynomial([0.5, -0.25], zoom=0.5), n_iter=10)
    >>> bound.kind, bound.valid, float(bound) == bound.value
    ('sharp', True, True)
    """

    value: float
    kind: str
    valid: bool
    assumptions: tuple[Assumption, ...]

    def __float__(self) -> float:
        return self.value
