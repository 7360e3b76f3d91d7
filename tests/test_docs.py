"""Every block of code in README and docs runs, and every command and link that they show is one that there is."""

from __future__ import annotations

import doctest
import os
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
import textwrap
from importlib import import_module
from importlib.util import find_spec
from inspect import getdoc, isclass, isroutine
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from scipy import io

import cayleygsp as cg
from cayleygsp.cli import main

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
# what scripts and `make docs` write is looked at where it is written
WRITTEN = {DOCS / "experiments" / "results.md", DOCS / "theory" / "tests.md"}
FOLDERS = ("", "start", "howto", "theory", "experiments", "api")
SITE = [page for name in FOLDERS for page in sorted((DOCS / name).glob("*.md")) if page not in WRITTEN]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *SITE]
FENCE = re.compile(r"^```(\{?[\w-]*\}?)[^\n]*\n(.*?)^```$", re.S | re.M)


def blocks(page, *languages):
    """Return line number and text of the blocks of a page in some languages."""
    text = page.read_text(encoding="utf-8")
    return [
        (text.count("\n", 0, match.start(2)) + 1, match.group(2))
        for match in FENCE.finditer(text)
        if match.group(1) in languages
    ]


def plots(page):
    """Return line number and code of the pictures that a page has drawn for it when the site is built."""
    found = []
    for line, text in blocks(page, "{eval-rst}"):
        head, _, code = text.partition("\n\n")
        if head.startswith(".. plot::"):
            found.append((line + head.count("\n") + 2, textwrap.dedent(code)))
    return found


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
RUNNABLE = [page for page in PAGES if blocks(page, "python", "pycon") and page.name != "layers.md"]

third_parties = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),  # when torch_geometric is imported
    pytest.mark.filterwarnings("ignore:Input has data type int64:FutureWarning"),  # PyGSP's road network
]


def quiet(test):
    """Leave out what third parties say about each other."""
    for mark in third_parties:
        test = mark(test)
    return test


@quiet
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


DRAWN = [(page, line, code) for page in SITE for line, code in plots(page)]


def test_pages_have_pictures_of_names_of_their_own():
    text = "\n".join(page.read_text(encoding="utf-8") for page in SITE)
    names = re.findall(r"^   :filename-prefix: (\S+)$", text, re.M)
    assert len(names) == len(set(names)) == len(DRAWN) >= 12


@quiet
@pytest.mark.parametrize(("page", "line", "code"), DRAWN, ids=[f"{page.stem}-{line}" for page, line, _ in DRAWN])
def test_pictures_are_drawn(page, line, code, workplace):
    from matplotlib import pyplot

    exec(compile("\n" * (line - 1) + code, str(page), "exec"), {"__name__": "__page__"})
    assert pyplot.get_fignums()


EXAMPLES = sorted((DOCS / "gallery").glob("plot_*.py"))
CHEAP = {"plot_half_circle.py", "plot_jacobi_bounds.py", "plot_karate.py"}


def test_there_are_examples():
    assert len(EXAMPLES) >= 15
    assert {path.name for path in EXAMPLES} >= CHEAP


@quiet
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_short_and_begin_with_a_title(path, workplace):
    text = path.read_text(encoding="utf-8")
    title, line = text.splitlines()[1:3]
    assert line == "=" * len(title), "sphinx-gallery takes the title from the docstring"
    assert text.count("\n") < 60
    code = compile(text, str(path), "exec")  # `make docs` runs them all
    if path.name in CHEAP:
        exec(code, {"__name__": "__page__"})


LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = {link.partition("#")[0] for link in LINK.findall(text) if "://" not in link}
    built = {"../auto_gallery/index.rst"}  # by `make docs`
    lost = [target for target in targets - built if target and not (page.parent / target).exists()]
    assert not lost


def test_tests_that_the_theory_names_are_there():
    named = re.compile(r"\{test\}`([^`:]+)::(\w+)`")
    pairs = {pair for page in SITE for pair in named.findall(page.read_text(encoding="utf-8"))}
    assert len(pairs) >= 60
    for path, name in pairs:
        assert re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.M), f"{path}::{name}"


MODULES = [
    *(f"cayleygsp.{name}" for name in cg.__all__ if name.islower() and find_spec(f"cayleygsp.{name}") is not None),
    *("cayleygsp", "cayleygsp.io", "cayleygsp.plotting.tasks"),
]


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_an_example(module):
    if module == "cayleygsp.nn":
        pytest.importorskip("torch")
    loaded = import_module(module)
    own = [name for name, value in vars(loaded).items() if getattr(value, "__module__", None) == module]
    public = getattr(loaded, "__all__", [name for name in own if not name.startswith("_")])
    values = {name: getattr(loaded, name) for name in public if name != "nn" or find_spec("torch") is not None}
    bare = [name for name, value in values.items() if isroutine(value) or isclass(value)]
    assert [name for name in bare if ">>>" not in (getdoc(values[name]) or "")] == []


INVENTORIES = sorted((DOCS / "_inventories").glob("*.txt"))


@pytest.mark.parametrize("path", INVENTORIES, ids=lambda path: path.stem)
def test_names_of_other_packages_that_the_site_links_to_are_there(path):
    if path.stem != "python":
        pytest.importorskip(path.stem)
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    assert head == "# Sphinx inventory version 1"
    for row in rows[2:]:
        name, kind, page = row.split()
        value = pkgutil.resolve_name(name if "." in name else f"builtins.{name}")
        assert isclass(value) == (kind == "class"), row
        assert page.endswith(".html"), row


def test_a_package_index_gets_a_readme_with_links_that_lead_somewhere():
    script = runpy.run_path(str(DOCS / "absolute_links.py"))
    text = script["absolute"]((ROOT / "README.md").read_text(encoding="utf-8"), "https://host/project/")
    links = LINK.findall(FENCE.sub("", text))
    assert "https://host/project/raw/main/docs/images/half_circle.png" in links
    assert "https://host/project/blob/main/CONTRIBUTING.md" in links
    assert all(link.startswith("https://") for link in links)


def test_the_citation_has_the_version():
    assert f"\nversion: {cg.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


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
    if "--workers" in command:
        pytest.importorskip("distributed")
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
