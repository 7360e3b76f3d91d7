"""The paper's first experiment: which of 15 communities a noisy step signal is on, by CayleyNets and ChebNets.

Run ``python -m analysis.community``. A network is one convolution with 32 features, ReLU, the mean over the vertices
and a softmax; order and method of the convolution are varied. Every run has a graph, signals and weights of its own.
The model is the one of the epoch that did best on validation signals; test signals are looked at once.

Learning rates are the same for all orders and methods of a kind of network. ChebNet has its own, so that it is not held
to what suits the other: ``--tune`` tries several for both kinds, on graphs that no run uses, by validation accuracy.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numba import njit
from torch import Tensor, nn

import cayleygsp as cg
from analysis import _experiment, _results
from analysis._experiment import Checkpoint, Experiment, Fit, Run
from analysis._results import Document
from cayleygsp import zoom
from cayleygsp._typing import Array, FloatArray
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from cayleygsp.responses.basis import power_basis, zoom_derivative
from cayleygsp.responses.cayley import cayley_angle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_COMMUNITIES = 15
N_FEATURES = 32
ORDERS = (1, 3, 5, 7, 9, 11, 13)
SWEEPS = (1, 5, 9, 13)
EXACT, CHEBYSHEV, CHEBNET = "exact", "chebyshev", "ChebNet"
MODELS = (EXACT, *(f"jacobi {K}" for K in SWEEPS), CHEBYSHEV, CHEBNET)

NAMES = {
    EXACT: "CayleyNet, exact",
    CHEBYSHEV: "CayleyNet, our series",
    CHEBNET: "ChebNet",
    **{f"jacobi {K}": f"CayleyNet, K = {K}" for K in SWEEPS},
}

# Test accuracy in %, and its deviation over the runs, for orders 1, 3, …, 13; from the source of the paper's figure.
PAPER = {
    EXACT: (90.14, 96.23, 97.26, 98.06, 98.46, 98.83, 99.14),
    "jacobi 1": (41.51, 71.49, 82.87, 88.39, 90.24, 92.24, 93.10),
    "jacobi 5": (46.79, 85.99, 88.80, 91.31, 94.14, 96.50, 97.09),
    "jacobi 9": (60.34, 88.66, 92.06, 94.21, 96.86, 97.67, 97.57),
    "jacobi 13": (63.27, 90.84, 94.04, 96.39, 97.26, 97.41, 98.07),
    CHEBNET: (32.31, 37.70, 63.13, 74.21, 80.64, 85.43, 86.91),
}
PAPER_SD = {
    EXACT: (0.52, 0.45, 0.59, 0.69, 0.41, 0.43, 0.20),
    "jacobi 1": (2.42, 3.24, 2.41, 1.93, 1.56, 0.73, 0.93),
    "jacobi 5": (4.16, 2.32, 1.59, 1.49, 1.30, 0.62, 0.91),
    "jacobi 9": (4.78, 1.59, 1.97, 1.74, 1.01, 0.62, 0.47),
    "jacobi 13": (3.36, 1.55, 0.90, 0.39, 0.68, 0.60, 0.29),
    CHEBNET: (1.14, 1.76, 2.08, 1.34, 1.70, 1.20, 1.27),
}

# Filters of a run that are kept for the figure, and the order whose filters are drawn.
N_SHOWN = 4
SHOWN_ORDER = 3

# Seeds from here on belong to the choice of learning rates.
TUNING_SEED = 1_000_000
TUNING_RATES = (0.01, 0.03, 0.1, 0.3)
TUNING_MODELS = (EXACT, CHEBNET)
TUNING_ORDERS = (1, 3, 7, 13)


@dataclasses.dataclass(frozen=True)
class Config:
    """What decides the numbers of a run besides model, order and seed.

    Attributes
    ----------
    smallest, largest : int
        Sizes of the communities, spread evenly between them. A convolution followed by the mean over the vertices sees
        no difference between communities of the same size and density, so that no two may be of a size.
    p_in, p_out : float
        Probability of an edge inside a community and between two.
    spread : float
        Of the strengths of the vertices, see :func:`cayleygsp.gallery.communities`: a few are hubs.
    noise : float
        Variance of the noise.
    n_train, n_validation, n_test : int
        Signals.
    epochs, batch : int
        Passes over the training signals, and signals in a step.
    lr, cheb_lr, zoom_lr : float
        Learning rates of Adam for CayleyNet, for ChebNet and for log h; each falls to 0 as half a cosine.
    zoom : float
        The zoom h to start from.
    tol : float
        Of our series.
    """

    smallest: int = 10
    largest: int = 24
    p_in: float = 0.5
    p_out: float = 0.001
    spread: float = 0.4
    noise: float = 0.3
    n_train: int = 5000
    n_validation: int = 700
    n_test: int = 700
    epochs: int = 20
    batch: int = 100
    lr: float = 0.1
    cheb_lr: float = 0.1
    zoom_lr: float = 0.02
    zoom: float = 1.0
    tol: float = 1e-4

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.smallest < 2 or self.largest - self.smallest < N_COMMUNITIES - 1:
            raise ValueError(
                f"`smallest` must be 2 or more and `largest` at least {N_COMMUNITIES - 1} more, so that no two "
                f"communities are of a size, got {self.smallest} and {self.largest}"
            )
        for name in ("p_in", "p_out"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"`{name}` must be within 0 and 1, got {getattr(self, name)}")
        if not 0 <= self.spread < 1:
            raise ValueError(f"`spread` must be at least 0 and less than 1, got {self.spread}")
        for name in ("n_train", "n_validation", "n_test", "epochs", "batch", "lr", "cheb_lr", "zoom", "tol"):
            if not getattr(self, name) > 0:
                raise ValueError(f"`{name}` must be positive, got {getattr(self, name)}")
        if self.batch == 1 or self.n_train % self.batch == 1:
            raise ValueError(
                f"`batch` must leave no step with a single signal, got {self.batch} for {self.n_train} training signals"
            )
        for name in ("noise", "zoom_lr"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"`{name}` must not be negative, got {getattr(self, name)}")

    @property
    def sizes(self) -> list[int]:
        """Sizes of the communities."""
        return np.linspace(self.smallest, self.largest, N_COMMUNITIES).round().astype(int).tolist()


FULL = Config()
QUICK = Config(
    smallest=6,
    largest=20,
    p_in=0.7,
    p_out=0.002,
    n_train=600,
    n_validation=150,
    n_test=300,
    epochs=12,
)
QUICK_MODELS = (EXACT, "jacobi 1", "jacobi 5", CHEBYSHEV, CHEBNET)
QUICK_ORDERS = (1, 3)


# ------------------------------------------------------------------------------------------------- data


@dataclasses.dataclass(frozen=True)
class Data:
    """A graph with signals on it: training, validation and test signals one after the other.

    Attributes
    ----------
    graph : Graph
        Labels tell the communities.
    laplacian : Laplacian
        The combinatorial one; its ``lmax`` is the largest eigenvalue, so that ChebNet has the whole interval.
    signals : ndarray, shape (n_vertices, n_signals)
        In single precision.
    labels : ndarray, shape (n_signals,)
        The community of each.
    """

    graph: cg.Graph
    laplacian: cg.Laplacian
    signals: Array
    labels: Array


@functools.lru_cache(maxsize=2)
def make_data(config: Config, seed: int) -> Data:
    """Draw the graph and the signals of a seed.

    Examples
    --------
    >>> from analysis import community
    >>> data = community.make_data(community.QUICK, 0)
    >>> data.signals.shape, data.graph.n_vertices
    ((195, 1050), 195)
    """
    rng = np.random.default_rng(seed)
    graph = cg.gallery.communities(
        sizes=config.sizes, p_in=config.p_in, p_out=config.p_out, spread=config.spread, rng=rng
    )
    L = cg.laplacian(graph)
    L = L.with_lmax(float(L.eigenvalues[-1]) * (1 + 1e-9))
    n_signals = config.n_train + config.n_validation + config.n_test
    labels = rng.integers(N_COMMUNITIES, size=n_signals)
    assert graph.labels is not None
    signals = math.sqrt(config.noise) * rng.standard_normal((graph.n_vertices, n_signals))
    signals += graph.labels[:, None] == labels
    return Data(graph, L, signals.astype(np.float32), labels)


# ----------------------------------------------------------------------------------------------- network


class Network(nn.Module):
    """One convolution, ReLU, mean over the vertices, linear classifier.

    Means over many vertices differ by little from signal to signal. They are standardised before the classifier, which
    a classifier without this could do by itself: what can be learned is the same, but it is learned in fewer steps.

    The convolution is a layer of :mod:`cayleygsp.nn`. Where the signals that it mixes can be had faster than by the
    layer, as all inputs are known beforehand and need no gradient, they are; what comes out is the same.
    """

    def __init__(self, data: Data, model: str, order: int, config: Config, device: torch.device) -> None:
        super().__init__()
        self.conv = make_layer(model, order, config)
        self.standardize = nn.BatchNorm1d(N_FEATURES, affine=False)
        self.classify = nn.Linear(N_FEATURES, N_COMMUNITIES)
        self.to(device)
        self._graph = GraphLaplacian.from_laplacian(data.laplacian, dtype=torch.float32).to(device)
        self._x = torch.from_numpy(data.signals).to(device)
        self._source = make_source(self.conv, data, device)

    def features(self, indices: Tensor) -> Tensor:
        """Return the pooled features of some signals, shape (batch, 32)."""
        if self._source is None:
            x = self._x[:, indices].T[:, :, None].contiguous()
            return self.conv(x, self._graph).relu().mean(1)
        assert isinstance(self.conv, CayleyConv)
        blocks, derivative = self._source(indices, math.exp(self.conv.log_zoom.item()))
        n, batch, n_blocks = blocks.shape
        y = _Mix.apply(self.conv.weight[:, 0], self.conv.log_zoom, blocks.reshape(n * batch, n_blocks), derivative)
        return (y + self.conv.bias).relu_().view(n, batch, N_FEATURES).mean(0)

    def forward(self, indices: Tensor) -> Tensor:
        """Return the scores of the classes, shape (batch, 15)."""
        return self.classify(self.standardize(self.features(indices)))


def make_layer(model: str, order: int, config: Config) -> CayleyConv | ChebConv:
    """Return the convolution of a model."""
    if model == CHEBNET:
        return ChebConv(1, N_FEATURES, order, normalization=None)
    method, *n_iter = model.split()
    return CayleyConv(
        1,
        N_FEATURES,
        order,
        method=method,  # type: ignore[arg-type]
        n_iter=int(n_iter[0]) if n_iter else None,
        tol=config.tol,
        zoom=config.zoom,
        normalization=None,
    )


class _Mix(torch.autograd.Function):
    """Blocks of signals times weights, with gradients in the weights and in log h.

    The derivative in log h of the first blocks is a matrix times all blocks; there are more of them than weights.
    """

    @staticmethod
    def forward(ctx: Any, weight: Tensor, log_zoom: Tensor, blocks: Tensor, derivative: Tensor) -> Tensor:
        ctx.save_for_backward(weight, blocks, derivative)
        return blocks[:, : weight.shape[0]] @ weight

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        weight, blocks, derivative = ctx.saved_tensors
        d = blocks.T @ gradient
        return d[: weight.shape[0]], (derivative * (weight @ d.T)).sum(), None, None


def make_source(conv: nn.Module, data: Data, device: torch.device) -> _Exact | _Jacobi | None:
    """Return what makes the blocks of signals that a convolution mixes, None where the layer itself does."""
    if device.type != "cpu" or not isinstance(conv, CayleyConv) or conv.method == CHEBYSHEV:
        return None
    return _Exact(data, conv.order) if conv.method == EXACT else _Jacobi(data, conv.order, conv.n_iter)


class _Exact:
    """Blocks by the eigenbasis: the signals are in it once and for all."""

    def __init__(self, data: Data, order: int) -> None:
        self.order = order
        self.lam = np.maximum(data.laplacian.eigenvalues, 0.0)
        Phi = data.laplacian.eigenvectors.astype(np.float32)
        self.Phi = torch.from_numpy(Phi)
        self.x_hat = torch.from_numpy(Phi.T @ data.signals)
        self.derivative = torch.from_numpy(zoom_derivative(order)).float()

    def __call__(self, indices: Tensor, h: float) -> tuple[Tensor, Tensor]:
        basis = torch.from_numpy(power_basis(self.order + 1, h * self.lam)).float()
        x_hat = self.x_hat[:, indices]
        spectrum = x_hat[:, :, None] * basis[:, None, :]
        return (self.Phi @ spectrum.flatten(1)).view(spectrum.shape), self.derivative


class _Jacobi:
    """Blocks by Jacobi sweeps, and their derivatives in log h by the same sweeps."""

    def __init__(self, data: Data, order: int, n_iter: int) -> None:
        self.order, self.n_iter = order, n_iter
        W = data.graph.W
        self.graph = (W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data.astype(np.float32))
        self.diagonal = data.laplacian.diagonal
        self.x = torch.from_numpy(data.signals)
        size = 2 * order + 1
        self.derivative = torch.zeros(size, 2 * size - 1)
        self.derivative[1:, size:] = torch.eye(size - 1)
        self(torch.arange(1), 1.0)  # compiled, or loaded, before anything is timed

    def __call__(self, indices: Tensor, h: float) -> tuple[Tensor, Tensor]:
        x = self.x[:, indices].numpy()
        out = np.empty((*x.shape, self.derivative.shape[1]), dtype=np.float32)
        jacobi_blocks(*self.graph, jacobi_factors(self.diagonal, h), x, self.order, self.n_iter, out)
        return torch.from_numpy(out), self.derivative


def jacobi_factors(diagonal: FloatArray, h: float) -> Array:
    r"""Return what a sweep multiplies with at each vertex, real and imaginary parts in turn, shape (n, 8).

    With E = hd + i: h/E and its derivative in log h, ih/E²; then (hd − i)/E and its derivative, 2ihd/E².
    """
    E = h * diagonal + 1j
    factors = np.column_stack([h / E, 1j * h / E**2, (h * diagonal - 1j) / E, 2j * h * diagonal / E**2])
    return factors.view(np.float64).astype(np.float32)


# Signals that go through the sweeps together: with value and derivative, real and imaginary, 256 bytes a vertex.
_TILE = 16


@njit(cache=True, fastmath={"contract", "nsz", "reassoc"})
def _neighbours(indptr, indices, values, i, y, total):  # type: ignore[no-untyped-def]
    for q in range(4 * _TILE):
        total[q] = 0
    for p in range(indptr[i], indptr[i + 1]):
        w, j = values[p], indices[p]
        for q in range(4 * _TILE):
            total[q] += w * y[j, q]


@njit(cache=True, fastmath={"contract", "nsz", "reassoc"})
def _add_product(f, k, sign, s, out):  # type: ignore[no-untyped-def]
    """Add to values and derivatives of out the product of a factor, which depends on h, with s."""
    m = _TILE
    ar, ai, br, bi = sign * f[k], sign * f[k + 1], sign * f[k + 2], sign * f[k + 3]
    for q in range(m):
        out[q] += ar * s[q] - ai * s[m + q]
        out[m + q] += ar * s[m + q] + ai * s[q]
        out[2 * m + q] += ar * s[2 * m + q] - ai * s[3 * m + q] + br * s[q] - bi * s[m + q]
        out[3 * m + q] += ar * s[3 * m + q] + ai * s[2 * m + q] + br * s[m + q] + bi * s[q]


@njit(cache=True, nogil=True, fastmath={"contract", "nsz", "reassoc"})
def jacobi_blocks(indptr, indices, values, factors, x, order, n_iter, out):  # type: ignore[no-untyped-def]
    """Fill out, shape (n, batch, 4r + 1), with x, the parts of all powers, and their derivatives in log h."""
    n, batch = x.shape
    one = values.dtype.type(1)
    two = one + one
    y = np.empty((n, 4 * _TILE), values.dtype)
    y_new, b = np.empty_like(y), np.empty_like(y)
    total = np.empty(4 * _TILE, values.dtype)
    for first in range(0, batch, _TILE):
        width = min(_TILE, batch - first)
        y[:] = 0
        for i in range(n):
            for q in range(width):
                y[i, q] = x[i, first + q]
                out[i, first + q, 0] = x[i, first + q]
        for j in range(1, order + 1):
            for i in range(n):
                _neighbours(indptr, indices, values, i, y, total)
                b[i, :] = 0
                _add_product(factors[i], 4, one, y[i], b[i])
                _add_product(factors[i], 0, -one, total, b[i])
            y[:] = b
            for _ in range(n_iter):
                for i in range(n):
                    _neighbours(indptr, indices, values, i, y, total)
                    y_new[i] = b[i]
                    _add_product(factors[i], 0, one, total, y_new[i])
                y, y_new = y_new, y
            for i in range(n):
                for q in range(width):
                    for part in range(2):
                        k = 2 * j - 1 + part
                        sign = -two if part else two
                        out[i, first + q, k] = sign * y[i, part * _TILE + q]
                        out[i, first + q, 2 * order + k] = sign * y[i, (2 + part) * _TILE + q]


# ---------------------------------------------------------------------------------------------- training


def train(config: Config, run: Run, checkpoint: Checkpoint, device: torch.device) -> dict[str, Any]:
    """Train one network and return its numbers."""
    data = make_data(config, run.seed)
    model, order = run.setting["model"], run.setting["order"]
    with torch.random.fork_rng():
        torch.manual_seed(run.seed)
        network = Network(data, model, order, config, device)
    labels = torch.from_numpy(data.labels).to(device)
    ends = np.cumsum([0, config.n_train, config.n_validation, config.n_test])
    _, validation, test = (torch.arange(a, b, device=device) for a, b in pairwise(ends.tolist()))

    def accuracy(indices: Tensor) -> float:
        right = [(network(part).argmax(1) == labels[part]).sum() for part in indices.split(config.batch)]
        return float(sum(int(count) for count in right) / len(indices))

    def loss(indices: Tensor) -> Tensor:
        here = indices.to(device)
        return nn.functional.cross_entropy(network(here), labels[here])

    fit = Fit(
        network,
        make_optimizer(network, config, run.setting.get("lr")),
        loss,
        lambda: accuracy(validation),
        config.n_train,
        config.batch,
        config.epochs,
        _experiment.cosine,
    )
    history = fit.run(run.seed, checkpoint)
    with torch.no_grad():
        found = {"accuracy": accuracy(test), **history, **learned(network, data)}
    return found


def make_optimizer(network: Network, config: Config, lr: float | None = None) -> torch.optim.Optimizer:
    """Return Adam with the learning rates of the configuration, or another one for all but the zoom."""
    zooms = [network.conv.log_zoom] if isinstance(network.conv, CayleyConv) else []
    others = [p for p in network.parameters() if all(p is not z for z in zooms)]
    if lr is None:
        lr = config.lr if zooms else config.cheb_lr
    groups: list[dict[str, Any]] = [{"params": others, "lr": lr}]
    if zooms:
        groups.append({"params": zooms, "lr": config.zoom_lr})
    return torch.optim.Adam(groups)


def learned(network: Network, data: Data) -> dict[str, Any]:
    """Return zoom, spectral gap, and the coefficients of the filters that matter most to the classifier."""
    variance = network.standardize.running_var
    assert variance is not None
    # a filter that is zero everywhere has no say, whatever its weight
    say = network.classify.weight.norm(dim=0) * (variance / (variance + network.standardize.eps)).sqrt()
    shown = say.argsort(descending=True)[:N_SHOWN].tolist()
    lam = np.maximum(data.laplacian.eigenvalues, 0.0)
    return {
        "zoom": float(network.conv.zoom) if isinstance(network.conv, CayleyConv) else None,
        "gap": lam[N_COMMUNITIES - 1 : N_COMMUNITIES + 1].tolist(),
        "lmax": data.laplacian.lmax,
        "filters": network.conv.weight.detach()[:, 0, shown].T.double().cpu().tolist(),
    }


# ----------------------------------------------------------------------------------------------- results


def collect(args: argparse.Namespace, config: Config, results: Sequence[Document]) -> Document:
    """Return accuracies by model and order, every run, and what the figure needs."""
    first = make_data(config, args.seed)
    shown_order = min(args.orders, key=lambda order: abs(order - SHOWN_ORDER))
    kept = [
        {**result, "numbers": {k: v for k, v in result["numbers"].items() if k not in ("validation", "filters")}}
        for result in results
    ]
    shown = [
        {"model": result["setting"]["model"], "order": result["setting"]["order"], "zoom": result["numbers"]["zoom"]}
        | {"filters": result["numbers"]["filters"]}
        for result in results
        if result["seed"] == args.seed and result["setting"]["order"] == shown_order
    ]
    rows = []
    for row in _experiment.grouped(results, "accuracy"):
        model, order = row["setting"]["model"], row["setting"]["order"]
        known = order in ORDERS and model in PAPER and not args.quick
        rows.append(
            {
                "model": model,
                "order": order,
                "mean": 100 * row["mean"],
                "sd": 100 * row["sd"],
                "n": row["n"],
                "paper": PAPER[model][ORDERS.index(order)] if known else None,
                "paper_sd": PAPER_SD[model][ORDERS.index(order)] if known else None,
            }
        )
    return {
        "graph": {
            "n_vertices": first.graph.n_vertices,
            "n_edges": first.graph.n_edges,
            "sizes": config.sizes,
            "eigenvalues": np.maximum(first.laplacian.eigenvalues, 0.0).tolist(),
        },
        "rows": rows,
        "shown": shown,
        "runs": kept,
    }


def table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the accuracies: a model a row, an order a column."""
    orders = sorted({row["order"] for row in document["rows"]})
    cells: dict[str, dict[int, str]] = {}
    for row in document["rows"]:
        cell = _experiment.beside(row["mean"], row["sd"], row["paper"])
        cells.setdefault(NAMES[row["model"]], {})[row["order"]] = cell
    header = ["model", *(f"r = {order}" for order in orders)]
    return header, [[name, *(found.get(order, "") for order in orders)] for name, found in cells.items()]


