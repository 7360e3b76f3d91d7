"""Factors of users that know which movies a user rated, whatever the rating was."""

from __future__ import annotations

import numba
import numpy as np

from analysis.movielens.baselines.observed import Observed
from cayleygsp._typing import FloatArray, IntArray


def implicit_factors(
    known: Observed,
    rank: int,
    penalty: float,
    n_epochs: int,
    rng: np.random.Generator,
    rate: float = 0.007,
) -> FloatArray:
    r"""Return the completion by SVD++: biases, and factors with implicit feedback.

    .. math:: \mu + a_u + b_m + q_m^\top \Big( p_u + |N_u|^{-1/2} \sum_{j \in N_u} y_j \Big),

    :math:`N_u` being the movies that the user rated. All parameters are found by stochastic gradient descent, user by
    user; the :math:`y_j` are changed once per user.

    Parameters
    ----------
    known : Observed
        Some ratings.
    rank : int
        Entries of p, q and y.
    penalty : float
        Weight of all squares, per rating.
    n_epochs : int
        Passes over the ratings; the rate falls by a tenth after each.
    rng : numpy.random.Generator
        Of the factors to begin with, and of the order of the users.
    rate : float
        Learning rate.

    References
    ----------
    .. [1] Y. Koren, "Factorization meets the neighborhood: a multifaceted collaborative filtering model", KDD 2008.
    """
    n_users, n_movies = known.mask.shape
    starts = np.append(0, np.cumsum(known.mask.sum(axis=1)))
    movies = known.rows_columns[1]
    mean = known.entries.mean(dtype=np.float64)
    left = known.entries.astype(np.float64) - mean
    a, b = np.zeros(n_users), np.zeros(n_movies)
    P, Q, Y = (0.1 * rng.standard_normal((n, rank)) for n in (n_users, n_movies, n_movies))
    for epoch in range(n_epochs):
        descend(rng.permutation(n_users), starts, movies, left, a, b, P, Q, Y, rate * 0.9**epoch, penalty)
    for user in range(n_users):
        rated = movies[starts[user] : starts[user + 1]]
        P[user] += Y[rated].sum(axis=0) / np.sqrt(max(len(rated), 1))
    return (mean + a[:, None] + b + P @ Q.T).astype(known.values.dtype)


@numba.njit(nogil=True)
def descend(
    users: IntArray,
    starts: IntArray,
    movies: IntArray,
    left: FloatArray,
    a: FloatArray,
    b: FloatArray,
    P: FloatArray,
    Q: FloatArray,
    Y: FloatArray,
    rate: float,
    penalty: float,
) -> None:
    """Go once over all ratings, a user at a time, and change biases and factors in place."""
    rank = P.shape[1]
    implicit, gathered = np.empty(rank), np.empty(rank)
    for u in users:
        first, last = starts[u], starts[u + 1]
        share = 1 / np.sqrt(max(last - first, 1))
        for d in range(rank):
            implicit[d] = gathered[d] = 0.0
            for k in range(first, last):
                implicit[d] += share * Y[movies[k], d]
        for k in range(first, last):
            m = movies[k]
            error = left[k] - a[u] - b[m]
            for d in range(rank):
                error -= (P[u, d] + implicit[d]) * Q[m, d]
            a[u] += rate * (error - penalty * a[u])
            b[m] += rate * (error - penalty * b[m])
            for d in range(rank):
                q, p = Q[m, d], P[u, d]
                gathered[d] += error * q
                Q[m, d] += rate * (error * (p + implicit[d]) - penalty * q)
                P[u, d] += rate * (error * q - penalty * p)
        for k in range(first, last):
            for d in range(rank):
                Y[movies[k], d] += rate * (share * gathered[d] - penalty * Y[movies[k], d])
