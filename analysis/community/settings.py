"""What is trained: the models, their orders, and the configuration of a run."""

from __future__ import annotations

import dataclasses

import numpy as np

from analysis._experiment import check_settings
from analysis._networks import CHEBNET, CHEBYSHEV, EXACT, N_COMMUNITIES, SWEEPS
from cayleygsp._validation import check_choice
from cayleygsp.nn.coordinates import COEFFICIENTS, PARAMETRIZATIONS

MODELS = (EXACT, *(f"jacobi {K}" for K in SWEEPS), CHEBYSHEV, CHEBNET)

NAMES = {
    EXACT: "CayleyNet, exact",
    CHEBYSHEV: "CayleyNet, our series",
    CHEBNET: "ChebNet",
    **{f"jacobi {K}": f"CayleyNet, K = {K}" for K in SWEEPS},
}

# Filters of a run that are kept for the figure, and the order whose filters are drawn.
N_SHOWN = 4

SHOWN_ORDER = 3

# Seeds from here on belong to the choice of learning rates.
TUNING_SEED = 1_000_000

TUNING_RATES = (0.01, 0.03, 0.1, 0.3)

TUNING_MODELS = (EXACT, CHEBNET)

TUNING_ORDERS = (1, 3, 7, 13)

QUICK_MODELS = (EXACT, "jacobi 1", "jacobi 5", CHEBYSHEV, CHEBNET)

QUICK_ORDERS = (1, 3)

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
    parametrization : str
        What CayleyNets learn: their "coefficients", as in the paper, or coordinates that are "orthogonal" over the
        spectrum, as layers do by default.
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
    parametrization: str = COEFFICIENTS

    def __post_init__(self) -> None:
        """Reject invalid settings."""
        if self.smallest < 2 or self.largest - self.smallest < N_COMMUNITIES - 1:
            raise ValueError(
                f"`smallest` must be 2 or more and `largest` at least {N_COMMUNITIES - 1} more, so that no two "
                f"communities are of a size, got {self.smallest} and {self.largest}"
            )
        for name in ("p_in", "p_out"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"`{name}` must be within 0 and 1, got {getattr(self, name)}")
        check_choice(self.parametrization, "parametrization", PARAMETRIZATIONS)
        if not 0 <= self.spread < 1:
            raise ValueError(f"`spread` must be at least 0 and less than 1, got {self.spread}")
        counts = ("n_train", "n_validation", "n_test", "epochs", "batch")
        positive = (*counts, "lr", "cheb_lr", "zoom", "tol")
        check_settings(self, positive, ("noise", "zoom_lr"))
        if self.batch == 1 or self.n_train % self.batch == 1:
            raise ValueError(
                f"`batch` must leave no step with a single signal, got {self.batch} for {self.n_train} training signals"
            )

    @property
    def sizes(self) -> list[int]:
        """Sizes of the communities."""
        return np.linspace(self.smallest, self.largest, N_COMMUNITIES).round().astype(int).tolist()


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

FULL = Config()