def findings(document: Document) -> list[str]:
    """Say what the accuracies show of the paper's claims, each in a sentence that may turn out either way."""
    mean: dict[str, dict[int, float]] = {}
    sd: dict[str, dict[int, float]] = {}
    for row in document["rows"]:
        mean.setdefault(row["model"], {})[row["order"]] = row["mean"]
        sd.setdefault(row["model"], {})[row["order"]] = row["sd"]
    exact, cheb, ours = (mean.get(model, {}) for model in (EXACT, CHEBNET, CHEBYSHEV))
    gaps = np.array([[*run["numbers"]["gap"], run["numbers"]["lmax"]] for run in document["runs"]])
    low, high = gaps.min(0), gaps.max(0)
    said = [
        f"Over the graphs, λ₁₅ is {low[0]:.2g} to {high[0]:.2g}, λ₁₆ is {low[1]:.2g} to {high[1]:.2g}, and the largest "
        f"eigenvalue {low[2]:.3g} to {high[2]:.3g}."
    ]
    both = sorted(exact.keys() & cheb.keys())
    if both:
        above = [order for order in both if exact[order] > cheb[order]]
        least = min(exact[order] - cheb[order] for order in both)
        said.append(
            f"The exact CayleyNet is above the ChebNet of the same order at {_orders(above, both)}; the least "
            f"difference is {least:.1f} points."
        )
    sweeps = [f"jacobi {K}" for K in SWEEPS if f"jacobi {K}" in mean]
    if len(sweeps) > 1:
        orders = sorted(mean[sweeps[0]])
        grows = [r for r in orders if all(mean[a][r] < mean[b][r] for a, b in pairwise(sweeps))]
        said.append(f"Accuracy grows with every step of K = {_listed(sweeps)} at {_orders(grows, orders)}.")
        most_sweeps = mean[sweeps[-1]]
        both = sorted(exact.keys() & most_sweeps.keys())
        better = [r for r in both if most_sweeps[r] > exact[r]]
        said.append(f"K = {sweeps[-1].split()[1]} is above the exact CayleyNet at {_orders(better, both)}.")
    both = sorted(exact.keys() & ours.keys())
    if both:
        within = [r for r in both if abs(ours[r] - exact[r]) <= max(sd[EXACT][r], sd[CHEBYSHEV][r])]
        most = max(abs(ours[r] - exact[r]) for r in both)
        said.append(
            f"Our series is within one deviation of the exact CayleyNet at {_orders(within, both)}; the means differ "
            f"by at most {most:.2f} points."
        )
    return [*said, *_said_of_zooms(document)]


