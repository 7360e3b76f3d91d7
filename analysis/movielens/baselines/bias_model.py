"""The simplest model: a mean, and how far each user and each movie is from it."""

from __future__ import annotations

import numpy as np

from analysis.movielens.baselines.observed import Observed
from cayleygsp._typing import FloatArray


def biases(known: Observed, user_penalty: float, movie_penalty: float, n_iter: int = 20) -> FloatArray:
    r"""Return :math:`\mu + a_u + b_m` with the least squares, each bias held to zero by a penalty on its square.

    Parameters
    ----------
    known : Observed
        Some ratings.
    user_penalty, movie_penalty : float
        As if each user and movie had so many more ratings at the mean.
    n_iter : int
        Rounds, in which users and movies are solved for in turn.

    References
    ----------
    .. [1] Y. Koren, "Factor in the neighbors: scalable and accurate collaborative filtering", ACM Transactions on
       Knowledge Discovery from Data 4, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from analysis.movielens.baselines.bias_model import biases
    >>> from analysis.movielens.baselines.observed import Observed
    >>> ratings = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> biases(Observed.at(ratings, np.arange(4)), 0.0, 0.0)
    array([[1., 2.],
           [3., 4.]])
    """
    centred, mean = known.centred()
    R = centred.as_sparse(centred.entries.astype(np.float64))
    ones = centred.as_sparse(np.ones(len(centred.entries)))
    n_of_user, n_of_movie = (ones.sum(axis=k) for k in (1, 0))
    of_movie = np.zeros(R.shape[1])
    for _ in range(n_iter):
        of_user = (R.sum(axis=1) - ones @ of_movie) / np.maximum(n_of_user + user_penalty, 1e-12)
        of_movie = (R.sum(axis=0) - ones.T @ of_user) / np.maximum(n_of_movie + movie_penalty, 1e-12)
    return (mean + of_user[:, None] + of_movie).astype(known.values.dtype)
