"""All commands, in the order in which the help lists them."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import typer

from cayleygsp.cli.bound import bound_command
from cayleygsp.cli.bundles import flatten
from cayleygsp.cli.decay import decay_command
from cayleygsp.cli.denoise import denoise_command
from cayleygsp.cli.design import design_command
from cayleygsp.cli.explore import explore_command
from cayleygsp.cli.features import features_command
from cayleygsp.cli.filter import filter_command
from cayleygsp.cli.info import info_command
from cayleygsp.cli.inpaint import inpaint_command
from cayleygsp.cli.report import report_command
from cayleygsp.cli.zoom import zoom_command


def register(app: typer.Typer) -> None:
    """Add all commands."""
    add: dict[str, tuple[Callable[..., None], str]] = {
        "info": (info_command, "info roads.mtx -o density.png"),
        "zoom": (zoom_command, "zoom @minnesota --zoom 0.1 --zoom 1 --zoom 10 -o circles.png"),
        "filter": (
            filter_command,
            "filter roads.mtx speeds.csv --pass low:0.5 --tol 1e-6 -o smooth.csv",
        ),
        "denoise": (
            denoise_command,
            "denoise @minnesota noisy.npy --family heat --select gcv -o clean.npy --figure clean.png",
        ),
        "inpaint": (
            inpaint_command,
            "inpaint roads.mtx speeds.csv --strength 0.1 -o all_speeds.csv",
        ),
        "features": (
            features_command,
            "features roads.mtx speeds.csv --bands 4 -o features.npy",
        ),
        "bound": (
            bound_command,
            "bound @communities --zoom 0.1 --order 12 --sweeps 80 -o bounds.png",
        ),
        "decay": (decay_command, "decay @grid:31 --vertex 480 --zoom 1 --order 3 -o decay.png"),
        "design": (
            design_command,
            "design --target low:0.5 --order 4 --lmax 8 -o low.json -o low.png",
        ),
        "explore": (explore_command, "explore @communities -o communities.html"),
        "report": (report_command, "report @minnesota -o minnesota.html"),
    }
    for name, (function, epilog) in add.items():
        app.command(name, help=_paragraphs(function), epilog=f"Example: cayleygsp {epilog}")(flatten(function))


def _paragraphs(function: Callable[..., None]) -> str:
    """Return a docstring whose paragraphs have no line ends of their own, so that a terminal breaks them."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
