"""Time of a Cayley layer against its order and the size of the graph, by every method, beside the paper's (Appendix C).

Run ``python -m analysis.complexity`` on a quiet machine. A network is one convolution with 32 features, ReLU, mean over
the vertices, classifier. "Test" is one forward pass of a batch, "training" also the backward pass and a step of Adam;
times are means of 30, of fewer where they are long, taken in turns. The paper's times are of another machine (a
graphics card) and of a batch and a graph that it does not tell, so ratios to ChebNet are what can be compared,
and those with care. Its curves against the number of vertices are not in its source.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor, nn

import cayleygsp as cg
from analysis import _timing
from analysis._figures import legend_below, new_axes, plain_axes
from analysis._networks import CHEBNET, CHEBYSHEV, EXACT, N_COMMUNITIES, N_FEATURES, NETWORK_STYLES, ORDERS, SWEEPS
from analysis._script import Blocks, Document, Script, Step, Table, format_seconds, pivot, table_of
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian

# In full, and in the quick form: orders at one size and sizes at one order, batches, and seconds after which a slow
# call is not repeated again; the table says how often it was.
REPEATS = 30, 2

TIMED_ORDERS = ORDERS, (1, 3)
SIZES = (300, 1000, 3000, 10_000, 30_000, 100_000), (90, 150)
ORDER_VERTICES, SIZE_ORDER = (360, 90), 3
BATCH, SIZE_BATCH = (100, 2), (4, 2)
BUDGET = 60.0, 0.5
AVERAGE_DEGREE, INNER_SHARE = 14.0, 0.93
ZOOM, TOL = 1.0, 1e-4

# Exponents up to this count as linear: the larger sizes leave the caches.
LINEAR = 1.1
INVERSION, EIGENBASIS, SERIES = "inversion", "eigenbasis", "series"

STYLES: dict[str, dict[str, Any]] = {
    INVERSION: NETWORK_STYLES[EXACT],
    EIGENBASIS: {"color": "0.45", "linestyle": "-.", "marker": "P"},
    **{f"jacobi {K}": NETWORK_STYLES[f"jacobi {K}"] for K in SWEEPS[::-1]},
    SERIES: NETWORK_STYLES[CHEBYSHEV],
    CHEBNET: NETWORK_STYLES[CHEBNET],
}

# Seconds for orders 1, 3, …, 13, from the source of the paper's figures.
PAPER = {
    "test": {
        INVERSION: (0.05298, 0.05292, 0.05340, 0.05461, 0.05546, 0.05539, 0.05582),
        "jacobi 1": (0.00482, 0.00744, 0.01054, 0.01314, 0.01422, 0.01848, 0.02118),
        "jacobi 5": (0.00675, 0.01355, 0.01982, 0.02907, 0.03471, 0.04223, 0.04713),
        "jacobi 9": (0.01012, 0.02038, 0.02807, 0.04277, 0.05415, 0.06439, 0.07622),
        "jacobi 13": (0.01161, 0.02395, 0.04312, 0.05720, 0.07388, 0.09081, 0.10456),
        CHEBNET: (0.00182, 0.00294, 0.00377, 0.00448, 0.00513, 0.00648, 0.00727),
    },
    "training": {
        INVERSION: (0.17273, 0.17322, 0.17454, 0.17540, 0.18402, 0.18348, 0.18563),
        "jacobi 1": (0.01312, 0.01847, 0.02905, 0.03745, 0.05003, 0.05644, 0.06742),
        "jacobi 5": (0.01621, 0.03954, 0.06240, 0.08296, 0.10684, 0.12991, 0.15169),
        "jacobi 9": (0.02245, 0.05885, 0.09567, 0.13199, 0.16282, 0.20106, 0.23524),
        "jacobi 13": (0.02871, 0.07830, 0.12546, 0.17498, 0.22352, 0.27696, 0.32319),
        CHEBNET: (0.01377, 0.01462, 0.01538, 0.01624, 0.01570, 0.01598, 0.01721),
    },
}

MODELS = (INVERSION, *(f"jacobi {K}" for K in SWEEPS), EIGENBASIS, SERIES, CHEBNET)

NAMES = {
    INVERSION: "exact by inversion, as the paper",
    EIGENBASIS: "exact by a cached eigenbasis",
    SERIES: f"our series, tol {TOL:g}",
    CHEBNET: "ChebNet",
    **{f"jacobi {K}": f"Jacobi, K = {K}" for K in SWEEPS},
}

# Dense matrices beyond these sizes take too long for 30 repetitions, or too much memory.
LARGEST = {INVERSION: 1000, EIGENBASIS: 3000}
KINDS = ("test", "training")


class InversionConv(CayleyConv):
    """The convolution as in the paper's exact form: a dense complex system is solved in every call.

    C(hΔ) is formed once per call by solving with hΔ + iI; then every power is a dense product with the signals.
    """

    def convolve(self, x: Tensor, laplacian: GraphLaplacian) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""
        batch, n, channels = x.shape
        hL = self.zoom * laplacian.dense().to(x.dtype)
        eye = torch.eye(n, dtype=x.dtype, device=x.device)
        C = torch.linalg.solve(torch.complex(hL, eye), torch.complex(hL, -eye))
        y = x.transpose(0, 1).reshape(n, batch * channels).to(C.dtype)
        blocks = [y.real]
        for _ in range(self.order):
            y = C @ y
            blocks += [2 * y.real, -2 * y.imag]
        rows = torch.stack(blocks, dim=1).view(n, -1, batch, channels).permute(2, 0, 1, 3)
        return rows.reshape(batch, n, -1) @ self.coefficients().reshape(-1, self.out_channels)


def make_layer(model: str, order: int) -> CayleyConv | ChebConv:
    """Return the convolution of a model."""
    if model == CHEBNET:
        return ChebConv(1, N_FEATURES, order + 1, normalization=None)
    options: dict[str, Any] = {"zoom": ZOOM, "normalization": None}
    if model == INVERSION:
        return InversionConv(1, N_FEATURES, order, method="exact", **options)
    if model == EIGENBASIS:
        return CayleyConv(1, N_FEATURES, order, method="exact", **options)
    if model == SERIES:
        return CayleyConv(1, N_FEATURES, order, tol=TOL, **options)
    return CayleyConv(1, N_FEATURES, order, method="jacobi", n_iter=int(model.split()[1]), **options)


class Network(nn.Module):
    """One convolution, ReLU, mean over the vertices, linear classifier."""

    def __init__(self, model: str, order: int, laplacian: GraphLaplacian) -> None:
        super().__init__()
        self.conv, self.classify = make_layer(model, order), nn.Linear(N_FEATURES, N_COMMUNITIES)
        self._laplacian = [laplacian]  # shared by all networks: not a part of this one

    def forward(self, x: Tensor) -> Tensor:
        """Classify signals of shape (batch, n, 1)."""
        return self.classify(self.conv(x, self._laplacian[0]).relu().mean(1))


def make_graph(n_vertices: int, seed: int) -> cg.Graph:
    """Return 15 communities with as many edges per vertex at every size, so that time can only grow with n."""
    size = n_vertices / N_COMMUNITIES
    p_in = min(INNER_SHARE * AVERAGE_DEGREE / (size - 1), 1.0)
    p_out = (1 - INNER_SHARE) * AVERAGE_DEGREE / (n_vertices - size)
    return cg.gallery.communities(N_COMMUNITIES, n_vertices=n_vertices, p_in=p_in, p_out=p_out, rng=seed)


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
    samples = _timing.interleave(calls, args.repeats, budget=BUDGET[args.quick], shortest=0.0)
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


def exponent(rows: Sequence[Document], model: str, kind: str) -> Document:
    """Return the slope of log time over log size over the larger half of the sizes that a model was timed at."""
    same = [row for row in rows if row["model"] == model and row["kind"] == kind]
    same = same[-max(len(same) // 2 + 1, 2) :]
    n, seconds = [row["n_vertices"] for row in same], [row["seconds"]["mean"] for row in same]
    slope = _timing.fit_exponent(n, seconds) if len(same) > 1 else None
    return {"model": model, "kind": kind, "exponent": slope}


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Time everything: orders at one size, then sizes at one order."""
    by_order, by_size = [], []
    for order in args.orders:
        step(f"order {order}")
        by_order += point(MODELS, order, ORDER_VERTICES[args.quick], BATCH[args.quick], args)
    for n in args.sizes:
        step(f"{n:,} vertices")
        models = [model for model in MODELS if n <= LARGEST.get(model, n)]
        by_size += point(models, SIZE_ORDER, n, SIZE_BATCH[args.quick], args)
    return {
        "torch": f"{torch.__version__}, {torch.get_num_threads()} threads",
        "repeats": args.repeats,
        "by_order": with_ratios(by_order, paper=True),
        "by_size": with_ratios(by_size, paper=False),
        "exponents": [exponent(by_size, model, kind) for kind in KINDS for model in MODELS],
    }


