"""Available memory is the least of machine, container and limit of the process."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

import cayleygsp as cg
from cayleygsp import _memory
from cayleygsp._memory import available_memory, fits, format_bytes
from cayleygsp.io.files import FREE_TEXT, check_memory, memory_limit, read_content, text_limit
from cayleygsp.methods.costs import IMPOSSIBLE, eigenbasis_cost
from cayleygsp.methods.fill import check_factorisation


def test_container_limit_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
    free = available_memory()
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("3000000\n")
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 500000\n")
    assert available_memory() > free / 2
    (tmp_path / "memory.max").write_text("4000000\n")
    assert available_memory() == 1_500_000
    (tmp_path / "memory.max").write_text("2000000\n")
    assert available_memory() == 0


def test_older_containers_count_too(tmp_path, monkeypatch):
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("4000000\n")
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text("3000000\n")
    (tmp_path / "memory" / "memory.stat").write_text("total_inactive_file 500000\n")
    assert available_memory() == 1_500_000


def test_what_the_system_does_not_tell_is_none_and_everything_fits(tmp_path, monkeypatch):
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(_memory, "_PROC", tmp_path)
    monkeypatch.delattr("os.sysconf")
    assert available_memory() is None
    assert fits(2**80, None)
    assert fits(9, 10)
    assert not fits(10, 10)
    assert memory_limit() is None
    assert text_limit(1) == FREE_TEXT
    check_memory(Path("graph.mtx"), "its content", 2**80)
    assert read_content(Path("graph.txt"), 10, BytesIO(b"0 1")) == b"0 1"
    assert cg.coarsening.coarsen(cg.gallery.ring(8), 2).levels == 2
    L = cg.laplacian(cg.gallery.ring(8))
    g = cg.CayleyFilter(L, cg.CayleyPolynomial([0.5, -0.25], 1.0), method="exact")
    assert g.toarray().shape == (8, 8)
    assert eigenbasis_cost(cg.laplacian(cg.gallery.ring(40))) is not IMPOSSIBLE
    check_factorisation(L)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_limit_of_the_process_counts():
    code = (
        "import runpy, resource, sys; resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9));"
        f"print(runpy.run_path({_memory.__file__!r})['available_memory']())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 5e8 < int(done.stdout) < 1e9


@pytest.mark.parametrize(
    ("n", "text"), [(0, "0 bytes"), (1023, "1.02e+03 bytes"), (2048, "2 KiB"), (3 * 2**40, "3 TiB")]
)
def test_bytes_are_written_for_people(n, text):
    assert format_bytes(n) == text
