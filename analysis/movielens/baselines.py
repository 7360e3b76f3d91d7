"""Matrix completion without networks: short solvers of the problems that the paper compares with, and their settings.

Nuclear norm (MC), also with features of both sides (IMC) or smoothness on both graphs (GMC); factors that are smooth on
both graphs (GRALS); biases, item neighbours and SVD++, which know no graph. Each solver takes the ratings that are
known and returns the whole matrix; :func:`search` chooses the settings of each on validation ratings.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import torch
from scipy import linalg

from analysis._runner import Run
from analysis._training import Checkpoint
from analysis.movielens.data import Observed, Ratings, load_ratings, part_ratings
from analysis.movielens.settings import BIASES, GMC, GRALS, IMC, IMPLICIT, MC, NEIGHBOURS, BaselineConfig
from cayleygsp._typing import FloatArray, IntArray

_CG_ITER = 10

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


def shrink(matrix: FloatArray, threshold: float) -> FloatArray:
    r"""Return :math:`\arg\min_X \frac12 \|X - Y\|_F^2 + \tau \|X\|_*`: every singular value of Y less τ, if it is more.

    It goes through the eigenvalues of the smaller of :math:`Y Y^\top` and :math:`Y^\top Y`, which is cheaper than
    singular values and exact enough where τ is not tiny beside the largest of them.

    Parameters
    ----------
    matrix : ndarray, shape (n, m)
        The matrix Y.
    threshold : float
        The number τ, 0 or more.

    Examples
    --------
    >>> import numpy as np
    >>> from analysis.movielens.baselines import shrink
    >>> shrink(np.diag([3.0, 1.0, 0.5]), 1.0).round(6) + 0.0
    array([[2., 0., 0.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """
    if threshold == 0:
        return matrix
    if matrix.shape[0] > matrix.shape[1]:
        return shrink(matrix.T, threshold).T
    squares, U = linalg.eigh(matrix @ matrix.T, subset_by_value=(threshold**2, np.inf), driver="evr")
    if not squares.size:
        return np.zeros_like(matrix)
    factors = (1 - threshold / np.sqrt(squares)).astype(matrix.dtype)
    return (U * factors) @ (U.T @ matrix)


def solve(
    operator: Callable[[FloatArray], FloatArray], right: FloatArray, start: FloatArray, n_iter: int, tol: float
) -> FloatArray:
    """Return X with operator(X) = right; the operator is linear, symmetric and positive definite.

    Parameters
    ----------
    operator : callable
        From a matrix to one of the same shape.
    right, start : ndarray
        Right-hand side, and X to begin with.
    n_iter : int
        Most iterations.
    tol : float
        Of the residual, relative to the right-hand side.

    Examples
    --------
    >>> import numpy as np
    >>> from analysis.movielens.baselines import solve
    >>> solve(lambda X: 2 * X, np.ones((1, 2)), np.zeros((1, 2)), 5, 1e-12)
    array([[0.5, 0.5]])
    """
    X = start.copy()
    residual = right - operator(X)
    direction, size = residual.copy(), float(np.vdot(residual, residual))
    enough = (tol * float(np.linalg.norm(right))) ** 2
    for _ in range(n_iter):
        if size <= enough:
            break
        image = operator(direction)
        step = size / float(np.vdot(direction, image))
        X += step * direction
        residual -= step * image
        new = float(np.vdot(residual, residual))
        direction = residual + new / size * direction
        size = new
    return X


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
    >>> from analysis.movielens.baselines import biases
    >>> from analysis.movielens.data import Observed
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


def soft_impute(known: Observed, penalty: float, n_iter: int = 100, tol: float = 1e-4) -> FloatArray:
    r"""Return :math:`\arg\min_X \frac12 \|P_\Omega(X - M)\|_F^2 + \lambda \|X\|_*` (MC).

    Missing entries are filled with those of the last X, then singular values are shrunk [1]_, with Nesterov's momentum.

    Parameters
    ----------
    known : Observed
        The entries of M on Ω.
    penalty : float
        The number λ.
    n_iter : int
        Most iterations.
    tol : float
        An iteration that changes X by less than this, relatively, is the last one.

    References
    ----------
    .. [1] R. Mazumder, T. Hastie and R. Tibshirani, "Spectral regularization algorithms for learning large incomplete
       matrices", Journal of Machine Learning Research 11, 2010. The problem is that of E. Candès and B. Recht, "Exact
       matrix completion via convex optimization", Foundations of Computational Mathematics 9, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from analysis.movielens.baselines import soft_impute
    >>> from analysis.movielens.data import Observed
    >>> known = Observed.at(np.ones((3, 3)), np.array([0, 1, 2, 3, 4, 6, 8]))
    >>> soft_impute(known, 0.01, n_iter=500, tol=1e-8).round(1)
    array([[1., 1., 1.],
           [1., 1., 1.],
           [1., 1., 1.]])
    """
    return accelerated(
        lambda X: shrink(np.where(known.mask, known.values, X), penalty), np.zeros_like(known.values), n_iter, tol
    )


def accelerated(step: Callable[[FloatArray], FloatArray], start: FloatArray, n_iter: int, tol: float) -> FloatArray:
    """Return the last of some proximal steps with Nesterov's momentum; one that changes less than ``tol`` ends them."""
    previous = ahead = start
    momentum = 1.0
    for _ in range(n_iter):
        X = step(ahead)
        change, size = np.linalg.norm(X - previous), np.linalg.norm(X)
        momentum, last = (1 + math.sqrt(1 + 4 * momentum**2)) / 2, momentum
        ahead, previous = X + (last - 1) / momentum * (X - previous), X
        if change <= tol * size:
            break
    return previous


def inductive(
    known: Observed, features: tuple[FloatArray, FloatArray], penalty: float, n_iter: int = 200, tol: float = 1e-4
) -> FloatArray:
    r"""Return the completion :math:`X = A Z B^\top` of low rank with features of rows and columns (IMC).

    .. math:: \min_Z \tfrac12 \|P_\Omega(A Z B^\top - M)\|_F^2 + \lambda \|Z\|_*

    Parameters
    ----------
    known : Observed
        The entries of M on Ω.
    features : tuple of ndarray, shapes (n, k) and (m, l)
        A and B, with orthonormal columns, so that steps of length 1 are safe.
    penalty : float
        The number λ.
    n_iter : int
        Most iterations.
    tol : float
        As in :func:`soft_impute`, which this is for A and B the identity.

    References
    ----------
    .. [1] P. Jain and I. Dhillon, "Provable inductive matrix completion", arXiv:1306.0626, 2013.
    .. [2] M. Xu, R. Jin and Z.-H. Zhou, "Speedup matrix completion with side information", NIPS 2013: this problem.
    """
    A, B = features

    def step(Z: FloatArray) -> FloatArray:
        residual = np.where(known.mask, known.values - A @ Z @ B.T, known.values.dtype.type(0))
        return shrink(Z + A.T @ residual @ B, penalty)

    start = np.zeros((A.shape[1], B.shape[1]), known.values.dtype)
    return A @ accelerated(step, start, n_iter, tol) @ B.T


def graph_nuclear(
    known: Observed,
    laplacians: tuple[Any, Any],
    penalty: float,
    smoothness: float,
    rho: float = 1.0,
    n_iter: int = 60,
    tol: float = 1e-3,
) -> FloatArray:
    r"""Return the completion by nuclear norm and graphs (GMC), by the alternating direction method of multipliers.

    .. math:: \min_X \tfrac12 \|P_\Omega(X - M)\|_F^2 + \lambda \|X\|_*
              + \tfrac\gamma2 \big(\mathrm{tr}\,X^\top \Delta_r X + \mathrm{tr}\,X \Delta_c X^\top\big)

    One copy of X has its singular values shrunk, the other solves a linear system by conjugate gradients; multipliers
    bring the two together.

    Parameters
    ----------
    known : Observed
        The entries of M on Ω.
    laplacians : tuple of sparse arrays
        Those of the rows and of the columns.
    penalty, smoothness : float
        The numbers λ and γ.
    rho : float
        Weight of the difference between the copies; it decides how fast they meet, not where.
    n_iter : int
        Most iterations.
    tol : float
        The iteration ends when the copies differ, and change, by less than this relatively.

    References
    ----------
    .. [1] V. Kalofolias, X. Bresson, M. Bronstein and P. Vandergheynst, "Matrix completion on graphs",
       arXiv:1408.1717, 2014.
    """
    rows, columns = (L.astype(known.values.dtype) for L in laplacians)

    def operator(Y: FloatArray) -> FloatArray:
        smooth = rows @ Y + (columns @ Y.T).T
        return np.where(known.mask, 1 + rho, rho).astype(Y.dtype) * Y + smoothness * smooth

    Y = known.values.copy()
    multiplier = np.zeros_like(Y)
    for _ in range(n_iter):
        X = shrink(Y + multiplier, penalty / rho)
        right = known.values + rho * (X - multiplier)
        before, Y = Y, solve(operator, right, Y, 20, tol / 10)
        multiplier += Y - X
        largest = max(np.linalg.norm(Y - X), np.linalg.norm(Y - before))
        if largest <= tol * np.linalg.norm(Y):
            break
    return Y


def grals(
    known: Observed,
    laplacians: tuple[Any, Any],
    rank: int,
    penalty: float,
    smoothness: float,
    rng: np.random.Generator,
    n_iter: int = 40,
    tol: float = 1e-4,
) -> FloatArray:
    r"""Return :math:`X = W H^\top` by graph-regularised alternating least squares (GRALS).

    .. math:: \min_{W, H} \tfrac12 \|P_\Omega(W H^\top - M)\|_F^2
              + \tfrac12 \mathrm{tr}\,W^\top (\lambda I + \gamma \Delta_r) W
              + \tfrac12 \mathrm{tr}\,H^\top (\lambda I + \gamma \Delta_c) H

    Each factor in turn is found by some conjugate gradients, as the graph ties its rows together.

    Parameters
    ----------
    known : Observed
        The entries of M on Ω.
    laplacians : tuple of sparse arrays
        Those of the rows and of the columns.
    rank : int
        Columns of the factors.
    penalty, smoothness : float
        The numbers λ and γ.
    rng : numpy.random.Generator
        Of the factors to begin with.
    n_iter : int
        Most rounds.
    tol : float
        A round that changes the entries on Ω by less than this, relatively, is the last one.

    References
    ----------
    .. [1] N. Rao, H.-F. Yu, P. Ravikumar and I. Dhillon, "Collaborative filtering with graph information: consistency
       and scalable methods", NIPS 2015.
    """
    dtype = known.values.dtype
    L = [laplacian.astype(dtype) for laplacian in laplacians]
    W, H = (rng.standard_normal((n, rank)).astype(dtype) / np.sqrt(rank) for n in known.mask.shape)
    rows, columns = known.rows_columns
    M = known.as_sparse(known.entries)
    previous = np.zeros_like(known.entries)
    for _ in range(n_iter):

        def for_rows(S: FloatArray, H: FloatArray = H) -> FloatArray:
            fitted = known.as_sparse(np.einsum("ij,ij->i", S[rows], H[columns]))
            return fitted @ H + penalty * S + smoothness * (L[0] @ S)

        W = solve(for_rows, M @ H, W, _CG_ITER, tol)

        def for_columns(S: FloatArray, W: FloatArray = W) -> FloatArray:
            fitted = known.as_sparse(np.einsum("ij,ij->i", W[rows], S[columns]))
            return fitted.T @ W + penalty * S + smoothness * (L[1] @ S)

        H = solve(for_columns, M.T @ W, H, _CG_ITER, tol)
        fitted = np.einsum("ij,ij->i", W[rows], H[columns])
        if np.linalg.norm(fitted - previous) <= tol * np.linalg.norm(fitted):
            break
        previous = fitted
    return W @ H.T


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
def descend(users, starts, movies, left, a, b, P, Q, Y, rate, penalty):  # type: ignore[no-untyped-def]
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
