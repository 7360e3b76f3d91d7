"""The test time of a CayleyNet against that of a ChebNet, on the paper's MNIST network."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from torch import Tensor, nn

from analysis import _timing
from analysis._comparison import Side, make_row, side_of
from analysis._document import Document
from analysis._mnist_network import GraphNetwork, mnist_tree, n_parameters
from analysis._script import Step
from analysis.benchmark_nn.problems import exact_copy, relative_error, signals
from analysis.benchmark_nn.settings import CAYLEY_LIMIT, ORDER, TERMS, TOL, Sizes
from cayleygsp._typing import Array
from cayleygsp.nn import CayleyConv, ChebConv

MOST_RATIO = 1.4

# How the two convolutions are computed, for both kinds of filters: by recurrences, or the second in the eigenbasis.
WAYS = (("by recurrences", False), ("second layer in the eigenbasis", True))


def cheb_layer(exact: bool) -> Callable[[int, int, int], nn.Module]:
    """Return how Chebyshev layers are made: by recurrences, but for ``exact`` on coarse levels."""

    def make(level: int, in_channels: int, out_channels: int) -> nn.Module:
        is_exact = exact and level > 0
        return ChebConv(in_channels, out_channels, TERMS, bias=False, method="exact" if is_exact else "recurrence")

    return make


def cayley_layer(exact: bool) -> Callable[[int, int, int], nn.Module]:
    """Return how Cayley layers are made: by series, but for ``exact`` on coarse levels."""

    def make(level: int, in_channels: int, out_channels: int) -> nn.Module:
        sizes, is_exact = (in_channels, out_channels), exact and level > 0
        return CayleyConv(*sizes, ORDER, bias=False, method="exact" if is_exact else "chebyshev", tol=TOL)

    return make


def network_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare the test time of a CayleyNet with that of a ChebNet with as many parameters, computed in both ways."""
    tree = mnist_tree(sizes.side, args.seed)
    x = signals(args.seed, sizes.batch, tree.n_vertices, 1, device=args.device)
    rows = []
    for way, exact in WAYS:
        step(f"networks, {way}")
        torch.manual_seed(args.seed)
        cayley, cheb = (
            GraphNetwork(tree, make(exact), sizes.features, sizes.hidden).to(args.device).eval()
            for make in (cayley_layer, cheb_layer)
        )
        rows.append(_test_row(cayley, cheb, x, way, args.repeats))
    return rows


def _test_row(cayley: nn.Module, cheb: nn.Module, x: Tensor, way: str, repeats: int) -> Document:
    sides = [
        Side("CayleyNet", _inference(cayley, x), CAYLEY_LIMIT),
        Side("ChebNet", _inference(cheb, x), 1e-4),
    ]
    with torch.no_grad():
        errors = [
            relative_error(exact_copy(net)(x.double()).cpu().numpy())(side.call())
            for net, side in zip((cayley, cheb), sides, strict=True)
        ]
    measured = _timing.interleave({side.name: side.call for side in sides}, repeats)
    pair = [side_of(side, error, measured[side.name]) for side, error in zip(sides, errors, strict=True)]
    value = _timing.summary(_timing.ratios(measured["CayleyNet"], measured["ChebNet"]))
    work = f"MNIST network, {len(x)} images, test time, {way}: CayleyNet over ChebNet"
    note = f"{n_parameters(cayley):,} parameters against {n_parameters(cheb):,}; the paper's ratio is 6.6"
    return make_row(work, pair[0], pair[1], "times", value, MOST_RATIO, at_most=True, note=note)


def _inference(net: nn.Module, x: Tensor) -> Callable[[], Array]:
    def call() -> Array:
        with torch.no_grad():
            return net(x).cpu().numpy()

    return call
