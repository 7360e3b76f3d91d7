"""The learned responses and zooms of the CayleyNets of both tables, over the spectral density of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis._figures import plain_axes
from analysis._script import Blocks, Document, Table
from analysis.cora.data import core_laplacian, load_graph
from analysis.cora.settings import CAYLEY, CAYLEY16, EXTENDED, NAMES, NORMALIZED, STANDARD
from cayleygsp._typing import FloatArray, LaplacianKind
from cayleygsp.density import spectral_density
from cayleygsp.responses.basis import power_basis

SHOWN = ((CAYLEY16, STANDARD), (CAYLEY, EXTENDED))

_COLORS = ("#0072B2", "#D55E00")

_KINDS: tuple[LaplacianKind, ...] = ("normalized", "combinatorial")


def collect(dataset: str, data: Path | None, results: Sequence[Document]) -> Document:
    """Return what was learned, run by run, and the spectral densities of the two Laplacians."""
    graph = load_graph(dataset, data)
    densities = {}
    for kind in _KINDS:
        L = core_laplacian(graph, kind)
        density = spectral_density(L, rng=0)
        lam = frequencies(kind, L.lmax)
        densities[kind] = {"frequencies": lam.tolist(), "cdf": density.cdf(lam).tolist(), "lmax": L.lmax}
    learned = [
        {"split": r["split"], "model": r["setting"]["model"], "seed": r["seed"], **r["numbers"]["responses"]}
        | {"zooms": r["numbers"]["zooms"]}
        for r in results
    ]
    return {"densities": densities, "learned": learned}


def frequencies(kind: str, lmax: float) -> FloatArray:
    """Return frequencies to draw at: evenly spaced, or logarithmically for a long spectrum."""
    return np.linspace(0, 2, 201) if kind == NORMALIZED else np.geomspace(1e-2, lmax, 201)


def responses_at(coefficients: FloatArray, zoom: float, lam: FloatArray, order: int) -> FloatArray:
    """Return responses of filters with coefficients of shape (k, ...) at frequencies."""
    real = len(coefficients) == order + 1
    return np.tensordot(power_basis(order, zoom * lam, real=real), coefficients, 1)


def table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the zooms: mean and deviation over the runs, by layer."""
    rows = []
    for model, split in SHOWN:
        same = [one for one in document["learned"] if (one["model"], one["split"]) == (model, split)]
        for layer, zooms in enumerate(zip(*(one["zooms"] for one in same), strict=True)):
            values = f"{np.mean(zooms):.4g} ± {np.std(zooms):.2g}"
            span = f"{min(zooms):.4g} to {max(zooms):.4g}"
            rows.append([NAMES[model], split, str(layer + 1), str(len(zooms)), f"{same[0]['zoom']:.4g}", values, span])
    return ["network", "split", "layer", "runs", "zoom at the start", "learned zoom h", "least to most"], rows


def page(document: Document) -> Blocks:
    """Return the title, what the picture shows, and the zooms."""
    return [
        "Citation network: what the CayleyNets learned",
        "Zooms are those of the Laplacian itself, not of the scaled one. In the picture, left: the shared filter of "
        "each layer on the standard split, over its largest value, one curve per run. Right: of the filters of every "
        "pair of channels on the extended split, the root of the mean square of each layer, over its largest value. "
        "Behind them the shares of the eigenvalues in small intervals, an estimate, over the largest.",
        Table("Learned zooms", *table(document)),
    ]


def draw(document: Document) -> Figure:
    """Draw the responses of both networks over the densities of their Laplacians."""
    figure = Figure(figsize=(11, 4), layout="constrained")
    for ax, (model, split) in zip(figure.subplots(1, 2), SHOWN, strict=True):
        same = [one for one in document["learned"] if (one["model"], one["split"]) == (model, split)]
        kind = same[0]["kind"] if same else NORMALIZED
        _draw_density(ax, document["densities"][kind], kind)
        for one in same:
            for layer, values in enumerate(one["curves"]):
                g = np.array(values)
                mean = np.mean([other["zooms"][layer] for other in same])
                label = f"layer {layer + 1}, zoom {mean:.3g} (mean)" if one is same[0] else None
                peak = np.abs(g).max() or 1.0
                ax.plot(one["frequencies"], g / peak, color=_COLORS[layer % 2], alpha=0.6, linewidth=1, label=label)
        ax.set(xlabel=f"eigenvalue of the {kind} Laplacian", title=f"{NAMES[model]}, {split} split")
        ax.title.set_fontsize("small")
        plain_axes(ax)
        where = "upper right" if kind == NORMALIZED else "center left"  # where nothing is
        ax.legend(fontsize="small", loc=where, framealpha=0.9, edgecolor="none")
    figure.axes[0].set_ylabel("response over its largest value")
    return figure


def _draw_density(ax: Axes, density: Document, kind: str) -> None:
    """Draw the share of the eigenvalues in each of many intervals, which on a logarithmic axis have no zero."""
    lam, cdf = np.array(density["frequencies"]), np.array(density["cdf"])
    share, label = np.diff(cdf), "share of the eigenvalues"
    if kind == NORMALIZED:
        share[0] += cdf[0]
    else:
        ax.set_xscale("log")
        label += f"\n({100 * cdf[0]:.1f} % further left)"
    ax.stairs(share / share.max(), lam, fill=True, color="0.85", label=label, zorder=0)
