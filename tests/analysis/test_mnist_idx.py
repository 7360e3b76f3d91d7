"""Idx files: read as they are, packed or not, and refused by name where they are damaged."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

from analysis.mnist.data import IMAGES_MAGIC, LABELS_MAGIC, read_idx
from tests.analysis import helpers

IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


def idx(array, magic):
    return struct.pack(f">{1 + array.ndim}I", magic, *array.shape) + array.tobytes()


@pytest.mark.parametrize("packed", [False, True])
def test_content_is_what_was_written(tmp_path, packed):
    for array, magic in ((IMAGES, IMAGES_MAGIC), (IMAGES[0, 0], LABELS_MAGIC)):
        file = tmp_path / ("numbers.gz" if packed else "numbers")
        file.write_bytes(gzip.compress(idx(array, magic)) if packed else idx(array, magic))
        np.testing.assert_array_equal(read_idx(file, magic), array)


CASES = {
    "another magic": (idx(IMAGES, LABELS_MAGIC), "must begin with the number 2051, got 2049"),
    "a pickle": (b"\x80\x04]" + bytes(40), "must begin with the number 2051"),
    "truncated": (idx(IMAGES, IMAGES_MAGIC)[:-1], r"must have 40 bytes for the shape \(2, 3, 4\) .*, got 39"),
    "too long": (idx(IMAGES, IMAGES_MAGIC) + b"0", "must have 40 bytes .*, got 41"),
    "no header": (b"\x00\x00\x08\x03\x00", "must have a header of 16 bytes, got 5"),
    "huge shape": (struct.pack(">4I", IMAGES_MAGIC, 2**32 - 1, 2**32 - 1, 2**32 - 1), "must have 79228162458924105"),
    "empty": (b"", "is empty"),
}


@pytest.mark.parametrize("case", CASES)
def test_damaged_files_are_refused_by_name(tmp_path, case):
    content, message = CASES[case]
    file = tmp_path / "damaged-idx3-ubyte"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=f"damaged-idx3-ubyte.* {message}"):
        read_idx(file, IMAGES_MAGIC)


def test_incomplete_gzip_is_refused_by_name(tmp_path):
    file = tmp_path / "damaged.gz"
    file.write_bytes(gzip.compress(idx(IMAGES, IMAGES_MAGIC))[:-9])
    with pytest.raises(ValueError, match=r"damaged\.gz.* is not a complete gzip file"):
        read_idx(file, IMAGES_MAGIC)


def test_labels_and_images_of_mnist():
    labels = read_idx(helpers.data_file("mnist/t10k-labels-idx1-ubyte.gz"), LABELS_MAGIC)
    assert np.bincount(labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    images = read_idx(helpers.data_file("mnist/t10k-images-idx3-ubyte.gz"), IMAGES_MAGIC)
    assert images.shape == (10_000, 28, 28)
    assert images.mean() == pytest.approx(33.791, abs=1e-3)
