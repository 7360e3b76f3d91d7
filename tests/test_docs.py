"""Every block of code in README and docs runs, and every command that they show is one that there is."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from scipy import io

import cayleygsp as cg
from cayleygsp.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.S | re.M)


def blocks(page, *languages):
    """Return line number and text of the blocks of a page in some languages."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, match.start(2)) + 1, match.group(2))
        for match in FENCE.finditer(text)
        if match.group(1) in languages
    ]


def missing_packages(code):
    """Return the optional packages that some code imports and that are not there."""
    used = {"torch": r"\btorch\b|cayleygsp\.nn\b", "torch_geometric": r"\btorch_geometric\b"}
    return [name for name, sign in used.items() if re.search(sign, code) and find_spec(name) is None]


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """Work in an empty folder, with pictures that go nowhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    backend = mpl.get_backend()
    mpl.use("agg")
    yield tmp_path
    from matplotlib import pyplot

    pyplot.close("all")
    mpl.use(backend)


def run_block(page, line, code, names):
    """Run a block as it stands; with prompts, compare what it prints."""
    if code.lstrip().startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line - 1)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        report = []
        outcome = runner.run(test, out=report.append, clear_globs=False)
        assert outcome.failed == 0, "".join(report)
        names.update(test.globs)
        return
    # numbers of lines are those of the page
    exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)


# tests/nn/test_pyg.py runs the page on layers and looks at what comes out
RUNNABLE = [page for page in PAGES if blocks(page, "python", "pycon") and page.name != "nn.md"]


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")  # when torch_geometric is imported
@pytest.mark.filterwarnings("ignore:Input has data type int64:FutureWarning")  # PyGSP's road network
@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: page.name)
def test_code_runs(page, workplace, monkeypatch):
    parts = blocks(page, "python", "pycon")
    missing = missing_packages("\n".join(code for _, code in parts))
    if missing:
        pytest.skip(f"{page.name} needs {' and '.join(missing)}")
    names = {"__name__": "__page__"}
    monkeypatch.setitem(sys.modules, "__page__", type(sys)("__page__"))  # dataclasses look for their module
    for line, code in parts:
        run_block(page, line, code, names)


def test_code_is_in_fences_that_say_the_language():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for match in FENCE.finditer(text):
            assert match.group(1), f"{page.name} has a fence without a language: {match.group(2)[:60]}"
        outside = FENCE.sub("", text)
        indented = re.findall(r"^    (?:import |from \w+ import |>>> )[^\n]*", outside, re.M)
        assert not indented, f"{page.name} has Python that no test would run: {indented}"


def commands(page):
    """Return the commands of the command line that a page shows in lines of their own."""
    text = page.read_text(encoding="utf-8")
    lines = [line for _, code in blocks(page, "sh", "bash", "console", "text") for line in code.splitlines()]
    lines += [line[4:] for line in FENCE.sub("", text).splitlines() if line.startswith("    ")]
    found = [line.removeprefix("$ ") for line in lines if line.removeprefix("$ ").startswith("cayleygsp ")]
    # behind two blanks or a hash stands what the command does
    return [re.split(r"  +|\s#", line)[0] for line in found if "COMMAND" not in line]


SHOWN = [(page, command) for page in PAGES for command in commands(page)]


@pytest.fixture
def roads(tmp_path):
    """Return a folder with the graph and the signal that the pages speak of."""
    graph = cg.gallery.grid(6, 5)
    io.mmwrite(tmp_path / "roads.mtx", graph.W)
    np.savetxt(tmp_path / "speeds.csv", np.arange(30.0))
    return tmp_path


def test_pages_show_commands():
    assert len(SHOWN) >= 7


@pytest.mark.parametrize(("page", "command"), SHOWN, ids=lambda value: getattr(value, "name", value))
def test_commands_run(page, command, roads, monkeypatch, capsys):
    monkeypatch.chdir(roads)
    if "|" not in command:
        assert main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
        return
    program = f"{shlex.quote(sys.executable)} -m cayleygsp.cli "
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command.replace("cayleygsp ", program), shell=True, check=True, env=environment, timeout=120)


def test_nothing_is_said_to_be_on_a_package_index():
    files = [*PAGES, *(ROOT / "cayleygsp").rglob("*.py"), *(ROOT / "analysis").rglob("*.py")]
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "pip install cayleygsp" not in text, path
        assert 'pip install "cayleygsp' not in text, path