def _said_of_zooms(document: Document) -> list[str]:
    """Say how the learned zooms go with the zoom that spreads the gap, over the graphs."""
    said = []
    for order in sorted({row["order"] for row in document["rows"]}):
        h, best = _zooms(document, order)
        if h.size > 2:
            said.append(f"{np.corrcoef(np.log(h), np.log(best))[0, 1]:.2f} (r = {order})")
    if not said:
        return []
    return [f"Correlation over the graphs of log h with the log of the zoom that spreads the gap: {', '.join(said)}."]


def _zooms(document: Document, order: int) -> tuple[FloatArray, FloatArray]:
    """Return the zoom that the exact CayleyNet learned in each run, and the one that spreads the gap of its graph."""
    runs = [run["numbers"] for run in document["runs"] if run["setting"] == {"model": EXACT, "order": order}]
    return np.array([run["zoom"] for run in runs]), np.array([zoom.best_zoom(*run["gap"]) for run in runs])


def _orders(found: Sequence[int], all_orders: Sequence[int]) -> str:
    if len(found) == len(all_orders):
        return "every order"
    return "r = " + ", ".join(map(str, found)) + f" of {', '.join(map(str, all_orders))}" if found else "no order"


def _listed(sweeps: Sequence[str]) -> str:
    return ", ".join(model.split()[1] for model in sweeps)


