"""Does a plain optimiser find a filter and its zoom? Random teachers, learned by Adam, of which only rates are set.

Run ``python -m analysis.teacher``. A teacher is a Cayley filter with normal coefficients, scaled to a mean square of 1
over the spectrum. A layer with one output channel and one zoom per teacher learns from the outputs for 16 random
signals. By Parseval the mean square error over signals and vertices is a sum over frequencies; that sum is what is
minimised, so that all teachers of a line are learned at once, each on its own.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis._figures import legend_below, new_axes
from analysis._script import Blocks, Document, Script, Step, bullets, table_of
from cayleygsp._typing import FloatArray
from cayleygsp.plotting import COLORS
from cayleygsp.responses.basis import power_basis

ORDERS, TEACHERS, SIGNALS, RATE, STEPS = (2, 4, 8), 32, 16, 0.01, 2000
START = 1.0
ZOOMS = {"5": (5.0, 5.0), "0.5 to 20": (0.5, 20.0)}
WAYS = {
    "coefficients": "the coefficients c themselves, started with the variance of the inputs",
    "default": "the weights of CayleyConv as it comes",
    "adapted": "the weights of CayleyConv after adapt_to(graph)",
    "groups": "the same, by Adam with its default rate and the steps of log h from parameter_groups(layer)",
}
COLUMNS = {
    "graph": "{graph}",
    "order": "{order}",
    "zooms of the teachers": "{zooms}",
    "learned": "{way}",
    "response within 1 %": "{responses}",
    "zoom within 10 %": "{zooms_found}",
    "median error": "{median:.1e}",
}


def spectra(seed: int) -> dict[str, cg.Laplacian]:
    """Return the graphs."""
    return {
        "sensor": cg.laplacian(cg.gallery.sensor(120, rng=seed), "normalized"),
        "communities": cg.laplacian(cg.gallery.communities(5, rng=seed), "normalized"),
    }


def make_teachers(
    lam: FloatArray, order: int, zooms: tuple[float, float], count: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return zooms and responses at the eigenvalues, shape (n, count)."""
    h = np.exp(rng.uniform(np.log(zooms[0]), np.log(zooms[1]), count))
    c = rng.standard_normal((count, 2 * order + 1))
    responses = np.stack([power_basis(order, h[k] * lam) @ c[k] for k in range(count)], axis=1)
    return h, responses / np.sqrt((responses**2).mean(axis=0))


def make_student(way: str, order: int, count: int, L: cg.Laplacian, seed: int) -> tuple[Any, list[Any], Any]:
    """Return log h, what is learned in groups for an optimiser, and a function that gives the coefficients."""
    import torch

    from cayleygsp.nn import CayleyConv, parameter_groups

    generator = torch.Generator().manual_seed(seed)
    layer = CayleyConv(1, count, order, zoom=START, zoom_per_channel=True, bias=False).double()
    if way in ("adapted", "groups"):
        layer.adapt_to(L)
    layer.reset_parameters(generator)
    if way == "coefficients":
        limit = np.sqrt(3 / (1 + 4 * order))
        c = torch.empty_like(layer.weight).uniform_(-limit, limit, generator=generator).requires_grad_()
        return layer.log_zoom, [{"params": [layer.log_zoom, c], "lr": RATE}], lambda: c
    groups = parameter_groups(layer) if way == "groups" else [{"params": list(layer.parameters()), "lr": RATE}]
    return layer.log_zoom, groups, layer.coefficients


