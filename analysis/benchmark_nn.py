"""Speed and memory of the trainable layers: against the paper's scheme, PyTorch Geometric, and their own sizes.

Run ``python -m analysis.benchmark_nn``. Every row is measured side by side in one process: the same input and weights,
errors against a dense computation in double precision first, then times in turns. The exit code says nothing of the
figures.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from torch import Tensor, nn

import cayleygsp as cg
from analysis import _bench, _results
from analysis._results import Document
from analysis.benchmark_peers import Side, compare, make_row, table_cells
from cayleygsp import gallery
from cayleygsp._typing import Array
from cayleygsp.coarsening import Coarsening, coarsen
from cayleygsp.nn import CayleyConv, ChebConv, GraclusPooling, GraphLaplacian
from cayleygsp.responses.basis import power_coefficients

HEADER = ("work", "ours", "peer", "ratio (spread)", "target", "met", "errors: ours, peer")
ORDER = 12
TERMS = 2 * ORDER + 1
SWEEPS = 11
TOL = 1e-4

# Single precision leaves about this much of the norm, and each basis function may be wrong by `TOL`.
CHEBYSHEV_LIMIT = 1e-5
CAYLEY_LIMIT = 1e-3

# Eleven sweeps are as right as they are; more than this would mean that something else is computed.
JACOBI_LIMIT = 1.0


@dataclass(frozen=True)
class Sizes:
    """How large the problems are."""

    side: int = 28
    batch: int = 100
    features: tuple[int, int] = (32, 64)
    hidden: int = 512
    growth_vertices: int = 1000
    growth_batch: int = 20
    growth_channels: int = 8
    factors: tuple[int, ...] = (1, 2, 4, 8)


QUICK = Sizes(side=8, batch=4, features=(4, 6), hidden=16, growth_vertices=60, growth_batch=2, factors=(1, 2))


# ---------------------------------------------------------------------------------------------- problems


def mnist_tree(sizes: Sizes, seed: int) -> Coarsening:
    """Return the graph of the pixels with its coarsenings: convolutions are on levels 0 and 2."""
    return coarsen(gallery.mnist_grid(sizes.side), levels=4, rng=seed)


def laplacian_of(tree: Coarsening, level: int) -> cg.Laplacian:
    """Return the normalized Laplacian of a level."""
    return cg.laplacian(tree.graphs[level], "normalized")


def signals(seed: int, *shape: int) -> Tensor:
    """Return random numbers in single precision."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def training_step(layer: nn.Module, x: Tensor, *graph: Any) -> Callable[[], Array]:
    """Return a call that runs the layer forwards and backwards and returns its output."""

    def step() -> Array:
        layer.zero_grad()
        x.grad = None
        y = layer(x, *graph)
        y.square().sum().backward()
        return y.detach().numpy()

    return step


def dense_chebyshev(L: cg.Laplacian, weight: Tensor, x: Tensor) -> Array:
    """Return the sum over k of T_k X W_k with a dense matrix in double precision; the spectrum ends at 2."""
    scaled = L.matrix.toarray() - np.eye(L.n_vertices)
    w, t = weight.detach().double().numpy(), x.detach().double().numpy()
    t_old, t = t, np.einsum("ij,bjf->bif", scaled, t, optimize=True)
    y = t_old @ w[0] + t @ w[1]
    for k in range(2, len(w)):
        t_old, t = t, 2 * np.einsum("ij,bjf->bif", scaled, t, optimize=True) - t_old
        y += t @ w[k]
    return y


def relative_error(reference: Array) -> Callable[[Array], float]:
    """Return a function that measures the distance from the reference, relative to its norm."""
    return lambda y: float(np.linalg.norm(y - reference) / np.linalg.norm(reference))


def exact_copy(module: nn.Module) -> nn.Module:
    """Return the same in double precision, with Cayley layers that use the eigenbasis."""
    other = copy.deepcopy(module).double()
    for layer in other.modules():
        if isinstance(layer, CayleyConv):
            layer.method = "exact"
    return other


# ------------------------------------------------------------------------------------------------ memory