def table(rows: Sequence[Document], kind: str, key: str) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of one kind: one row per model, one column per order or size."""
    same = [row for row in rows if row["kind"] == kind]
    name = "r = {}" if key == "order" else "n = {:,}"
    return pivot([kind], same, lambda row: [NAMES[row["model"]]], lambda row: row[key], cell, name)


def cell(row: Document) -> str:
    """Write a time and its ratio to ChebNet, beside the paper's."""
    text = f"{format_seconds(row['seconds']['mean'])}, {row['ratio']:.3g}×"
    if row["paper_ratio"] is not None and row["model"] != CHEBNET:
        text += f" ({row['paper_ratio']:.3g}×, {row['ratio'] - row['paper_ratio']:+.3g})"
    return text


def findings(document: Document) -> list[str]:
    """Say what the times show, each in a sentence that may turn out either way."""
    seconds = {(row["model"], row["kind"], row["order"]): row["seconds"]["mean"] for row in document["by_order"]}
    most = f"jacobi {SWEEPS[-1]}"
    sentences = []
    for kind in KINDS:
        shares = {
            order: seconds[SERIES, kind, order] / seconds[most, kind, order]
            for model, of, order in seconds
            if (model, of) == (SERIES, kind)
        }
        low, high = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
        sentences.append(
            f"{kind.capitalize()}: our series takes {shares[low]:.2f} (r = {low}) to {shares[high]:.2f} (r = {high}) "
            f"of the time of Jacobi with K = {SWEEPS[-1]}."
        )
    linear = [SERIES, CHEBNET, *(f"jacobi {K}" for K in SWEEPS)]
    slopes = [e["exponent"] for e in document["exponents"] if e["model"] in linear and e["exponent"] is not None]
    if slopes:
        grows = "at most linearly" if max(slopes) <= LINEAR else "faster than linearly"
        sentences.append(
            f"Exponents of our series, Jacobi and ChebNet are {min(slopes):.2f} to {max(slopes):.2f}: their time grows "
            f"{grows} with n (to {LINEAR:g} counts as linear)."
        )
    return sentences


