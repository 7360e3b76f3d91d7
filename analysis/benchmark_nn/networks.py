"""The test time of a CayleyNet against that of a ChebNet."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from torch import Tensor, nn

from analysis import _timing
from analysis._comparison import Side, make_row, side_of
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_nn.problems import (
    exact_copy,
    laplacian_of,
    mnist_tree,
    relative_error,
    signals,
)
from analysis.benchmark_nn.settings import CAYLEY_LIMIT, ORDER, TERMS, TOL, Sizes
from cayleygsp._typing import Array
from cayleygsp.coarsening import Coarsening
from cayleygsp.nn import CayleyConv, ChebConv, GraclusPooling, GraphLaplacian


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


def network_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare the test time of a CayleyNet with that of a ChebNet with as many parameters."""
    step("networks")
    tree = mnist_tree(sizes, args.seed)
    x = signals(args.seed, sizes.batch, tree.sizes[0], 1, device=args.device)
    x[:, torch.tensor(tree.is_fake[0], device=args.device)] = 0
    torch.manual_seed(args.seed)
    cayley = Network(tree, sizes, lambda i, o: CayleyConv(i, o, ORDER, tol=TOL)).to(args.device).eval()
    cheb = Network(tree, sizes, lambda i, o: ChebConv(i, o, TERMS)).to(args.device).eval()
    sides = [
        Side("CayleyNet", _inference(cayley, x), CAYLEY_LIMIT),
        Side("ChebNet", _inference(cheb, x), 1e-4),
    ]
    with torch.no_grad():
        errors = [
            relative_error(exact_copy(net)(x.double()).cpu().numpy())(side.call())
            for net, side in zip((cayley, cheb), sides, strict=True)
        ]
    measured = _timing.interleave({side.name: side.call for side in sides}, args.repeats)
    counts = [sum(parameter.numel() for parameter in net.parameters()) for net in (cayley, cheb)]
    pair = [side_of(side, error, measured[side.name]) for side, error in zip(sides, errors, strict=True)]
    value = _timing.summary(_timing.ratios(measured["CayleyNet"], measured["ChebNet"]))
    work = f"MNIST network, {sizes.batch} images, test time: CayleyNet over ChebNet"
    note = f"{counts[0]:,} parameters against {counts[1]:,}; the paper's ratio is 6.6"
    return [make_row(work, pair[0], pair[1], "times", value, 1.6, at_most=True, note=note)]


def _inference(net: nn.Module, x: Tensor) -> Callable[[], Array]:
    def call() -> Array:
        with torch.no_grad():
            return net(x).cpu().numpy()

    return call
