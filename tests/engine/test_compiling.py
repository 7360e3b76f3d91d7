"""What is kept on disk of compiled loops."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

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


def test_loops_are_compiled_again_when_another_file_of_the_engine_has_changed(tmp_path):
    engine = tmp_path / "cayleygsp" / "engine"
    engine.mkdir(parents=True)
    (engine.parent / "__init__.py").write_text("")
    (engine / "__init__.py").write_text("")
    shutil.copy(Path(cayleygsp.engine.__file__).with_name("compiling.py"), engine)
    (engine / "caller.py").write_text(CALLER)
    code = "from cayleygsp.engine.caller import caller; print(caller(1), *caller.stats.cache_hits.values())"
    env = dict(os.environ, PYTHONPATH=str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path / "kept"))

    def answer(number):
        (engine / "shared.py").write_text(SHARED.format(number=number))
        return subprocess.check_output([sys.executable, "-c", code], text=True, env=env, cwd=tmp_path).split()

    assert answer(1) == ["2"]
    assert answer(1) == ["2", "1"]  # taken from the disk
    assert answer(100) == ["101"]


def test_stamp_of_sources_knows_names_and_contents(tmp_path):
    stamps = []
    for name, text in [("a.py", "x"), ("a.py", "y"), ("b.py", "y")]:
        folder = tmp_path / str(len(stamps))
        folder.mkdir()
        (folder / name).write_text(text)
        (folder / "notes.txt").write_text(name)
        stamps.append(sources_stamp(folder))
    assert len(set(stamps)) == 3
