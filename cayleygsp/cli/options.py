"""Arguments and options that several commands have."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

# The order of a fit where none is asked for.
DEFAULT_ORDER = 8


# Sweeps times order that bounds are computed for: the series is looked at in every degree up to that.
MOST_SWEEPS = 1_000_000


class Kind(str, Enum):
    """Which Laplacian."""

    combinatorial = "combinatorial"
    normalized = "normalized"


GraphArgument = Annotated[str, typer.Argument(metavar="GRAPH", help="A file, or a built-in graph such as @minnesota.")]


Outputs = Annotated[
    list[Path], typer.Option("--output", "-o", help="File to write; the ending tells what. Can be given several times.")
]


KindOption = Annotated[Kind, typer.Option("--laplacian", help="Which Laplacian.")]


JsonOption = Annotated[bool, typer.Option("--json", help="Print numbers as JSON, and nothing else.")]


ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]


SeedOption = Annotated[int, typer.Option("--seed", "--rng", min=0, help="Seed of everything that is random.")]


VariableOption = Annotated[str | None, typer.Option("--variable", help="Which variable of a .mat file.")]


ZoomOption = Annotated[float | None, typer.Option("--zoom", help="The spectral zoom h > 0.")]


OrderOption = Annotated[int | None, typer.Option("--order", min=1, help="Order r of the Cayley polynomial.")]


CoeffsOption = Annotated[
    str | None,
    typer.Option("--coeffs", help="Coefficients: '0.5,-0.25,0.1+0.2j', or a file .json .npy .csv .txt."),
]


TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="What to fit: low:CUTOFF, high:CUTOFF, band:LOW:HIGH, heat:SCALE, mexican:SCALE, indicator:LOW:HIGH; "
        "the first three with an optional :TRANSITION. A number with an r behind it is relative to the bound of the "
        "spectrum.",
    ),
]
