"""Movies that were rated alike."""

from __future__ import annotations

import numpy as np

from analysis.movielens.baselines.bias_model import biases
from analysis.movielens.baselines.observed import Observed
from cayleygsp._typing import FloatArray


def item_neighbours(
    known: Observed, n_neighbours: int, shrinkage: float, user_penalty: float = 10.0, movie_penalty: float = 2.0
) -> FloatArray:
    r"""Return biases plus the mean of what is left at the nearest movies that the user rated.

    Similarity of two movies is the correlation of what the biases leave, over the users who rated both, times
    :math:`c/(c + s)` for c such users and a shrinkage s; negative ones do not count.

    Parameters
    ----------
    known : Observed
        Some ratings.
    n_neighbours : int
        How many movies, of those that the user rated, are looked at.
    shrinkage : float
        The number s, which is also added to the sum of the similarities that the mean is divided by, over 100.
    user_penalty, movie_penalty : float
        Of the biases.

    References
    ----------
    .. [1] Y. Koren, "Factor in the neighbors: scalable and accurate collaborative filtering", ACM Transactions on
       Knowledge Discovery from Data 4, 2010.
    """
    base = biases(known, user_penalty, movie_penalty)
    left = known.minus(base).values
    mask = known.mask.astype(left.dtype)
    common, power = mask.T @ mask, (left**2).T @ mask
    scale = np.sqrt(power * power.T)
    similarity = np.divide(left.T @ left, scale, out=np.zeros_like(scale), where=scale > 0)
    similarity *= common / (common + shrinkage)
    np.fill_diagonal(similarity, 0)
    np.maximum(similarity, 0, out=similarity)
    scores = base.copy()
    for user in range(len(base)):
        rated = np.flatnonzero(known.mask[user])
        near = similarity[:, rated]
        if len(rated) > n_neighbours:
            least = np.partition(near, -n_neighbours, axis=1)[:, -n_neighbours, None]
            near = np.where(near >= least, near, 0)
        scores[user] += near @ left[user, rated] / (near.sum(axis=1) + shrinkage / 100)
    return scores
