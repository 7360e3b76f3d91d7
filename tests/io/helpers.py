"""Files for the tests of readers: written, and refused."""

import gzip
import struct
import tracemalloc

import numpy as np
import pytest

from cayleygsp.io import read_graph

W = np.array([[0.0, 1.5, 0.0, 2.0], [1.5, 0.0, 0.25, 0.0], [0.0, 0.25, 3.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
EDGES = "0 1 1.5\n0 3 2\n1 2 0.25\n2 2 3\n"


def write(file, content):
    data = content if isinstance(content, bytes) else content.encode()
    file.write_bytes(gzip.compress(data) if file.name.lower().endswith(".gz") else data)
    return file


def read_text(tmp_path, content, name="list.txt"):
    return read_graph(write(tmp_path / name, content))


def refusal(file, kind=ValueError, **options):
    """Return what reading the file is refused with; the message names the file, and no cause is shown."""
    with pytest.raises(kind) as caught:
        read_graph(file, **options)
    message = str(caught.value)
    assert str(file) in message
    assert "Traceback" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


def peak_memory(call, *arguments):
    """Return the result of a call and the most memory that it held, in bytes."""
    tracemalloc.start()
    try:
        result = call(*arguments)
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def mat_element(kind, data):
    return struct.pack("<2I", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def mat_matrix(flags, shape, *parts, name=b"W"):
    head = [(6, struct.pack("<2I", flags, 0)), (5, struct.pack(f"<{len(shape)}i", *shape)), (1, name)]
    return mat_element(14, b"".join(mat_element(kind, data) for kind, data in (*head, *parts)))


def mat_file(*elements):
    return b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM" + b"".join(elements)