def activation_bytes(call: Callable[[], Tensor]) -> int:
    """Return the bytes that are kept for the backward pass."""
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = call()
    assert y.requires_grad
    return sum(kept.values())


def peak_bytes(call: Callable[[], Any]) -> int:
    """Return how far the memory of torch on the CPU rises during a call."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        call()
    events = profile.profiler.kineto_results.events()
    changes = sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]")
    levels = np.cumsum([change for _, change in changes])
    return int(levels.max(initial=0))


# -------------------------------------------------------------------------------------------------- rows


def step_rows(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
    """Compare a training step of the first layer with the paper's Jacobi scheme, in time and memory."""
    step("training step against Jacobi")
    L = cg.laplacian(gallery.mnist_grid(sizes.side), "normalized")
    graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
    x = signals(args.seed, sizes.batch, L.n_vertices, 1)
    ours = CayleyConv(1, sizes.features[0], ORDER, tol=TOL)
    ours.reset_parameters(torch.Generator().manual_seed(args.seed))
    jacobi = CayleyConv(1, sizes.features[0], ORDER, method="jacobi", n_iter=SWEEPS)
    jacobi.load_state_dict(ours.state_dict())
    with torch.no_grad():
        reference = exact_copy(ours)(x.double(), graph).numpy()
    work = f"CayleyConv training step, r={ORDER}, n={L.n_vertices}, batch {sizes.batch}"
    sides = [
        Side(f"ours, tol {TOL:g}", training_step(ours, x, graph), CAYLEY_LIMIT),
        Side(f"the paper's Jacobi, K={SWEEPS}", training_step(jacobi, x, graph), JACOBI_LIMIT),
    ]
    error_of = relative_error(reference)
    rows = compare(work, sides, error_of, [(0, 1, 10.0)], args.repeats)
    kept = [activation_bytes(lambda layer=layer: layer(x, graph)) for layer in (ours, jacobi)]  # type: ignore[misc]
    note = f"{kept[0]:,} bytes kept for the backward pass, against {kept[1]:,}"
    rows.append(_memory_row(f"{work}: memory", sides, kept, [error_of(side.call()) for side in sides], 4.0, note))
    return [*rows, *_degree_rows(sizes, args, step)]


def _memory_row(
    work: str, sides: Sequence[Side], n_bytes: Sequence[int], errors: Sequence[float], target: float, note: str
) -> Document:
    ratio = n_bytes[1] / n_bytes[0]
    said = [
        {"name": side.name, "rate": {"median": size}, "error": error, "error_limit": side.error_limit}
        for side, size, error in zip(sides, n_bytes, errors, strict=True)
    ]
    value = {"median": ratio, "low": ratio, "high": ratio, "n": 1}
    return make_row(work, said[0], said[1], "× less", value, target, note=note)