def page(document: Document) -> Blocks:
    """Return the title, times against order and size, exponents, and what they show."""
    orders, sizes = document["by_order"], document["by_size"]
    exponents = [row for row in document["exponents"] if row["exponent"] is not None]
    columns = {"model": lambda row: NAMES[row["model"]], "kind": "{kind}", "exponent": "{exponent:.2f}"}
    return [
        "Time against order and size",
        f"Mean time, and its ratio to ChebNet at the same order and size. Graphs of 15 communities, combinatorial "
        f"Laplacian, about {AVERAGE_DEGREE:g} neighbours a vertex, one channel in, {N_FEATURES} out, h = {ZOOM:g}, "
        f"single precision. Against the order: {orders[0]['n_vertices']} vertices, batch {orders[0]['batch']}; in "
        "brackets the paper's ratio, on a graphics card and with a batch and a graph that it does not tell, and the "
        "difference.",
        *(Table(f"Against the order, {kind}", *table(orders, kind, "order")) for kind in KINDS),
        f"Against the number of vertices: order {SIZE_ORDER}, batch {sizes[0]['batch']}. Dense methods stop where they "
        "get too slow.",
        *(Table(f"Against the size, {kind}", *table(sizes, kind, "n_vertices")) for kind in KINDS),
        "Growth of the time with n, by a straight line in logarithms over the larger sizes that a method was timed at "
        "(1 is linear):",
        table_of("Growth of the time with n", columns, exponents),
        findings(document),
    ]


