"""The profile reads the machine code of the loop, and writes its files."""

from __future__ import annotations

import platform
import re

import numpy as np
import pytest

import cayleygsp as cg
from analysis import profile_kernels
from tests.analysis.helpers import run


def test_profile_reads_rows_of_four_from_the_machine_code():
    if platform.machine() != "x86_64":
        pytest.skip("the form of the machine code is known for x86_64 alone")
    graph = cg.laplacian(cg.gallery.grid(8)).kernel_graph(np.dtype(np.float64))
    instructions = profile_kernels.rows_of_four(profile_kernels.machine_code(graph, np.float64))
    gathers = [line for line in instructions if profile_kernels.GATHER.search(line)]
    ends = [line for line in instructions if re.match(r"movl\s+\d+\(%\w+,%\w+,4\)", line)]
    stores = [line for line in instructions if re.match(r"vmovsd\s+%xmm\d+, ", line)]
    assert len(gathers) == 4 * len(stores)
    assert len(ends) >= len(stores) >= 1
    assert 12 * len(stores) <= len(instructions) <= 40 * len(stores)


def test_code_of_another_form_is_told():
    with pytest.raises(RuntimeError, match="not of the form that is known"):
        profile_kernels.rows_of_four("start:\nmovl 4(%rax,%rbx,4), %ecx\njmp start\n")


def test_profile_writes_its_files(tmp_path):
    document, _ = run(profile_kernels, tmp_path, "--repeats", "1")
    assert all(row["nanoseconds_a_row"]["median"] > 0 for row in document["rows"])