def _degree_rows(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
    """Compare the memory of a step with a long series with that of a short one."""
    step("memory and degree")
    L = cg.laplacian(gallery.mnist_grid(sizes.side), "normalized")
    graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
    x = signals(args.seed, sizes.batch, L.n_vertices, sizes.features[0])
    found, degrees = [], []
    for zoom in (0.2, 35.0):
        layer = CayleyConv(sizes.features[0], sizes.features[1], ORDER, zoom=zoom, tol=TOL)
        call = training_step(layer, x, graph)
        call()
        degrees.append(power_coefficients(ORDER + 1, zoom, L.lmax, TOL).degree)
        found.append(peak_bytes(call))
    ratio = found[1] / found[0]
    ours = {"name": f"degree {degrees[1]}", "rate": {"median": found[1]}, "error": 0.0, "error_limit": 0.0}
    peer = {"name": f"degree {degrees[0]}", "rate": {"median": found[0]}, "error": None, "error_limit": 0.0}
    value = {"median": ratio, "low": ratio, "high": ratio, "n": 1}
    note = f"peak of a training step: {found[1]:,} bytes at degree {degrees[1]}, {found[0]:,} at degree {degrees[0]}"
    work = f"CayleyConv {sizes.features[0]} to {sizes.features[1]} channels: peak memory, long series over short"
    return [make_row(work, ours, peer, "times", value, 1.1, at_most=True, note=note)]


class Network(nn.Module):
    """The paper's MNIST network: two convolutions with pooling by four, then two dense layers."""

    def __init__(self, tree: Coarsening, sizes: Sizes, make: Callable[[int, int], nn.Module]) -> None:
        super().__init__()
        self.convolutions = nn.ModuleList([make(1, sizes.features[0]), make(*sizes.features)])
        self.graphs = nn.ModuleList(
            [GraphLaplacian.from_laplacian(laplacian_of(tree, level), dtype=torch.float32) for level in (0, 2)]
        )
        self.pools = nn.ModuleList([GraclusPooling(tree, 2, level=level) for level in (0, 2)])
        flat = tree.sizes[4] * sizes.features[1]
        self.dense = nn.Sequential(nn.Flatten(), nn.Linear(flat, sizes.hidden), nn.ReLU(), nn.Linear(sizes.hidden, 10))

    def forward(self, x: Tensor) -> Tensor:
        """Classify images of shape (batch, n, 1), their pixels in the order of the tree."""
        for convolution, graph, pool in zip(self.convolutions, self.graphs, self.pools, strict=True):
            x = pool(convolution(x, graph).relu())
        return self.dense(x)


def network_rows(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
    """Compare the test time of a CayleyNet with that of a ChebNet with as many parameters."""
    step("networks")
    tree = mnist_tree(sizes, args.seed)
    x = signals(args.seed, sizes.batch, tree.sizes[0], 1)
    x[:, torch.tensor(tree.is_fake[0])] = 0
    torch.manual_seed(args.seed)
    cayley = Network(tree, sizes, lambda i, o: CayleyConv(i, o, ORDER, tol=TOL)).eval()
    cheb = Network(tree, sizes, lambda i, o: ChebConv(i, o, TERMS - 1)).eval()
    sides = [
        Side("CayleyNet", _inference(cayley, x), CAYLEY_LIMIT),
        Side("ChebNet", _inference(cheb, x), 1e-4),
    ]
    with torch.no_grad():
        errors = [
            relative_error(exact_copy(net)(x.double()).numpy())(side.call())
            for net, side in zip((cayley, cheb), sides, strict=True)
        ]
    measured = _bench.interleave({side.name: side.call for side in sides}, args.repeats)
    counts = [sum(parameter.numel() for parameter in net.parameters()) for net in (cayley, cheb)]
    said = [
        {
            "name": side.name,
            "seconds": _bench.summary(measured[side.name]),
            "error": error,
            "error_limit": side.error_limit,
        }
        for side, error in zip(sides, errors, strict=True)
    ]
    value = _bench.summary(_bench.ratios(measured["CayleyNet"], measured["ChebNet"]))
    work = f"MNIST network, {sizes.batch} images, test time: CayleyNet over ChebNet"
    note = f"{counts[0]:,} parameters against {counts[1]:,}; the paper's ratio is 6.6"
    return [make_row(work, said[0], said[1], "times", value, 1.6, at_most=True, note=note)]


def _inference(net: nn.Module, x: Tensor) -> Callable[[], Array]:
    def call() -> Array:
        with torch.no_grad():
            return net(x).numpy()

    return call


def pyg_rows(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
    """Compare ChebConv, forward and backward, with that of PyTorch Geometric on both layers of the MNIST network."""
    PygChebConv = importlib.import_module("torch_geometric.nn").ChebConv
    tree = mnist_tree(sizes, args.seed)
    rows = []
    for level, channels in ((0, (1, sizes.features[0])), (2, sizes.features)):
        step(f"PyTorch Geometric, level {level}")
        L = laplacian_of(tree, level)
        graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
        W = tree.graphs[level].W.tocoo()
        edge_index = torch.from_numpy(np.stack([W.row, W.col]).astype(np.int64))
        edge_weight = torch.from_numpy(W.data).float()
        x = signals(args.seed, sizes.batch, L.n_vertices, channels[0])
        # fake vertices, which have no edges, are zero in both; PyTorch Geometric takes their eigenvalue to be 1
        x[:, torch.tensor(tree.is_fake[level])] = 0
        x.requires_grad_(level > 0)
        ours, theirs = ChebConv(*channels, TERMS - 1, bias=False), PygChebConv(*channels, TERMS, bias=False)
        with torch.no_grad():
            for weight, linear in zip(ours.weight, theirs.lins, strict=True):
                linear.weight.copy_(weight.T)
        sides = [
            Side("ours", training_step(ours, x, graph), CHEBYSHEV_LIMIT),
            Side("PyTorch Geometric", training_step(theirs, x, edge_index, edge_weight, None, 2.0), CHEBYSHEV_LIMIT),
        ]
        error_of = relative_error(dense_chebyshev(L, ours.weight, x))
        work = f"ChebConv {channels[0]} to {channels[1]}, {TERMS} terms, n={L.n_vertices}, batch {sizes.batch}"
        rows += compare(f"{work}, forward and backward", sides, error_of, [(0, 1, 4.0)], args.repeats)
    return rows


# ------------------------------------------------------------------------------------------------ growth


def growth(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
    """Measure how the time of a training step grows with zoom, order, vertices and channels."""
    base = {"zoom": 1.0, "order": 4, "vertices": sizes.growth_vertices, "channels": sizes.growth_channels}
    series = []
    for name in base:
        step(f"growth with {name}")
        points = []
        for factor in sizes.factors:
            at = {**base, name: base[name] * factor}
            seconds, degree = _step_time(at, sizes, args)
            points.append({"at": at[name], "degree": degree, "seconds": _bench.summary(seconds)})
        series.append({"name": name, "points": points, "exponent": _exponent(points)})
    return series


def _step_time(at: dict[str, float], sizes: Sizes, args: argparse.Namespace) -> tuple[list[float], int]:
    L = cg.laplacian(gallery.sensor(int(at["vertices"]), rng=args.seed), "normalized")
    graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
    channels, order = int(at["channels"]), int(at["order"])
    layer = CayleyConv(channels, channels, order, zoom=at["zoom"], tol=TOL)
    x = signals(args.seed, sizes.growth_batch, L.n_vertices, channels).requires_grad_()
    call = training_step(layer, x, graph)
    call()
    degree = power_coefficients(order + 1, at["zoom"], L.lmax, TOL).degree
    return _bench.interleave({"step": call}, args.repeats)["step"], degree


def _exponent(points: Sequence[Document]) -> float:
    """Return the slope of log time over log size."""
    x, y = (np.log([row[key] if key == "at" else row[key]["median"] for row in points]) for key in ("at", "seconds"))
    return float(np.polyfit(x, y, 1)[0])


# ------------------------------------------------------------------------------------------------ output


def cells(row: Document) -> list[str]:
    """Return a row of the table; sizes in memory are written as such."""
    out = table_cells(row)
    for k, side in ((1, row["ours"]), (2, row["peer"])):
        if "rate" in side:
            out[k] = f"{side['name']}: {_results.format_bytes(side['rate']['median'])}"
    return out


def growth_cells(series: Document) -> list[str]:
    """Return a row of the table of growth."""
    ends = (series["points"][0], series["points"][-1])
    return [
        series["name"],
        f"{ends[0]['at']:g} to {ends[1]['at']:g}",
        f"{ends[0]['degree']} to {ends[1]['degree']}",
        " to ".join(_results.format_seconds(end["seconds"]["median"]) for end in ends),
        f"{series['exponent']:.2f}",
    ]


GROWTH_HEADER = ("size", "from, to", "degree of the series", "training step", "exponent")


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    rows = document["rows"]
    notes = [f"- {row['work']}: {row['note']}" for row in rows if row["note"]]
    lines = [
        "# Speed and memory of the layers",
        "",
        *_results.header_lines(document),
        f"- torch: {document['torch']}",
        "",
        "Times are medians; ratios are medians over rounds in which both sides took turns, with the smallest and the "
        "largest. Errors are relative to the norm of a dense computation in double precision.",
        "",
        *_results.markdown_table(HEADER, [cells(row) for row in rows]),
        "",
        *notes,
        "",
        f"Growth of a training step of a CayleyConv, as many channels out as in, batch {document['growth_batch']}, "
        "from order 4, zoom 1:",
        "",
        *_results.markdown_table(GROWTH_HEADER, [growth_cells(series) for series in document["growth"]]),
    ]
    return "\n".join(lines).rstrip() + "\n"


AXIS_NAMES = {"zoom": "zoom h", "order": "order r", "vertices": "vertices n", "channels": "channels"}


def draw(document: Document) -> Figure:
    """Draw the ratios as dots with their spread, the targets as ticks, and the growth as lines."""
    rows, series = document["rows"], document["growth"]
    figure = Figure(figsize=(9.5, 0.42 * len(rows) + 4.0), layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=[0.42 * len(rows) + 0.8, 2.6])
    top, bottom = halves
    _draw_ratios(top.subplots(), rows)
    for ax, one in zip(bottom.subplots(1, len(series), sharey=True), series, strict=True):
        at = [point["at"] for point in one["points"]]
        ax.loglog(at, [1e3 * point["seconds"]["median"] for point in one["points"]], "o-", color="black", markersize=4)
        ax.set_xlabel(AXIS_NAMES[one["name"]])
        ax.set_xticks(at, [f"{x:g}" for x in at], fontsize="small")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        ax.minorticks_off()
        ax.set_title(f"exponent {one['exponent']:.2f}", fontsize="small", loc="left")
        ax.grid(color="0.9", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    bottom.axes[0].set_ylabel("training step, ms")
    return figure


def _draw_ratios(ax: Any, rows: Sequence[Document]) -> None:
    position = np.arange(len(rows))[::-1]
    low, high, median = (np.array([row["value"][key] for row in rows]) for key in ("low", "high", "median"))
    ax.hlines(position, low, high, color="0.55", linewidth=2)
    ax.plot(median, position, "o", color="black", markersize=5)
    targets = [(row["target"], k) for row, k in zip(rows, position, strict=True) if row["target"] is not None]
    ax.plot(*zip(*targets, strict=True), "|", color="black", markersize=14, markeredgewidth=1.6)
    for row, k in zip(rows, position, strict=True):
        sign = "≤" if row["at_most"] else "≥"
        ax.annotate(
            f"{row['value']['median']:.3g} ({sign} {row['target']:g})",
            (1.0, k),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    ax.set_yticks(position, [f"{row['work']}\n{row['ours']['name']}, against {row['peer']['name']}" for row in rows])
    ax.tick_params(axis="y", labelsize=7, length=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    ax.margins(x=0.08)
    ax.axvline(1, color="0.6", linewidth=1, zorder=0)
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_title("peer over ours, or as said (tick: target)", fontsize="small", loc="left")


# -------------------------------------------------------------------------------------------------- main

PARTS = (step_rows, network_rows, pyg_rows)


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m analysis.benchmark_nn",
        description="Measure the trainable layers against the paper's Jacobi scheme and PyTorch Geometric, side by "
        "side, and print ratios with their targets. Run it on a quiet machine.",
    )
    _results.add_arguments(parser)
    _results.add_repeats(parser)
    args = parser.parse_args(argv)
    _results.check_arguments(parser, args)
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the tables, and write what was asked for."""
    argv = sys.argv[1:] if argv is None else argv
    args = parse_arguments(argv)
    document = _results.new_document("analysis.benchmark_nn", argv, args)
    sizes = QUICK if args.quick else Sizes()
    document["torch"] = f"{torch.__version__}, {torch.get_num_threads()} threads"
    document["growth_batch"] = sizes.growth_batch
    rows: list[Document] = []
    with _results.progress_steps(9) as step:
        for part in PARTS:
            rows += part(sizes, args, step)
        document["rows"] = rows
        document["growth"] = growth(sizes, args, step)
    _results.print_table("Speed and memory of the layers", HEADER, [cells(row) for row in rows])
    for row in rows:
        if row["note"]:
            print(f"{row['work']}: {row['note']}")
    _results.print_table("Growth", GROWTH_HEADER, [growth_cells(series) for series in document["growth"]])
    _results.write_outputs(args, "benchmark_nn", document, markdown, draw)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