def facts(document: Document) -> list[str]:
    """Say with what torch, and how often, calls were timed."""
    fewest = min(row["seconds"]["n"] for row in [*document["by_order"], *document["by_size"]])
    return [
        f"- torch: {document['torch']}",
        f"- Repetitions: {document['repeats']}, of slow calls at least {fewest}",
    ]


def draw(document: Document) -> Figure:
    """Draw times and ratios over the order, and times over the size, test above training."""
    figure, axes = new_axes((11, 7), 2, 3)
    for line, kind in zip(axes, KINDS, strict=True):
        _draw_curves(line[0], document["by_order"], kind, "order", lambda row: 1e3 * row["seconds"]["mean"])
        _draw_curves(line[1], document["by_order"], kind, "order", lambda row: row["ratio"])
        _draw_curves(line[2], document["by_size"], kind, "n_vertices", lambda row: 1e3 * row["seconds"]["mean"])
        line[0].set(ylabel="time, ms", title=f"{kind}: time")
        line[1].set(ylabel="time over that of ChebNet", title=f"{kind}: ratio (thin: the paper's)")
        _draw_linear(line[2], document["by_size"], kind)
        line[2].set(ylabel="time, ms", xscale="log", title=f"{kind}: time against size, r = {SIZE_ORDER}")
        _draw_paper(line[1], document["by_order"], kind)
    legend_below(figure)
    return figure


def _draw_curves(ax: Axes, rows: Sequence[Document], kind: str, key: str, value: Callable[[Document], float]) -> None:
    for model, style in STYLES.items():
        same = [row for row in rows if row["model"] == model and row["kind"] == kind]
        ax.plot([row[key] for row in same], [value(row) for row in same], label=NAMES[model], markersize=4, **style)
    ax.set(xlabel="order r" if key == "order" else "vertices n", yscale="log")
    if key == "order":
        ax.set_xticks(sorted({row[key] for row in rows}))
    ax.yaxis.set_major_formatter(lambda number, _: f"{number:g}")
    ax.title.set_fontsize("small")
    plain_axes(ax)


def _draw_linear(ax: Axes, rows: Sequence[Document], kind: str) -> None:
    """Draw a line of slope 1 through the last time of ChebNet."""
    same = [row for row in rows if row["model"] == CHEBNET and row["kind"] == kind]
    n = np.array([row["n_vertices"] for row in same])
    ax.plot(n, 1e3 * same[-1]["seconds"]["mean"] * n / n[-1], color="0.75", linewidth=1, zorder=0)
    ax.annotate("∝ n", (n[0], 1e3 * same[-1]["seconds"]["mean"] * n[0] / n[-1]), color="0.5", fontsize="small")


def _draw_paper(ax: Axes, rows: Sequence[Document], kind: str) -> None:
    for model, style in STYLES.items():
        same = [row for row in rows if row["model"] == model and row["kind"] == kind and row["paper_ratio"] is not None]
        x, y = [row["order"] for row in same], [row["paper_ratio"] for row in same]
        ax.plot(x, y, linewidth=0.6, marker=style["marker"], markersize=2, markerfacecolor="none", color=style["color"])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    parser.add_argument("--orders", type=int, nargs="+", metavar="R", help="orders (default: 1 3 … 13, quick: 1 3)")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="vertices (default: 300 … 100,000)")


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    args.orders = sorted(set(args.orders or TIMED_ORDERS[args.quick]))
    args.sizes = sorted(set(args.sizes or SIZES[args.quick]))
    if min(args.orders) < 1:
        parser.error(f"--orders must be 1 or more, got {min(args.orders)}")
    if min(args.sizes) < 3 * N_COMMUNITIES:
        parser.error(f"--sizes must be {3 * N_COMMUNITIES} or more, got {min(args.sizes)}")


SCRIPT = Script(
    "complexity",
    __doc__,
    measure,
    page,
    draw,
    facts,
    steps=lambda args: len(args.orders) + len(args.sizes),
    repeats=REPEATS,
    arguments=add_arguments,
    check=check_arguments,
)

compute, main, markdown = SCRIPT.compute, SCRIPT.main, SCRIPT.markdown

if __name__ == "__main__":
    raise SystemExit(main())