def zoom_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the learned zooms of the exact CayleyNet."""
    rows = []
    for order in sorted({row["order"] for row in document["rows"]}):
        h, best = _zooms(document, order)
        if not h.size:
            continue
        rows.append([str(order), f"{h.mean():.3g} ± {h.std():.2g}", f"{h.min():.3g} to {h.max():.3g}"])
        rows[-1] += [f"{best.mean():.3g} ± {best.std():.2g}", f"{np.mean(h / best):.3g}"]
    return ["order r", "learned h", "least to most", "zoom that spreads the gap", "mean ratio"], rows


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    graph, config = document["graph"], document["config"]
    lines = [
        "# Community detection",
        "",
        *_results.header_lines(document),
        *_experiment.config_lines(document),
        "",
        f"Test accuracy in %, mean ± population standard deviation over {document['n_runs']} runs with "
        f"{config['n_test']} test signals each; in brackets the paper's mean and the difference. Every run has a "
        "graph, signals and weights of its own, so that the deviation is also that of the graphs.",
        "",
        *_results.markdown_table(*table(document)),
        "",
        *(f"- {line}" for line in findings(document)),
        "",
        "What was chosen here, as the paper does not say:",
        "",
        f"- The graph: 15 communities of {config['smallest']} to {config['largest']} vertices, no two of a size, "
        f"{graph['n_vertices']} vertices in all; edges inside with probability {config['p_in']:g}, between with "
        f"{config['p_out']:g}; weights with spread {config['spread']:g} (0 is none: all edges weigh 1). The parameters "
        "were tried by hand on other graphs, until the contrast of the paper's figure was there.",
        f"- The noise: variance {config['noise']:g}.",
        f"- The training: Adam, learning rate {config['lr']:g} for CayleyNet and {config['cheb_lr']:g} for ChebNet, "
        f"each tried for itself, {config['n_train']} signals, {config['epochs']} epochs; features are standardised "
        "over the batch before the classifier. The model is that of the epoch with the best validation accuracy. All "
        "this is the same for all models.",
        "",
        "Where our figures differ from the paper's, graph, noise and training may differ as well: it tells none of "
        "them in full.",
    ]
    header, rows = zoom_table(document)
    if rows:
        lines += [
            "",
            "Learned zoom of the exact CayleyNet, beside 1/√(λ₁₅ λ₁₆), which spreads the gap between the frequencies "
            "of the communities and the others most:",
            "",
            *_results.markdown_table(header, rows),
        ]
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------------ figure

# Black for the reference, colours of Okabe and Ito for the rest; markers and dashes tell them apart in grey.
STYLES: dict[str, dict[str, Any]] = {
    EXACT: {"color": "#000000", "linestyle": "--", "marker": "o"},
    CHEBYSHEV: {"color": "#D55E00", "linestyle": "-", "marker": "x"},
    "jacobi 13": {"color": "#0072B2", "linestyle": "-", "marker": "v"},
    "jacobi 9": {"color": "#009E73", "linestyle": "-", "marker": "^"},
    "jacobi 5": {"color": "#56B4E9", "linestyle": "-", "marker": "s"},
    "jacobi 1": {"color": "#CC79A7", "linestyle": "-", "marker": "D"},
    CHEBNET: {"color": "#E69F00", "linestyle": ":", "marker": "*"},
}


def draw(document: Document) -> Figure:
    """Draw accuracies beside the paper's, four filters of both kinds, and the learned zooms over the gap."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 10.5), layout="constrained")
    top, middle, bottom = np.asarray(figure.subfigures(3, 1, height_ratios=(1.25, 1.25, 0.9)))
    ours, paper = top.subplots(1, 2, sharey=True)
    _draw_accuracy(ours, document, "mean", "sd", "ours")
    _draw_accuracy(paper, document, "paper", "paper_sd", "the paper's")
    handles, labels = ours.get_legend_handles_labels()
    top.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    _draw_filters(middle, document)
    _draw_zooms(bottom, document)
    return figure


