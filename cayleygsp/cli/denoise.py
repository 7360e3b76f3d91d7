"""The command ``denoise``."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import numpy as np
import typer

from cayleygsp._format import counted
from cayleygsp.cli.errors import BadInput
from cayleygsp.cli.inputs import graph_line, need_edges
from cayleygsp.cli.options import GraphOptions, OutputOptions
from cayleygsp.cli.polynomial import check_positive_option
from cayleygsp.cli.task_frame import TaskOptions, finish_task, listed, load_task, pictures, task_results, timed
from cayleygsp.tasks import Denoised, denoise
from cayleygsp.tasks.selection import NEED_SIGMA


class FamilyName(str, Enum):
    """A named family of filters."""

    tikhonov = "tikhonov"
    heat = "heat"
    low = "low"


class Selector(str, Enum):
    """How a strength is chosen."""

    gcv = "gcv"
    sure = "sure"
    discrepancy = "discrepancy"
    morozov = "morozov"


def denoise_command(
    graph: GraphOptions,
    signal: TaskOptions,
    outputs: OutputOptions,
    family: Annotated[
        FamilyName,
        typer.Option(
            "--family",
            metavar="FAMILY",
            help="Filters by their strength s: tikhonov 1/(1+sλ), heat exp(-sλ), low a smooth step down at 1/s.",
        ),
    ] = FamilyName.tikhonov,
    select: Annotated[
        Selector,
        typer.Option(
            "--select",
            metavar="RULE",
            help="How the strength is chosen: gcv (cross-validation, needs no --sigma), sure (least estimated error), "
            "discrepancy (the largest at which noise still explains the residual), morozov (Morozov's discrepancy "
            "principle; smooths more).",
        ),
    ] = Selector.gcv,
    strength: Annotated[
        list[float],
        typer.Option("--strength", help="A strength to compare; can be given several times. Default: a wide range."),
    ] = [],  # noqa: B006
    sigma: Annotated[
        float | None,
        typer.Option("--sigma", help="Standard deviation of the noise, for all rules but gcv. Default: estimated."),
    ] = None,
    shared: Annotated[bool, typer.Option("--shared", help="One strength for all signals, not one for each.")] = False,
    tol: Annotated[float, typer.Option("--tol", help="Allowed error of the filter, relative to its gain.")] = 1e-6,
) -> None:
    """Remove noise from a signal, with a strength that is chosen from the signal itself.

    Many strengths are compared in one pass, and the chosen filter is applied with a certified error. The best family
    depends on the signal: tikhonov keeps some of every frequency, low cuts sharply. gcv needs no noise level; sure and
    discrepancy are steadier if --sigma is known. --figure draws the signal before and after, and the curve that the
    strength was chosen by.
    """
    results = task_results(outputs, signal)
    check_positive_option(tol, "--tol")
    check_positive_option(sigma, "--sigma")
    if sigma is not None and select.value not in NEED_SIGMA:
        raise BadInput(f"--sigma is used by --select {' and '.join(NEED_SIGMA)} only, not by {select.value}")
    for s in strength:
        check_positive_option(s, "--strength")
    with results.progress(3) as step:
        step("graph")
        G, L, y = load_task(graph, signal)
        need_edges(L, "denoising")
        step("denoise")
        given: dict[str, Any] = {"strengths": strength or None, "sigma": sigma, "shared": shared, "rng": graph.seed}
        done, seconds, messages = timed(lambda: denoise(L, y, family.value, select.value, **given, tol=tol))
        step("files")
        results.write(lambda ending: pictures().denoised_figure(G, y, done) if ending == ".png" else done.signals)
    results.show(_numbers(done, seconds), {"graph": graph_line(G.name, L)} | _facts(done, seconds))
    if done.at_end:
        messages.append("the chosen strength is the first or last of those compared: the best may lie beyond")
    finish_task(done.converged, messages)


def _numbers(done: Denoised, seconds: float) -> dict[str, Any]:
    chosen = listed(done, "family", "select", "strength", "at_end", "sigma", "sigma_estimated")
    curve = listed(done, "strengths", "curve", "curve_error", "certificate", "converged")
    return (
        chosen
        | curve
        | {
            "traces": done.traces.values.tolist(),
            "trace_standard_errors": done.traces.standard_errors.tolist(),
            "traces_exact": done.traces.exact,
            "method": done.infos[0].method,
            "error_bound": np.max(done.error_bound).item(),
            "seconds": seconds,
        }
    )


def _facts(done: Denoised, seconds: float) -> dict[str, str]:
    lines = done.summary().splitlines()
    names = ["strength", "traces", *(["noise"] if done.sigma is not None else []), "error bound"]
    facts = dict(zip(names, lines, strict=True))
    facts["traces"] = facts["traces"].removeprefix("traces ")
    n_signals = 1 if done.signals.ndim == 1 else done.signals.shape[1]
    return {"signals": f"{counted(n_signals, 'signal')}, {seconds:.3g} s", **facts}
