"""What is trained: the models and the configuration of a run."""

from __future__ import annotations

import dataclasses

from analysis._experiment import check_settings

MOVIELENS, DRAWN = "movielens", "drawn"

CHEB4, CHEB8 = "srgcnn-cheb4", "srgcnn-cheb8"

CAYLEY, JACOBI, ORTHOGONAL = "srgcnn-cayley", "srgcnn-cayley-jacobi", "srgcnn-cayley-orthogonal"

NETWORKS = (CHEB4, CHEB8, CAYLEY, JACOBI, ORTHOGONAL)

MC, IMC, GMC, GRALS = "mc", "imc", "gmc", "grals"

BIASES, NEIGHBOURS, IMPLICIT = "biases", "item-knn", "svd++"

BASELINES = (MC, IMC, GMC, GRALS, BIASES, NEIGHBOURS, IMPLICIT)

MODELS = (*NETWORKS, *BASELINES)

QUICK_MODELS = (CHEB4, CAYLEY, MC, GRALS)

NAMES = {
    CHEB4: "sRGCNN, Chebyshev, r = 4",
    CHEB8: "sRGCNN, Chebyshev, r = 8",
    CAYLEY: "sRGCNN, Cayley, r = 4, our series",
    JACOBI: "sRGCNN, Cayley, r = 4, 15 Jacobi iterations",
    ORTHOGONAL: "sRGCNN, Cayley, r = 4, our series, learned in orthogonal coordinates",
    MC: "MC, nuclear norm",
    IMC: "IMC, nuclear norm with features",
    GMC: "GMC, nuclear norm and graphs",
    GRALS: "GRALS, smooth factors",
    BIASES: "biases of users and movies",
    NEIGHBOURS: "item nearest neighbours",
    IMPLICIT: "SVD++, factors with implicit feedback",
}

PAPER, VALIDATION = "paper", "validation"

PROTOCOLS = (PAPER, VALIDATION)

# Orders of the filters, and Jacobi sweeps where the paper's scheme is used.
ORDERS = {CHEB4: 4, CHEB8: 8, CAYLEY: 4, JACOBI: 4, ORTHOGONAL: 4}

SWEEPS = 15


@dataclasses.dataclass(frozen=True)
class Config:
    """What decides the numbers of a network besides model, protocol and seed.

    Attributes
    ----------
    data : str
        "movielens", or "drawn" for a small problem.
    steps : int
        Steps of Adam, each on all ratings.
    every : int
        After how many steps the network is looked at.
    rank : int
        Columns of the factors.
    features : int
        Of the convolutions and of the recurrent cells.
    diffusions : int
        How often the factors are changed.
    gamma : float
        Weight of the smoothness on both graphs.
    lr : float
        Learning rate.
    zoom : float
        The zoom h that the Cayley filters start from.
    tol : float
        Of their series.
    validation_share : float
        Of the training ratings, in the protocol that has validation ratings.
    """

    data: str = MOVIELENS
    steps: int = 10_000
    every: int = 10
    rank: int = 10
    features: int = 32
    diffusions: int = 10
    gamma: float = 1e-10
    lr: float = 1e-3
    zoom: float = 0.5
    tol: float = 1e-4
    validation_share: float = 0.1

    def __post_init__(self) -> None:
        """Reject invalid settings."""
        if self.data not in (MOVIELENS, DRAWN):
            raise ValueError(f"`data` must be {MOVIELENS} or {DRAWN}, got {self.data}")
        positive = ("steps", "every", "rank", "features", "diffusions", "lr", "zoom", "tol")
        check_settings(self, positive, ("gamma",))
        if self.steps % self.every:
            raise ValueError(f"`steps` must be a multiple of `every`, got {self.steps} and {self.every}")
        if not 0 < self.validation_share < 1:
            raise ValueError(f"`validation_share` must be within 0 and 1, got {self.validation_share}")


QUICK = Config(data=DRAWN, steps=150, rank=4, features=8, diffusions=3, lr=3e-2)

FULL = Config()


