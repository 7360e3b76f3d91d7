"""Ratings with a graph of the users and one of the movies: MovieLens-100k, or small ones that are drawn."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import cayleygsp as cg
from analysis._datasets import data_file
from analysis.movielens.settings import MOVIELENS
from cayleygsp._text import quoted
from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp.io.matlab import is_hdf5, variables_73

FILE = "movielens/split_1.mat"
SHAPE = (943, 1682)
N_TRAIN, N_TEST = 80_000, 20_000


@dataclasses.dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of movies by users, in parts for training and test, and a graph of each side.

    Attributes
    ----------
    matrix : ndarray, shape (n_users, n_movies)
        Ratings from 1 to 5, zero where there is none.
    train, test : ndarray of int
        Places of the ratings in the flattened matrix, in increasing order.
    users, movies : scipy.sparse.csr_array
        Adjacency matrices.
    """

    matrix: FloatArray
    train: IntArray
    test: IntArray
    users: Any
    movies: Any

    @functools.cached_property
    def laplacians(self) -> tuple[cg.Laplacian, cg.Laplacian]:
        """Normalized Laplacians of users and movies."""
        return cg.laplacian(self.users, "normalized"), cg.laplacian(self.movies, "normalized")

    def values(self, places: IntArray) -> FloatArray:
        """Return the ratings at places of the flattened matrix."""
        return self.matrix.ravel()[places]

    def only(self, places: IntArray) -> FloatArray:
        """Return the matrix with these ratings alone, zeros elsewhere."""
        kept = np.zeros_like(self.matrix)
        kept.ravel()[places] = self.values(places)
        return kept


@functools.lru_cache(maxsize=2)
def load_ratings(name: str) -> Ratings:
    """Return the ratings of a name: "movielens", or "drawn" for a small problem.

    Examples
    --------
    >>> from analysis.movielens.data import load_ratings
    >>> ratings = load_ratings("drawn")
    >>> ratings.matrix.shape, len(ratings.train), len(ratings.test)
    ((60, 90), 1620, 405)
    """
    return read_ratings(data_file(FILE)) if name == MOVIELENS else draw_ratings(np.random.default_rng(0))


def read_ratings(file: Path) -> Ratings:
    """Read the split of MovieLens-100k as Monti et al. published it.

    Parameters
    ----------
    file : pathlib.Path
        A MATLAB file of version 7.3 with ``M``, ``Otraining``, ``Otest``, ``W_users`` and ``W_movies``.

    Raises
    ------
    ValueError
        If the file is not what it should be, in shapes or in values.
    """
    if not is_hdf5(file):
        raise ValueError(f"{quoted(file)} must be a MATLAB file of version 7.3")
    shapes = {"M": SHAPE, "Otraining": SHAPE, "Otest": SHAPE}
    shapes |= {"W_users": (SHAPE[0], SHAPE[0]), "W_movies": (SHAPE[1], SHAPE[1])}
    with variables_73(file) as variables:
        stored = {name: variables[name].shape if name in variables else None for name in shapes}
        content = {name: variables[name].read() for name in shapes} if stored == shapes else {}
    for name, shape in shapes.items():
        if stored[name] != shape:
            raise ValueError(f"{quoted(file)} must have `{name}` of shape {shape}, got {stored[name]}")
    M, train, test = (np.asarray(content[name], np.float32) for name in ("M", "Otraining", "Otest"))
    _check_values(file, M, train, test)
    users, movies = (sparse.csr_array(content[name]) for name in ("W_users", "W_movies"))
    for name, W in (("W_users", users), ("W_movies", movies)):
        if (W != W.T).nnz or np.any(W.data != 1) or np.any(W.diagonal()):
            raise ValueError(f"{quoted(file)} must have a symmetric `{name}` of zeros and ones without self-loops")
    return Ratings(np.ascontiguousarray(M), np.flatnonzero(train), np.flatnonzero(test), users, movies)


def _check_values(file: Path, M: Array, train: Array, test: Array) -> None:
    """Reject ratings that are no whole numbers of 1 to 5, and masks that are not those of the split."""
    if not np.isin(M, range(6)).all():
        raise ValueError(f"{quoted(file)} must have ratings from 1 to 5 in `M`, and zeros")
    if not (np.isin(train, (0, 1)).all() and np.isin(test, (0, 1)).all() and np.array_equal(train + test, M > 0)):
        raise ValueError(f"{quoted(file)} must have every rating of `M` once in `Otraining` or `Otest`")
    counts = int(train.sum()), int(test.sum())
    if counts != (N_TRAIN, N_TEST):
        raise ValueError(f"{quoted(file)} must have {N_TRAIN} training and {N_TEST} test ratings, got {counts}")


