"""What is trained: the networks and the configuration of a run."""

from __future__ import annotations

import dataclasses
from typing import Any

from analysis._experiment import check_settings
from cayleygsp.nn.coordinates import COEFFICIENTS, PARAMETRIZATIONS

MNIST, DRAWN = "mnist", "drawn"

LENET, CHEBNET, CAYLEYNET, JACOBI = "lenet5", "chebnet", "cayleynet", "cayleynet-jacobi"

MODELS = (LENET, CHEBNET, CAYLEYNET)

ALL_MODELS = (*MODELS, JACOBI)

QUICK_MODELS = (CHEBNET, CAYLEYNET)

# The paper's scheme is trained for the first epoch alone, to compare its loss with that of our filters.
JACOBI_EPOCHS = 1

NAMES = {LENET: "LeNet5", CHEBNET: "ChebNet", CAYLEYNET: "CayleyNet"}

NAMES[JACOBI] = "CayleyNet, the paper's Jacobi, first epoch"

# Settings that networks without Cayley filters, and those without filters on graphs, do not have.
_OF_CAYLEY = ("tol", "sweeps", "zoom", "parametrization", "clip")

_OF_GRAPHS = ("order", "second", "tree")

# How the second convolution is computed: in the eigenbasis of its small graph, or by the layers' recurrences.
EXACT, SERIES = "exact", "series"

# Test accuracy in %.
PAPER_ACCURACY = {LENET: 99.33, CHEBNET: 99.14, CAYLEYNET: 99.18}

# Seconds for 100 test images, on a graphics card.
PAPER_TEST_SECONDS = {CHEBNET: 0.0268, CAYLEYNET: 0.1776}


@dataclasses.dataclass(frozen=True)
class Config:
    """What decides the numbers of a run besides its network and its seed.

    Attributes
    ----------
    data : str
        "mnist", or "drawn" for digits that are drawn.
    n_train, n_validation, n_test : int
        Images. The first of the training file are for validation, as in the authors' code.
    features : tuple of int
        Channels of the two convolutions.
    hidden : int
        Units of the dense layer.
    order : int
        r of the Cayley filters; Chebyshev filters have 2r + 1 terms.
    second : str
        "exact" computes the second convolution in the eigenbasis, "series" by the recurrences.
    tol : float
        Of the series of Cayley filters.
    sweeps : int
        Jacobi sweeps after the start vector.
    zoom : float
        The zoom h that Cayley filters start from.
    parametrization : str
        What Cayley filters learn, see :class:`cayleygsp.nn.CayleyConv`.
    spread : float
        Standard deviation of the weights and coefficients at the start.
    bias : float
        Biases at the start.
    tree : int
        Seed of the coarsening.
    epochs, batch : int
        Passes over the training images, and images per step.
    lr, momentum, decay : float
        Learning rate, its momentum, and its factor after every epoch.
    clip : float
        Largest norm of the gradient, for Cayley filters alone, as in the authors' code.
    penalty : float
        Weight of half the squares of the dense layers.
    dropout : float
        Share of the hidden units.
    """

    data: str = MNIST
    n_train: int = 55_000
    n_validation: int = 5_000
    n_test: int = 10_000
    features: tuple[int, ...] = (32, 64)
    hidden: int = 512
    order: int = 12
    second: str = EXACT
    tol: float = 1e-4
    sweeps: int = 10
    zoom: float = 1.0
    parametrization: str = COEFFICIENTS
    spread: float = 0.1
    bias: float = 0.1
    tree: int = 1
    epochs: int = 20
    batch: int = 100
    lr: float = 0.02
    momentum: float = 0.9
    decay: float = 0.95
    clip: float = 10.0
    penalty: float = 5e-4
    dropout: float = 0.5

    def __post_init__(self) -> None:
        """Reject invalid settings."""
        choices_of = {"data": (MNIST, DRAWN), "second": (EXACT, SERIES), "parametrization": PARAMETRIZATIONS}
        for name, choices in choices_of.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"`{name}` must be {' or '.join(choices)}, got {getattr(self, name)}")
        if len(self.features) != 2:
            raise ValueError(f"`features` must be two numbers, got {len(self.features)}")
        sizes = ("n_train", "n_validation", "n_test", "features", "hidden", "order", "epochs", "batch")
        positive = (*sizes, "lr", "decay", "clip", "tol", "zoom", "spread")
        check_settings(self, positive, ("sweeps", "tree", "momentum", "penalty", "dropout"))
        if not self.dropout < 1 or not self.momentum < 1:
            raise ValueError(f"`dropout` and `momentum` must be below 1, got {self.dropout} and {self.momentum}")
        if self.n_train % self.batch:
            raise ValueError(f"`n_train` must be a multiple of `batch`, got {self.n_train} and {self.batch}")


FULL = Config()
QUICK = Config(
    n_train=1_000, n_validation=200, n_test=200, features=(8, 16), hidden=64, order=4, epochs=4, batch=50, lr=0.05
)


def settings_of(model: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return of a configuration, as files have it, what a network depends on."""
    others: tuple[str, ...] = ()
    if model in (LENET, CHEBNET):
        others = (*_OF_CAYLEY, *(_OF_GRAPHS if model == LENET else ()))
    elif model == CAYLEYNET:
        others = ("sweeps",)
    return {name: value for name, value in config.items() if name not in others}


def epochs_of(model: str, config: Config) -> int:
    """Return for how many epochs a network is trained."""
    return min(config.epochs, JACOBI_EPOCHS) if model == JACOBI else config.epochs