def learn(
    way: str, order: int, L: cg.Laplacian, teachers: tuple[FloatArray, FloatArray], seed: int, n_steps: int
) -> Any:
    """Learn all teachers; return errors of the responses and learned zooms."""
    import torch

    from cayleygsp.nn.ops.series import basis_at

    rng = np.random.default_rng([seed, 1])
    lam = torch.from_numpy(np.maximum(L.eigenvalues, 0.0))
    target = torch.from_numpy(teachers[1])
    strength = torch.from_numpy((rng.standard_normal((lam.numel(), SIGNALS)) ** 2).mean(axis=1))
    log_zoom, groups, coefficients = make_student(way, order, target.shape[1], L, seed)
    optimizer = torch.optim.Adam(groups)
    for _ in range(n_steps):
        optimizer.zero_grad()
        basis = basis_at((log_zoom.exp()[:, None] * lam).flatten(), order, False).unflatten(0, (-1, lam.numel()))
        distance = torch.einsum("onk,ko->no", basis, coefficients()[:, 0]) - target
        (strength[:, None] * distance**2).mean(dim=0).sum().backward()
        optimizer.step()
    errors = distance.detach().square().mean(dim=0).sqrt().numpy()
    return errors, log_zoom.detach().exp().numpy()


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Learn on all graphs, at all orders, in all ways."""
    count, n_steps, orders = (4, 15, (2,)) if args.quick else (TEACHERS, STEPS, ORDERS)
    rows = []
    for graph, L in spectra(args.seed).items():
        for order in orders:
            step(f"{graph}, order {order}")
            for name, zooms in ZOOMS.items():
                teachers = make_teachers(L.eigenvalues, order, zooms, count, np.random.default_rng([args.seed, order]))
                for way in WAYS:
                    errors, zooms_learned = learn(way, order, L, teachers, args.seed, n_steps)
                    rows.append(
                        {
                            "graph": graph,
                            "order": order,
                            "zooms": name,
                            "way": way,
                            "responses": int((errors <= 0.01).sum()),
                            "zooms_found": int((np.abs(np.log(zooms_learned / teachers[0])) <= np.log(1.1)).sum()),
                            "median": float(np.median(errors)),
                        }
                    )
    return {"rows": rows, "teachers": count, "steps": n_steps, "rate": RATE, "start": START}


def conclusions(document: Document) -> list[str]:
    """Say the counts of each way up to order 4, for each range of zooms."""
    lines = []
    for zooms in ZOOMS:
        for way in WAYS:
            rows = [r for r in document["rows"] if (r["way"], r["zooms"]) == (way, zooms) and r["order"] <= 4]
            responses, n_zooms = ([row[key] for row in rows] for key in ("responses", "zooms_found"))
            lines.append(
                f"{way}, teachers with zoom {zooms}, orders up to 4: the response is found in {min(responses)} to "
                f"{max(responses)} of {document['teachers']} cases, the zoom in {min(n_zooms)} to {max(n_zooms)}"
            )
    return lines


def page(document: Document) -> Blocks:
    """Return the title, how teachers are learned, what was found, and the table."""
    return [
        "Teachers: does Adam find a filter and its zoom?",
        f"{document['teachers']} random Cayley filters for each line, learned from zoom {document['start']:g} by Adam "
        f"with a rate of {document['rate']:g} in {document['steps']} steps, unless said otherwise (at a rate of 0.001, "
        f"which it has by default, log h moves by no more than about {0.001 * document['steps']:g} in that time). "
        "The error is the root mean square over the "
        "spectrum, where the teacher's is 1. Where the spectrum is narrow and the order high, filters with quite "
        "another zoom have nearly the same response: then the response is found and the zoom is not. The constants of "
        "the coordinates and of the groups were chosen on teachers drawn in the same way, with other numbers.",
        bullets(f"{name}: {text}" for name, text in WAYS.items()),
        conclusions(document),
        table_of("teachers found", COLUMNS, document["rows"]),
    ]


def draw(document: Document) -> Figure:
    """Draw how many responses are found, one panel per graph and range of zooms."""
    rows = document["rows"]
    panels = list(dict.fromkeys((row["graph"], row["zooms"]) for row in rows))
    figure, axes = new_axes((10, 3), 1, len(panels), sharey=True)
    for ax, panel in zip(axes, panels, strict=True):
        for k, way in enumerate(WAYS):
            own = [row for row in rows if (row["graph"], row["zooms"], row["way"]) == (*panel, way)]
            x = np.arange(len(own)) + 0.21 * (k - 1.5)
            ax.bar(x, [row["responses"] for row in own], 0.19, color=COLORS[k], label=way)
            ax.set_xticks(range(len(own)), [f"r = {row['order']}" for row in own])
        ax.set_title(f"{panel[0]}, h = {panel[1]}", fontsize="small")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set(ylabel="responses found", ylim=(0, document["teachers"]))
    legend_below(figure)
    return figure


SCRIPT = Script("teacher", __doc__, measure, page, draw, steps=lambda args: 2 * (1 if args.quick else len(ORDERS)))
main, markdown = SCRIPT.main, SCRIPT.markdown


if __name__ == "__main__":
    raise SystemExit(main())
