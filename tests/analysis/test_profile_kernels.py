"""The profile reads the machine code of the loop, and writes its files."""

from __future__ import annotations

import platform
import re

import numpy as np
import pytest

import cayleygsp as cg
from analysis import profile_kernels
from tests.analysis.helpers import run


def test_profile_reads_the_row_of_four_from_the_machine_code():
    if platform.machine() != "x86_64":
        pytest.skip("the form of the machine code is known for x86_64 alone")
    graph = cg.laplacian(cg.gallery.grid(8)).kernel_graph(np.dtype(np.float64))
    instructions = profile_kernels.row_of_four(profile_kernels.machine_code(graph, np.float64))
    gathers = [line for line in instructions if re.search(r"\(%\w+,%\w+,8\), %xmm", line)]
    assert len(gathers) == 4
    assert 20 <= len(instructions) <= 60


def test_profile_writes_its_files(tmp_path):
    document, _ = run(profile_kernels, tmp_path, "--repeats", "1")
    assert all(row["nanoseconds_a_row"]["median"] > 0 for row in document["rows"])
