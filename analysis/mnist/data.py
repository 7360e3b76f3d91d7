"""Images of digits: those of MNIST, or some that are drawn."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import torch
from scipy import ndimage
from torch import Tensor

from analysis._datasets import FILES, find_file
from analysis._idx import read_mnist
from analysis.mnist.settings import DRAWN, MNIST, Config
from cayleygsp._typing import Array

SIDE = 28

# Strokes of each digit between points of a narrow grid, (row, column) with rows counted from above.
_STROKES = {
    0: "00-02 02-42 42-40 40-00",
    1: "01-41",
    2: "00-02 02-22 22-20 20-40 40-42",
    3: "00-02 02-42 42-40 20-22",
    4: "00-20 20-22 02-42",
    5: "02-00 00-20 20-22 22-42 42-40",
    6: "02-00 00-40 40-42 42-22 22-20",
    7: "00-02 02-41",
    8: "00-02 02-42 42-40 40-00 20-22",
    9: "22-20 20-00 00-02 02-42",
}


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """Images and their digits.

    Attributes
    ----------
    images : Tensor of uint8, shape (n, 784)
        Pixels, row by row.
    labels : Tensor of int64, shape (n,)
        Digits.
    """

    images: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)


@dataclasses.dataclass(frozen=True, eq=False)
class Digits:
    """Images for training, for validation and for the test."""

    train: Part
    validation: Part
    test: Part


def is_there() -> bool:
    """Say whether the files of MNIST are there, so that nothing has to be downloaded."""
    return all(find_file(name) is not None for name in FILES if name.startswith("mnist/"))


def load_digits(config: Config) -> Digits:
    """Return the images that a configuration asks for.

    Raises
    ------
    ValueError
        If there are not as many.

    Examples
    --------
    >>> from analysis.mnist.data import load_digits
    >>> from analysis.mnist.settings import Config
    >>> digits = load_digits(Config(data="drawn", n_train=200, n_validation=20, n_test=30))
    >>> len(digits.train), len(digits.validation), digits.test.images.shape
    (200, 20, torch.Size([30, 784]))
    """
    n_fitted = config.n_validation + config.n_train
    if config.data == DRAWN:
        images, labels = draw_digits(n_fitted + config.n_test, np.random.default_rng(0))
        parts = images[:n_fitted], labels[:n_fitted], images[n_fitted:], labels[n_fitted:]
    else:
        parts = _mnist()
    for name, wanted, available in (
        ("n_validation + n_train", n_fitted, parts[0]),
        ("n_test", config.n_test, parts[2]),
    ):
        if wanted > len(available):
            raise ValueError(f"`{name}` must be at most {len(available)} for {MNIST}, got {wanted}")
    first = slice(config.n_validation)
    rest = slice(config.n_validation, n_fitted)
    fitted, test = parts[:2], parts[2:]
    return Digits(_part(*fitted, rest), _part(*fitted, first), _part(*test, slice(config.n_test)))


@functools.lru_cache(maxsize=1)
def _mnist() -> tuple[Array, Array, Array, Array]:
    return read_mnist()


def _part(images: Array, labels: Array, which: slice) -> Part:
    chosen = images[which].reshape(-1, SIDE * SIDE)
    return Part(torch.tensor(chosen), torch.tensor(labels[which].astype(np.int64)))


def draw_digits(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw digits by strokes, each of another size, slant and place, with some noise.

    Parameters
    ----------
    n : int
        How many.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    images, labels : ndarray of uint8, shapes (n, 28, 28) and (n,)
    """
    labels = rng.integers(0, 10, n).astype(np.uint8)
    images = np.zeros((n, SIDE, SIDE))
    for image, label in zip(images, labels, strict=True):
        size, slant = rng.uniform(3.0, 4.5), rng.uniform(-0.3, 0.3)
        middle = SIDE / 2 + rng.uniform(-2.5, 2.5, 2)
        for stroke in _STROKES[int(label)].split():
            ends = np.array([[int(stroke[0]), int(stroke[1])], [int(stroke[3]), int(stroke[4])]], float) - (2, 1)
            ends[:, 1] = 1.5 * ends[:, 1] - slant * ends[:, 0]
            along = np.linspace(0, 1, 40)[:, None]
            rows, columns = np.round(middle + size * (ends[0] * (1 - along) + ends[1] * along)).astype(int).T
            image[np.clip(rows, 0, SIDE - 1), np.clip(columns, 0, SIDE - 1)] = 1
    images = ndimage.gaussian_filter(images, (0, 0.8, 0.8))
    images = np.clip(1.6 * images + 0.05 * rng.standard_normal(images.shape), 0, 1)
    return np.round(255 * images).astype(np.uint8), labels