def draw_ratings(
    rng: np.random.Generator, shape: tuple[int, int] = (60, 90), share: float = 0.375, test_share: float = 0.2
) -> Ratings:
    """Draw ratings that groups of users give to groups of movies, and a graph on each side with the groups as parts.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of random numbers.
    shape : tuple of int
        Users and movies.
    share : float
        Of the ratings that are known.
    test_share : float
        Of the known ratings that are for the test.
    """
    groups = [np.arange(n) % 3 for n in shape]
    taste = rng.uniform(1.5, 4.5, (3, 3))
    clean = taste[groups[0][:, None], groups[1]] + 0.5 * rng.standard_normal(shape[1])
    matrix = np.clip(np.round(clean + 0.5 * rng.standard_normal(shape)), 1, 5).astype(np.float32)
    known = rng.permutation(matrix.size)[: int(share * matrix.size)]
    n_test = int(test_share * len(known))
    matrix.ravel()[np.setdiff1d(np.arange(matrix.size), known)] = 0
    graphs = []
    for group in groups:
        p = np.where(group[:, None] == group, 0.4, 0.02)
        upper = np.triu(rng.uniform(size=p.shape) < p, 1)
        ring = np.roll(np.eye(len(group), dtype=bool), 1, axis=1)  # so that no vertex is alone
        graphs.append(sparse.csr_array((upper | upper.T | ring | ring.T).astype(np.float64)))
    return Ratings(matrix, np.sort(known[n_test:]), np.sort(known[:n_test]), *graphs)


@dataclasses.dataclass(frozen=True, eq=False)
class Parts:
    """How the training ratings of a run are used; places are those of the flattened matrix.

    Attributes
    ----------
    start : ndarray of int
        Ratings that the network sees as its input.
    fitted : ndarray of int
        Ratings that the loss is over.
    validation : ndarray of int
        Ratings that choose the model, none in the paper's protocol.
    """

    start: IntArray
    fitted: IntArray
    validation: IntArray


def part_ratings(ratings: Ratings, validation_share: float, seed: int) -> Parts:
    """Divide the training ratings for a run.

    Without validation ratings, as in the paper's protocol, they are divided into halves by the authors' own generator,
    that of seed 0 being theirs: the first half is the input, and the loss is over both. Else validation ratings are set
    aside before.

    Parameters
    ----------
    ratings : Ratings
        What to divide.
    validation_share : float
        Of the validation ratings; 0 for none.
    seed : int
        Of the run.

    Examples
    --------
    >>> from analysis.movielens.data import load_ratings, part_ratings
    >>> parts = part_ratings(load_ratings("drawn"), 0.1, seed=0)
    >>> len(parts.start), len(parts.fitted), len(parts.validation)
    (729, 1458, 162)
    """
    shuffled = ratings.train[np.random.RandomState(seed).permutation(len(ratings.train))]
    n_validation = round(validation_share * len(shuffled))
    fitted = shuffled[: len(shuffled) - n_validation]
    return Parts(fitted[: len(fitted) // 2], np.sort(fitted), np.sort(shuffled[len(fitted) :]))


@dataclasses.dataclass(frozen=True, eq=False)
class Observed:
    """The entries of a matrix that are known.

    Attributes
    ----------
    values : ndarray, shape (n, m)
        The entries, zero where they are not known.
    mask : ndarray of bool, shape (n, m)
        Where they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from analysis.movielens.data import Observed
    >>> known = Observed.at(np.array([[5.0, 1.0], [4.0, 2.0]]), np.array([0, 3]))
    >>> known.values
    array([[5., 0.],
           [0., 2.]])
    >>> centred, mean = known.centred()
    >>> centred.values, mean
    (array([[ 1.5,  0. ],
           [ 0. , -1.5]]), 3.5)
    """

    values: FloatArray
    mask: Array

    @classmethod
    def at(cls, matrix: FloatArray, places: IntArray) -> Observed:
        """Take the entries of a matrix at places of its flattened form."""
        mask = np.zeros(matrix.shape, bool)
        mask.ravel()[places] = True
        return cls(np.where(mask, matrix, matrix.dtype.type(0)), mask)

    def centred(self) -> tuple[Observed, float]:
        """Return the entries less their mean, and the mean."""
        mean = float(self.values.sum(dtype=np.float64) / self.mask.sum())
        return self.minus(np.full(self.mask.shape, mean, self.values.dtype)), mean

    def minus(self, matrix: FloatArray) -> Observed:
        """Return the entries less those of a matrix."""
        return Observed(np.where(self.mask, self.values - matrix, self.values.dtype.type(0)), self.mask)

    @functools.cached_property
    def rows_columns(self) -> tuple[IntArray, IntArray]:
        """Row and column of every entry, row by row."""
        rows, columns = np.nonzero(self.mask)
        return rows, columns

    @functools.cached_property
    def entries(self) -> FloatArray:
        """The entries themselves, row by row."""
        return self.values[self.mask]

    def as_sparse(self, entries: FloatArray) -> Any:
        """Return a sparse matrix with other entries at the same places."""
        starts = np.append(0, np.cumsum(self.mask.sum(axis=1)))
        return sparse.csr_array((entries, self.rows_columns[1], starts), shape=self.mask.shape)
