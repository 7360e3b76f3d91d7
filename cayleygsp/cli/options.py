"""Arguments and options that several commands have."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cayleygsp.design.fit import MAX_CAYLEY_ORDER

# The order of a fit where none is asked for.
DEFAULT_ORDER = 8

# The largest order of a filter: the time of its bounds and of its localization grows with the order.
MOST_ORDER = 10_000

# Sweeps times order that bounds are computed for: the series is looked at in every degree up to that.
MOST_SWEEPS = 1_000_000


class Kind(str, Enum):
    """Which Laplacian."""

    combinatorial = "combinatorial"
    normalized = "normalized"


class SymmetrizeRule(str, Enum):
    """How a directed graph is made undirected."""

    max = "max"
    mean = "mean"


class MethodName(str, Enum):
    """How a filter is applied."""

    auto = "auto"
    exact = "exact"
    chebyshev = "chebyshev"
    multigrid = "multigrid"
    jacobi = "jacobi"


@dataclass(frozen=True, kw_only=True)
class LaplacianOptions:
    """How a graph is read and which Laplacian is taken."""

    kind: Annotated[Kind, typer.Option("--laplacian", metavar="KIND", help="combinatorial or normalized.")] = (
        Kind.combinatorial
    )
    symmetrize: Annotated[
        SymmetrizeRule | None,
        typer.Option(
            "--symmetrize",
            metavar="RULE",
            help="Make a directed graph undirected: max or mean of the two weights of an edge.",
        ),
    ] = None
    variable: Annotated[str | None, typer.Option("--variable", help="Name of the variable in a .mat file.")] = None
    seed: Annotated[int, typer.Option("--seed", "--rng", min=0, help="Seed of the random numbers.")] = 0


@dataclass(frozen=True, kw_only=True)
class GraphOptions(LaplacianOptions):
    """The graph of a command."""

    graph: Annotated[
        str,
        typer.Argument(metavar="GRAPH", help="A file, - for an edge list on standard input, or a built-in graph."),
    ]


@dataclass(frozen=True, kw_only=True)
class PolynomialOptions:
    """Zoom, order and coefficients of a Cayley polynomial."""

    zoom: Annotated[float | None, typer.Option("--zoom", help="The spectral zoom h > 0.")] = None
    order: Annotated[
        int | None,
        typer.Option(
            "--order",
            min=1,
            help=f"Order r of the Cayley polynomial, at most {MOST_ORDER:,}, and {MAX_CAYLEY_ORDER:,} if it is fitted.",
        ),
    ] = None
    coeffs: Annotated[
        str | None,
        typer.Option("--coeffs", help="Coefficients: '0.5,-0.25,0.1+0.2j', or a file .json .npy .csv .txt."),
    ] = None


# What --target and --pass take.
TARGET_TEXTS = (
    "low:CUTOFF, high:CUTOFF, band:LOW:HIGH, heat:SCALE, mexican:SCALE, tikhonov:STRENGTH, gaussian:CENTER:WIDTH, "
    "indicator:LOW:HIGH; the first three with an optional :TRANSITION, tikhonov with an optional :POWER. A number "
    "followed by r is relative to the upper bound of the spectrum."
)


@dataclass(frozen=True, kw_only=True)
class FilterOptions(PolynomialOptions):
    """Zoom, order and coefficients of a Cayley polynomial, or the target that it is fitted to."""

    target: Annotated[str | None, typer.Option("--target", help=f"Target of the fit: {TARGET_TEXTS}")] = None


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """What is written and printed."""

    output: Annotated[
        list[Path],
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write; the file extension selects the format, - is standard output. Can be given several "
            "times.",
        ),
    ] = field(default_factory=list)
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    json: Annotated[bool, typer.Option("--json", help="Print numbers as JSON, and nothing else.")] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors and what --json or -o - asks for.")
    ] = False
