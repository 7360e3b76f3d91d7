"""Files for the tests of readers: written, and refused."""

import gzip
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
