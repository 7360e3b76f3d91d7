"""A baseline with the settings that do best on validation ratings."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import torch

from analysis._checkpoint import Checkpoint
from analysis._runner import Run
from analysis.movielens.baselines.bias_model import biases
from analysis.movielens.baselines.graph_completion import graph_nuclear
from analysis.movielens.baselines.implicit_feedback import implicit_factors
from analysis.movielens.baselines.neighbours import item_neighbours
from analysis.movielens.baselines.nuclear import inductive, soft_impute
from analysis.movielens.baselines.observed import Observed
from analysis.movielens.baselines.smooth_factors import grals
from analysis.movielens.data import Ratings, load_ratings, part_ratings
from analysis.movielens.settings import BIASES, GMC, GRALS, IMC, IMPLICIT, MC, NEIGHBOURS, BaselineConfig
from cayleygsp._typing import FloatArray, IntArray

# The settings of a model, in the order in which its solver takes them.
_FIELDS = {
    MC: ("mc_penalty",),
    IMC: ("imc_features", "imc_penalty"),
    GMC: ("gmc_penalty", "gmc_smoothness"),
    GRALS: ("grals_rank", "grals_penalty", "grals_smoothness"),
    BIASES: ("user_penalty", "movie_penalty"),
    NEIGHBOURS: ("n_neighbours", "shrinkage"),
    IMPLICIT: ("implicit_rank", "implicit_penalty", "implicit_epochs"),
}


def search(config: BaselineConfig, run: Run, checkpoint: Checkpoint, device: torch.device) -> dict[str, Any]:
    """Try all settings of a model, and return the test error of the best one, fitted again to all training ratings."""
    ratings, model = load_ratings(config.data), run.setting["model"]
    parts = part_ratings(ratings, config.validation_share, run.seed)
    tried = settings(model, config)
    state = checkpoint.load() or {"errors": [], "cpu_seconds": 0.0}
    for values in tried[len(state["errors"]) :]:
        start = time.process_time()
        X = complete(model, ratings, parts.fitted, values, run.seed)
        state["errors"].append(rmse(X, ratings, parts.validation))
        state["cpu_seconds"] += time.process_time() - start
        checkpoint.save(state)
    best = int(np.argmin(state["errors"]))
    start = time.process_time()
    X = complete(model, ratings, ratings.train, tried[best], run.seed)
    names = _FIELDS[model]
    return {
        "rmse": rmse(X, ratings, ratings.test),
        "chosen": dict(zip(names, tried[best], strict=True)),
        "tried": [[*values, error] for values, error in zip(tried, state["errors"], strict=True)],
        "timing": {"cpu_seconds": state["cpu_seconds"], "fit_cpu_seconds": time.process_time() - start},
    }


def settings(model: str, config: BaselineConfig) -> list[tuple[float, ...]]:
    """Return all settings of a model that are tried."""
    fields = _FIELDS[model]
    return list(itertools.product(*(getattr(config, field) for field in fields)))


def complete(model: str, ratings: Ratings, places: IntArray, values: tuple[Any, ...], seed: int) -> FloatArray:
    """Return all ratings as a model completes them from some.

    Parameters
    ----------
    model : str
        Which solver.
    ratings : Ratings
        With the graphs; the solvers see normalized Laplacians.
    places : ndarray of int
        The ratings that are known.
    values : tuple
        One of :func:`settings`.
    seed : int
        Of factors to begin with.
    """
    known = Observed.at(ratings.matrix, places)
    if model == BIASES:
        return biases(known, *values)
    if model == NEIGHBOURS:
        return item_neighbours(known, *values)
    if model == IMPLICIT:
        rank, penalty, n_epochs = values
        return implicit_factors(known, rank, penalty, n_epochs, np.random.default_rng(seed))
    centred, mean = known.centred()
    matrices = ratings.laplacians[0].matrix, ratings.laplacians[1].matrix
    if model == MC:
        return mean + soft_impute(centred, *values)
    if model == IMC:
        return mean + inductive(centred, graph_features(ratings, values[0]), values[1])
    if model == GMC:
        return mean + graph_nuclear(centred, matrices, *values)
    rank, penalty, smoothness = values
    return mean + grals(centred, matrices, rank, penalty, smoothness, np.random.default_rng(seed))


def graph_features(ratings: Ratings, n_features: int) -> tuple[FloatArray, FloatArray]:
    """Return the smoothest eigenvectors of both graphs, the features at hand."""
    first, second = (
        np.ascontiguousarray(L.eigenvectors[:, :n_features], dtype=ratings.matrix.dtype) for L in ratings.laplacians
    )
    return first, second


def rmse(X: FloatArray, ratings: Ratings, places: IntArray) -> float:
    """Return the error at some places, predictions clipped to the scale of the ratings."""
    error = np.clip(X.ravel()[places], 1, 5).astype(np.float64) - ratings.values(places)
    return float(np.sqrt(np.mean(error**2)))
