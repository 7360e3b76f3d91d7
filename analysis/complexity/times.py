"""Times of all models, by order and by size."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

import cayleygsp as cg
from analysis import _timing
from analysis._document import Document
from analysis._networks import CHEBNET, N_COMMUNITIES, ORDERS
from analysis._script import Step
from analysis.complexity.models import Network, make_graph
from analysis.complexity.paper import PAPER
from analysis.complexity.settings import KINDS, LARGEST, MODELS, SIZE_ORDER
from cayleygsp.nn import GraphLaplacian


def calls_of(model: str, order: int, L: GraphLaplacian, batch: int, seed: int) -> dict[str, Callable[[], Any]]:
    """Return a forward pass and a training step, both called once before."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(batch, L.n_vertices, 1, generator=generator)
    y = torch.randint(N_COMMUNITIES, (batch,), generator=generator)
    # two networks: one that is not trained keeps its zoom, and with it what its layer remembers
    trained, network = (Network(model, order, L) for _ in range(2))
    optimizer = torch.optim.Adam(network.parameters())

    def test() -> None:
        with torch.no_grad():
            trained(x)

    def training() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()

    test()
    training()
    return {"test": test, "training": training}


def point(models: Sequence[str], order: int, n: int, batch: int, args: argparse.Namespace) -> list[Document]:
    """Time all models at one order and size, in turns."""
    laplacian = cg.laplacian(make_graph(n, args.seed))
    L = GraphLaplacian.from_laplacian(laplacian.with_lmax(laplacian.lanczos_bound().upper), dtype=torch.float32)
    calls: dict[str, Callable[[], Any]] = {}
    for model in models:
        calls |= {f"{model}/{kind}": call for kind, call in calls_of(model, order, L, batch, args.seed).items()}
    samples = _timing.interleave(calls, args.repeats, budget=args.budget, shortest=0.0)
    rows = []
    for name, seconds in samples.items():
        model, kind = name.split("/")
        spread = {"mean": statistics.fmean(seconds), "sd": statistics.pstdev(seconds), "n": len(seconds)}
        rows.append({"model": model, "kind": kind, "order": order, "n_vertices": n, "batch": batch, "seconds": spread})
    return rows


def with_ratios(rows: Sequence[Document], *, paper: bool) -> list[Document]:
    """Add ratios to ChebNet at the same order, size and kind, and the paper's if asked for."""
    base = {
        (row["kind"], row["order"], row["n_vertices"]): row["seconds"]["mean"]
        for row in rows
        if row["model"] == CHEBNET
    }
    out = []
    for row in rows:
        ratio = row["seconds"]["mean"] / base[row["kind"], row["order"], row["n_vertices"]]
        theirs = PAPER[row["kind"]].get(row["model"]) if paper else None
        known = None
        if theirs is not None and row["order"] in ORDERS:
            k = ORDERS.index(row["order"])
            known = theirs[k] / PAPER[row["kind"]][CHEBNET][k]
        out.append({**row, "ratio": ratio, "paper_ratio": known})
    return out


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Time everything: orders at one size, then sizes at one order."""
    by_order, by_size = [], []
    for order in args.orders:
        step(f"order {order}")
        by_order += point(MODELS, order, args.order_vertices, args.batch, args)
    for n in args.sizes:
        step(f"{n:,} vertices")
        models = [model for model in MODELS if n <= LARGEST.get(model, n)]
        by_size += point(models, SIZE_ORDER, n, args.size_batch, args)
    return {
        "torch": f"{torch.__version__}, {torch.get_num_threads()} threads",
        "repeats": args.repeats,
        "by_order": with_ratios(by_order, paper=True),
        "by_size": with_ratios(by_size, paper=False),
        "exponents": [exponent(by_size, model, kind) for kind in KINDS for model in MODELS],
    }


def exponent(rows: Sequence[Document], model: str, kind: str) -> Document:
    """Return the slope of log time over log size over the larger half of the sizes that a model was timed at."""
    same = [row for row in rows if row["model"] == model and row["kind"] == kind]
    same = same[-max(len(same) // 2 + 1, 2) :]
    n, seconds = [row["n_vertices"] for row in same], [row["seconds"]["mean"] for row in same]
    slope = _timing.fit_exponent(n, seconds) if len(same) > 1 else None
    return {"model": model, "kind": kind, "exponent": slope}
