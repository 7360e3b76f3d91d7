"""Images of digits: those of MNIST, or some that are drawn."""

from __future__ import annotations

import dataclasses
import functools
import struct
from pathlib import Path

import numpy as np
import torch
from scipy import ndimage
from torch import Tensor

from analysis._datasets import FILES, data_file, find_file
from analysis.mnist.settings import DRAWN, MNIST, Config
from cayleygsp._text import quoted
from cayleygsp._typing import Array
from cayleygsp.io.files import check_file, read_content

IMAGES_MAGIC = 2051

LABELS_MAGIC = 2049

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


def read_idx(file: Path, magic: int) -> Array:
    """Return what an idx file holds, packed by gzip or not.

    Parameters
    ----------
    file : pathlib.Path
        Packed if its name ends in ``.gz``.
    magic : int
        The number that the file has to begin with: 2051 for images, 2049 for labels. Its last byte is the number of
        dimensions.

    Returns
    -------
    ndarray of uint8
        Shape (n, 28, 28) for the images of MNIST, (n,) for labels.

    Raises
    ------
    ValueError
        If the file begins with another number, or has fewer or more bytes than its header says.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from analysis.mnist.data import read_idx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "labels"
    ...     _ = file.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    ...     read_idx(file, 2049)
    array([7, 2, 1], dtype=uint8)
    """
    check_file(file)
    content = read_content(file, cost=2)
    n_dims = magic % 256
    start = 4 + 4 * n_dims
    if len(content) < start:
        raise ValueError(f"{quoted(file)} must have a header of {start} bytes, got {len(content)} bytes")
    first, *shape = struct.unpack(f">{1 + n_dims}I", content[:start])
    if first != magic:
        raise ValueError(f"{quoted(file)} must begin with the number {magic}, got {first}")
    expected = start + int(np.prod(shape, dtype=object))
    if len(content) != expected:
        raise ValueError(
            f"{quoted(file)} must have {expected} bytes for the shape {tuple(shape)} of its header, got {len(content)}"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def read_mnist() -> tuple[Array, Array, Array, Array]:
    """Return training images and labels, test images and labels of MNIST, as bytes.

    Returns
    -------
    train_images, train_labels, test_images, test_labels : ndarray of uint8
        Shapes (60000, 28, 28), (60000,), (10000, 28, 28) and (10000,).
    """
    parts = []
    for part in ("train", "t10k"):
        images = read_idx(data_file(f"mnist/{part}-images-idx3-ubyte.gz"), IMAGES_MAGIC)
        labels = read_idx(data_file(f"mnist/{part}-labels-idx1-ubyte.gz"), LABELS_MAGIC)
        if len(images) != len(labels):
            raise ValueError(f"`mnist/{part}-labels` must have one label per image, got {len(labels)}, {len(images)}")
        parts += [images, labels]
    return parts[0], parts[1], parts[2], parts[3]


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
