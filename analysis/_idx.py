"""The idx files of MNIST: unsigned bytes behind a short header, read as they are."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from analysis._datasets import data_file
from cayleygsp._text import quoted
from cayleygsp._typing import Array
from cayleygsp.io.files import check_file, read_content

IMAGES_MAGIC = 2051
LABELS_MAGIC = 2049


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
    >>> from analysis._idx import read_idx
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
