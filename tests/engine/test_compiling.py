"""What is kept on disk of compiled loops."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cayleygsp.engine
from cayleygsp.engine.compiling import sources_stamp
from tests.trees import ROOT, tree

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


def decorated() -> dict[str, tuple[str, ast.FunctionDef]]:
    """Return the functions of the engine with a decorator, as it is written."""
    return {
        node.name: (ast.unparse(node.decorator_list[0]), node)
        for path in (ROOT / "engine").glob("*.py")
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    }


def test_what_counts_no_references_makes_and_returns_no_arrays():
    functions = decorated()
    helpers = {name: node for name, (how, node) in functions.items() if "compiled_helper" in how or "UNCOUNTED" in how}
    counted = {name for name, (how, _) in functions.items() if how.startswith("njit") and "inline" not in how}
    assert {"_sum_rows", "step_scaled_rows", "max_of_groups"} <= set(helpers)
    assert {"_due_terms", "_step_weights"} <= counted
    for name, node in helpers.items():
        calls = {ast.unparse(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
        assert not calls & counted, name
        assert {call for call in calls if call.startswith("np.")} <= {"np.int64", "np.uint64", "np.uint8"}, name
        returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]
        assert name == "_dot" or not returned, name  # a number
