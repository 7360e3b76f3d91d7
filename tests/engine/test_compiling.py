"""What is kept on disk of compiled loops."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cayleygsp.engine
from cayleygsp.engine.compiling import sources_stamp

SHARED = """
from numba import njit

@njit
def shared(x):
    return x + {number}
"""
CALLER = """
from cayleygsp.engine.compiling import compiled
from cayleygsp.engine.shared import shared

@compiled()
def caller(x):
    return shared(x)
"""

# Each call is in a process of its own, forked from one that has loaded numba alone.
PROGRAM = """
import os, shutil, sys
import numba

for number in (1, 1, 100):
    shutil.copy(f"shared{number}.py", "cayleygsp/engine/shared.py")
    if os.fork() == 0:
        sys.dont_write_bytecode = True
        from cayleygsp.engine.caller import caller
        print(caller(1), *caller.stats.cache_hits.values(), flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_loops_are_compiled_again_when_another_file_of_the_engine_has_changed(tmp_path):
    engine = tmp_path / "cayleygsp" / "engine"
    engine.mkdir(parents=True)
    (engine.parent / "__init__.py").write_text("")
    (engine / "__init__.py").write_text("")
    shutil.copy(Path(cayleygsp.engine.__file__).with_name("compiling.py"), engine)
    (engine / "caller.py").write_text(CALLER)
    for number in (1, 100):
        (tmp_path / f"shared{number}.py").write_text(SHARED.format(number=number))
    env = dict(os.environ, PYTHONPATH=str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path / "kept"))
    answers = subprocess.check_output([sys.executable, "-c", PROGRAM], text=True, env=env, cwd=tmp_path)
    assert answers == "2\n2 1\n101\n"  # the second one was taken from the disk


def test_stamp_of_sources_knows_names_and_contents(tmp_path):
    stamps = []
    for name, text in [("a.py", "x"), ("a.py", "y"), ("b.py", "y")]:
        folder = tmp_path / str(len(stamps))
        folder.mkdir()
        (folder / name).write_text(text)
        (folder / "notes.txt").write_text(name)
        stamps.append(sources_stamp(folder))
    assert len(set(stamps)) == 3