@dataclasses.dataclass(frozen=True)
class BaselineConfig:
    """What decides the numbers of a baseline besides model and seed: all settings that are tried.

    Attributes
    ----------
    data : str
        As in :class:`Config`.
    validation_share : float
        Of the training ratings, which choose among the settings.
    mc_penalty : tuple of float
        Weights of the nuclear norm, MC.
    imc_features : tuple of int
        How many eigenvectors of each graph are features, IMC.
    imc_penalty : tuple of float
        Weights of the nuclear norm, IMC.
    gmc_penalty, gmc_smoothness : tuple of float
        Weights of the nuclear norm and of the smoothness, GMC.
    grals_rank : tuple of int
        Columns of the factors, GRALS.
    grals_penalty, grals_smoothness : tuple of float
        Weights of the squares and of the smoothness, GRALS.
    user_penalty, movie_penalty : tuple of float
        Of the biases.
    n_neighbours : tuple of int
        Nearest neighbours.
    shrinkage : tuple of float
        Of their similarities.
    implicit_rank : tuple of int
        Entries of the factors, SVD++.
    implicit_penalty : tuple of float
        Weights of the squares, SVD++.
    implicit_epochs : tuple of int
        Passes over the ratings, SVD++.
    """

    data: str = MOVIELENS
    validation_share: float = 0.1
    mc_penalty: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
    imc_features: tuple[int, ...] = (50, 200, 500)
    imc_penalty: tuple[float, ...] = (0.5, 2.0, 8.0)
    gmc_penalty: tuple[float, ...] = (4.0, 8.0, 16.0)
    gmc_smoothness: tuple[float, ...] = (0.01, 0.1, 1.0)
    grals_rank: tuple[int, ...] = (10, 20)
    grals_penalty: tuple[float, ...] = (1.0, 4.0, 16.0)
    grals_smoothness: tuple[float, ...] = (1.0, 4.0, 16.0, 64.0)
    user_penalty: tuple[float, ...] = (1.0, 3.0, 10.0, 30.0)
    movie_penalty: tuple[float, ...] = (1.0, 3.0, 10.0)
    n_neighbours: tuple[int, ...] = (20, 40, 80)
    shrinkage: tuple[float, ...] = (10.0, 30.0, 100.0, 300.0)
    implicit_rank: tuple[int, ...] = (10, 20, 40)
    implicit_penalty: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2)
    implicit_epochs: tuple[int, ...] = (20, 40)


QUICK_BASELINES = BaselineConfig(
    data=DRAWN,
    mc_penalty=(2.0, 4.0),
    imc_features=(5,),
    imc_penalty=(1.0,),
    gmc_penalty=(1.0, 2.0),
    gmc_smoothness=(0.1,),
    grals_rank=(4,),
    grals_penalty=(1.0,),
    grals_smoothness=(1.0, 3.0),
    user_penalty=(2.0,),
    movie_penalty=(2.0,),
    n_neighbours=(10,),
    shrinkage=(5.0,),
    implicit_rank=(2,),
    implicit_penalty=(0.05,),
    implicit_epochs=(20,),
)

FULL_BASELINES = BaselineConfig()


# Test error (root of the mean square) of the paper's table.
PAPER_RMSE = {
    MC: 0.973,
    IMC: 1.653,
    GMC: 0.996,
    GRALS: 0.945,
    CHEB4: 0.929,
    CHEB8: 0.925,
    CAYLEY: 0.922,
    JACOBI: 0.922,
    ORTHOGONAL: 0.922,
}


PAPER_STEPS = 10_000

# Test errors along the training in the log of the authors' code, Chebyshev filters of order 4: step and error.
LOGGED = {0: 1.23, 10: 1.14, 50: 1.08, 9_880: 0.929}

# Time of a test, relative to Chebyshev filters of order 4.
PAPER_TEST_TIMES = {CHEB4: 1.0, CAYLEY: 2.4, JACOBI: 2.4}

PAPER_PARAMETERS = {CHEB4: 20_564, CHEB8: 23_124, CAYLEY: 23_126, JACOBI: 23_126, ORTHOGONAL: 23_126}

# Published elsewhere and not computed here.
PUBLISHED = {
    "GC-MC with features (van den Berg, Kipf and Welling 2017)": 0.905,
}