def _draw_accuracy(ax: Axes, document: Document, mean: str, sd: str, title: str) -> None:
    for model, style in STYLES.items():
        rows = [row for row in document["rows"] if row["model"] == model and row[mean] is not None]
        if not rows:
            continue
        x, y, e = (np.array([row[key] for row in rows]) for key in ("order", mean, sd))
        ax.errorbar(x, y, e, label=NAMES[model], capsize=2, markersize=4.5, linewidth=1.2, elinewidth=0.8, **style)
    ax.set(xlabel="order r", title=title)
    ax.set_xticks(sorted({row["order"] for row in document["rows"]}))
    if mean == "mean":
        ax.set_ylabel("test accuracy, %")
    elif not ax.lines:
        ax.text(0.5, 0.5, "none for these settings", transform=ax.transAxes, ha="center", color="0.4")
    ax.grid(color="0.92", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def _draw_filters(figure: Any, document: Document) -> None:
    """Draw responses of ChebNet over the scaled frequency and of CayleyNet over the unrolled angle."""
    lam = np.array(document["graph"]["eigenvalues"])
    lmax = float(lam[-1])
    cheb, cayley = figure.subplots(2, 1)
    where: Array
    marks: Array
    for ax, model in ((cheb, CHEBNET), (cayley, EXACT)):
        found = [one for one in document["shown"] if one["model"] == model]
        if not found:
            ax.set_axis_off()
            continue
        one = found[0]
        if model == CHEBNET:
            grid = np.linspace(0, lmax, 2000)
            where, marks = 2 * grid / lmax - 1, 2 * lam / lmax - 1
            terms = np.polynomial.chebyshev.chebvander(where, one["order"])
            ax.set_xlabel(r"$\tilde\lambda = 2\lambda/\lambda_n - 1$")
        else:
            grid = np.append(0.0, np.geomspace(1e-3 / one["zoom"], lmax, 2000))
            where, marks = cayley_angle(one["zoom"] * grid), cayley_angle(one["zoom"] * lam)
            terms = power_basis(one["order"], one["zoom"] * grid)
            ax.set_xlabel(f"angle of $C(h\\lambda)$, learned h = {one['zoom']:.3g}")
        ax.vlines(marks[N_COMMUNITIES:], 0, 1, transform=ax.get_xaxis_transform(), colors="0.88", linewidths=0.5)
        ax.vlines(marks[:N_COMMUNITIES], 0, 1, transform=ax.get_xaxis_transform(), colors="0.5", linewidths=0.9)
        for k, c in enumerate(one["filters"]):
            g = terms @ np.array(c)
            style = list(STYLES.values())[k]
            dashes = ("-", "--", "-.", ":")[k]
            ax.plot(where, g / np.abs(g).max(), color=style["color"], linestyle=dashes, linewidth=1.4)
        ax.set_ylabel("response")
        ax.set_title(f"{NAMES[model]}, r = {one['order']}: four filters, each over its largest value", fontsize="small")
        ax.margins(x=0.01)
        ax.spines[["top", "right"]].set_visible(False)


def _draw_zooms(figure: Any, document: Document) -> None:
    """Draw the zoom of every run against the order, and against the zoom that spreads the gap."""
    runs = [run for run in document["runs"] if run["setting"]["model"] == EXACT]
    left, right = figure.subplots(1, 2, sharey=True)
    orders = sorted({run["setting"]["order"] for run in runs})
    markers, shades = "ov^sD*P", np.linspace(0, 0.75, max(len(orders), 1))
    for k, order in enumerate(orders):
        h, best = _zooms(document, order)
        style = {"marker": markers[k % 7], "linestyle": "none", "markersize": 4.5, "color": str(shades[k])}
        left.plot(np.full(len(h), order), h, **style)
        right.plot(best, h, label=f"r = {order}", **style)
    left.set(xlabel="order r", ylabel="learned zoom h", yscale="log", title="CayleyNet, exact: one mark a run")
    left.set_xticks(orders)
    if runs:
        low, high = right.get_xlim()
        right.plot([low, high], [low, high], color="0.6", linewidth=1, label="equal")
        right.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    right.set(xlabel=r"zoom that spreads the gap, $1/\sqrt{\lambda_{15}\lambda_{16}}$", yscale="log")
    for ax in (left, right):
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.set_minor_formatter(lambda value, _: f"{value:g}")
        ax.tick_params(which="minor", labelsize=7)
        ax.title.set_fontsize("small")
        ax.grid(color="0.92", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)


# ------------------------------------------------------------------------------------------------ tuning


def tuning_runs(args: argparse.Namespace) -> list[Run]:
    """Return the runs that the learning rates are chosen by, on seeds of their own."""
    return [
        Run({"model": model, "order": order, "lr": lr}, TUNING_SEED + args.seed + k)
        for k in range(args.runs)
        for model in TUNING_MODELS
        for order in TUNING_ORDERS
        for lr in TUNING_RATES
        if order in args.orders
    ]


def tuning_document(results: Sequence[Document]) -> Document:
    """Return validation accuracies by model, order and learning rate; test signals play no part."""
    rows = _experiment.grouped(results, "best_validation")
    return {
        "rows": [{**row["setting"], "mean": 100 * row["mean"], "sd": 100 * row["sd"], "n": row["n"]} for row in rows]
    }


def tuning_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the validation accuracies."""
    rates = sorted({row["lr"] for row in document["rows"]})
    cells: dict[tuple[str, int], dict[float, str]] = {}
    for row in document["rows"]:
        text = _experiment.beside(row["mean"], row["sd"], None)
        cells.setdefault((row["model"], row["order"]), {})[row["lr"]] = text
    header = ["model", "order r", *(f"lr {rate:g}" for rate in rates)]
    return header, [[NAMES[m], str(r), *(found.get(x, "") for x in rates)] for (m, r), found in cells.items()]


def tuning_markdown(document: Document) -> str:
    """Return the choice of the learning rates as a page of Markdown."""
    lines = [
        "# Community detection: learning rates",
        "",
        *_results.header_lines(document),
        *_experiment.config_lines(document),
        "",
        "Validation accuracy in % of the chosen epoch, on graphs and signals that no run of the experiment uses.",
        "",
        *_results.markdown_table(*tuning_table(document)),
    ]
    return "\n".join(lines) + "\n"


def draw_tuning(document: Document) -> Figure:
    """Draw validation accuracy over learning rate, a line an order."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for ax, model in zip(figure.subplots(1, 2, sharey=True), TUNING_MODELS, strict=True):
        for k, order in enumerate(TUNING_ORDERS):
            rows = [row for row in document["rows"] if row["model"] == model and row["order"] == order]
            if rows:
                x, y, e = (np.array([row[key] for row in rows]) for key in ("lr", "mean", "sd"))
                style = list(STYLES.values())[k]
                ax.errorbar(x, y, e, label=f"r = {order}", capsize=2, markersize=4.5, **style)
        ax.set(xscale="log", xlabel="learning rate", title=NAMES[model])
        ax.grid(color="0.92", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("validation accuracy, %")
    figure.axes[1].legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


# -------------------------------------------------------------------------------------------------- main


def parse_arguments(argv: Sequence[str]) -> tuple[argparse.Namespace, Config]:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m analysis.community",
        description="Train CayleyNets and ChebNets to tell on which of 15 communities a noisy step signal is, and "
        "compare with the paper. Interrupt it whenever you like: the same command goes on where it was.",
    )
    _experiment.add_arguments(parser, FULL, QUICK, runs=10, quick_runs=2)
    parser.add_argument("--models", nargs="+", choices=MODELS, metavar="MODEL", help=f"of {', '.join(MODELS)}")
    parser.add_argument("--orders", nargs="+", type=int, metavar="R", help="orders (default: 1 3 … 13, quick: 1 3)")
    parser.add_argument("--tune", action="store_true", help="try learning rates instead")
    args = parser.parse_args(argv)
    config = _experiment.check_arguments(parser, args)
    if args.tune and args.models:
        parser.error(f"--models must not be given with --tune, which tries {' and '.join(TUNING_MODELS)}")
    args.models = list(dict.fromkeys(args.models or (QUICK_MODELS if args.quick else MODELS)))
    args.orders = sorted(set(args.orders or (QUICK_ORDERS if args.quick else ORDERS)))
    if args.orders[0] < 1:
        parser.error(f"--orders must be 1 or more, got {args.orders[0]}")
    if args.tune and not set(args.orders) & set(TUNING_ORDERS):
        parser.error(f"--orders must have one of {', '.join(map(str, TUNING_ORDERS))} with --tune, got {args.orders}")
    if args.seed + args.runs > TUNING_SEED:
        parser.error(f"--seed must be below {TUNING_SEED - args.runs}: later seeds are for --tune, got {args.seed}")
    return args, config


def runs_of(args: argparse.Namespace) -> list[Run]:
    """Return all runs, a seed at a time, so that the data of a seed is drawn once."""
    return [
        Run({"model": model, "order": order}, args.seed + k)
        for k in range(args.runs)
        for model in args.models
        for order in args.orders
    ]


def compute(argv: Sequence[str], *, quiet: bool = False) -> tuple[argparse.Namespace, Document]:
    """Train what is not trained yet; return what was asked for and the result."""
    args, config = parse_arguments(argv)
    document = _experiment.new_document("analysis.community", argv, args, config)
    experiment = Experiment("community", config, tuning_runs(args) if args.tune else runs_of(args), train)
    results = _experiment.compute(experiment, args.work, workers=args.workers, device=args.device, quiet=quiet)
    document |= tuning_document(results) if args.tune else collect(args, config, results)
    return args, document


def main(argv: Sequence[str] | None = None) -> int:
    """Train, print the tables, and write what was asked for."""
    args, document = compute(sys.argv[1:] if argv is None else argv)
    if args.tune:
        _results.print_table("Validation accuracy, %", *tuning_table(document))
        _results.write_outputs(args, "community_tuning", document, tuning_markdown, draw_tuning)
    else:
        _results.print_table("Test accuracy, % (the paper's, difference)", *table(document))
        _results.write_outputs(args, "community", document, markdown, draw)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
