"""The tree holds to its own order: imports point one way, also deferred ones and those for types alone."""

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from dataclasses import is_dataclass
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.trees import (
    ANALYSIS,
    ROOT,
    TESTS,
    classes_asked_for,
    home,
    imports,
    modules,
    private_names,
    public_modules,
    read_imports,
    subclasses,
    tree,
)

# Each package may import itself and what stands before it.
LAYERS = (
    {"_typing", "_validation", "_memory", "_files", "_text", "_format", "_rounding"},
    {"graph", "gallery", "io"},
    {"engine"},
    {"spectrum", "eigenbasis", "laplacians"},
    {"responses"},
    {"bounds"},
    {"methods"},
    {"density", "design", "zoom", "coarsening"},
    {"filters"},
    {"distributed"},
    {"tasks"},
    {"localization", "pygsp_filters", "nn"},
    {"plotting"},
    {"_html", "report"},
    {"explorer"},
    {"cli"},
)
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}

# Files under 60 lines, and those under 80 that one other imports, and why they are files.
SMALL = {
    "_rounding": "the floor of every bound",
    "_typing": "types that every file may name",
    "cli.__main__": "python -m",
    "cli.decay": "one command per file",
    "cli.features": "one command per file",
    "cli.info": "one command per file",
    "cli.report": "one command per file",
    "cli.zoom": "one command per file",
    "engine.compiling": "how loops are compiled, for all of them",
    "nn.pyg": "imported by name: layers for PyTorch Geometric",
}

# Names that stand in several files, and why that is one meaning.
SAME_NAME = {
    "CayleyConv": "of PyTorch Geometric: the layer as a message passing module",
    "ChebConv": "of PyTorch Geometric: the layer as a message passing module",
    "resolution": "|dθ/dλ|, and its picture",
}

# What a user types is counted: over all modules that list their names.
MOST_PUBLIC_NAMES = 126

# Options that can be given by their place, and why.
BY_PLACE = {
    ("cayleygsp.pygsp_filters", "Cayley.filter"): "the signature of PyGSP",
    ("cayleygsp.pygsp_filters", "Cayley.analyze"): "the signature of PyGSP",
    ("cayleygsp.pygsp_filters", "Cayley.synthesize"): "the signature of PyGSP",
}

# Tests of no single file, and of what.
OF_THE_WHOLE = {
    "test_docs.py": "pages and their examples",
    "test_import.py": "what is loaded when",
    "test_layers.py": "the tree",
    "adversary/test_claims.py": "claims of filters, banks, fits, decay and spectra",
    "nn/test_forks.py": "layers and filters in worker processes",
}

# The report on everything stands above the scripts: it shows what these compute in small.
SHOWN_BY_THE_REPORT = {("report", "community"), ("report", "complexity"), ("report", "cora")} | {
    ("report", "mnist"),
    ("report", "movielens"),
}


def package() -> dict[str, Path]:
    """Return the files of the package by their names within it."""
    return {name.partition(".")[2]: path for name, path in modules().items() if name.startswith("cayleygsp.")}


def targets(path: Path) -> set[str]:
    """Return the modules of the package that a file imports, by their names within it."""
    return {home(one).partition(".")[2] for one in imports(path) if home(one).startswith("cayleygsp.")}


def room(module: str) -> str:
    return module.partition(".")[0]


def test_every_room_has_its_place():
    assert {room(name) for name in package()} == set(RANK)


def test_imports_point_one_way():
    against = [
        f"{name} imports {target}"
        for name, path in package().items()
        for target in targets(path)
        if RANK[room(target)] > RANK[room(name)]
    ]
    assert against == []


def test_the_core_does_not_know_the_layers():
    for name, path in package().items():
        assert room(name) == "nn" or "nn" not in {room(target) for target in targets(path)}, name


def test_every_way_to_import_is_seen():
    text = """
import cayleygsp.zoom as z
from cayleygsp import FilterBank, design
from cayleygsp.cli import app, main
def later():
    import_module("cayleygsp.density")
    importlib.import_module("cayleygsp.coarsening")
"""
    expected = {"zoom", "filters", "design", "cli.app", "cli", "density", "coarsening"}
    assert {home(one).partition(".")[2] for one in read_imports(ast.parse(text))} == expected


def test_no_import_hides_what_it_takes():
    """Imports with dots, and attributes of the whole package, would not be seen above."""
    hiding = {
        name
        for name, path in package().items()
        for node in ast.walk(tree(path))
        if (isinstance(node, ast.ImportFrom) and node.level)
        or (isinstance(node, ast.Import) and "cayleygsp" in {alias.name for alias in node.names})
    }
    assert hiding == set()


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return files that import one another in a circle, if there are any."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_a_circle_is_seen():
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}


def test_no_file_imports_itself_in_a_circle():
    known = package()
    assert circle({name: targets(path) & set(known) for name, path in known.items()}) == []


def test_private_names_stay_in_their_files():
    crossing = {(name, private) for name, path in modules().items() for private in private_names(path)}
    assert crossing == set()


def test_private_names_are_seen(tmp_path):
    path = tmp_path / "some.py"
    path.write_text(
        "import cayleygsp as cg\n"
        "from analysis import _script\n"
        "from analysis._script import _parse\n"
        "from cayleygsp import _memory, zoom\n"
        "cg.density._widths, zoom._grid.shape, zoom.__doc__, cg.Graph._name, _script.Script, _memory.available_memory\n"
    )
    assert private_names(path) == {"analysis._script._parse", "cayleygsp.density._widths", "cayleygsp.zoom._grid"}


def test_only_responses_ask_for_the_class_of_a_response():
    concrete = subclasses(ROOT / "responses", "Response")
    assert {"CayleyPolynomial", "ChebyshevPolynomial", "Heat", "LowPass", "MeyerWavelet"} <= concrete
    asking = [
        f"{name}: {asked}"
        for name, path in package().items()
        if room(name) != "responses"
        for asked in classes_asked_for(tree(path))
        if asked.rpartition(".")[2] in concrete
    ]
    assert asking == []


@pytest.mark.parametrize(
    "question",
    [
        "isinstance(g, Heat)",
        "issubclass(type(g), (int, Heat))",
        "type(g) is not Heat",
        "type(g) in {int, cg.responses.Heat}",
        "isinstance(g, int | responses.Heat)",
        "match g:\n    case Heat(scale=1): pass",
    ],
)
def test_a_question_for_a_class_is_seen(question):
    text = "import cayleygsp as cg\nfrom cayleygsp import responses\nfrom cayleygsp.responses import Heat\n"
    asked = classes_asked_for(ast.parse(text + question))
    assert "cayleygsp.responses.Heat" in asked


def test_no_module_is_named_like_a_function_that_it_exports():
    clashes = [
        name
        for name, path in modules().items()
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name.rpartition(".")[2]
    ]
    assert clashes == []


def public_functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the functions that a module offers, with those that make and use its classes; results are no functions."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    for name in getattr(module, "__all__", own):
        value = getattr(module, name)
        yield name, value.__init__ if inspect.isclass(value) and not is_dataclass(value) else value
        if inspect.isclass(value):
            yield from ((f"{name}.{one}", getattr(value, one)) for one in vars(value) if not one.startswith("_"))


def misplaced_options(function: Any) -> list[str]:
    """Return which of ``method`` and ``tol`` can be given by their place, or stand in the wrong order."""
    parameters = inspect.signature(function).parameters
    options = [name for name in parameters if name in ("method", "tol")]
    by_place = [name for name in options if parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY]
    return by_place or (options if options == ["tol", "method"] else [])


@pytest.mark.parametrize("name", public_modules())
def test_method_and_tolerance_are_given_by_name_in_this_order(name):
    try:
        module = import_module(name)
    except ImportError as error:
        pytest.skip(str(error))
    functions = (
        (label, value) for label, value in public_functions(module) if callable(value) and inspect.isroutine(value)
    )
    found = {label for label, value in functions if misplaced_options(value)}
    assert found == {label for where, label in BY_PLACE if where == name}


def test_options_by_place_and_in_another_order_are_seen():
    assert misplaced_options(lambda x, tol=1e-6: x) == ["tol"]
    assert misplaced_options(lambda x, *, tol, method: x) == ["tol", "method"]
    assert misplaced_options(lambda x, *, method, n_iter, tol: x) == []


def scripts_imported(path: Path) -> Iterator[str]:
    """Yield the files and folders of the scripts from which a file imports anything."""
    yield from (home(one).split(".")[1] for one in imports(path) if home(one).startswith("analysis."))


def test_scripts_do_not_import_scripts():
    used = set()
    for path in ANALYSIS.rglob("*.py"):
        script = path.relative_to(ANALYSIS).parts[0].removesuffix(".py")
        used |= {(script, name) for name in scripts_imported(path) if not name.startswith("_") and name != script}
    assert used == SHOWN_BY_THE_REPORT


def n_lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


@pytest.mark.parametrize("folder", [ROOT, ANALYSIS])
def test_files_and_functions_are_short(folder):
    for path in folder.rglob("*.py"):
        assert n_lines(path) <= 600, path
        assert "# -----" not in path.read_text(encoding="utf-8"), path
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                length = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
                assert length <= 60, f"{path.name}: {node.name} has {length} lines"


def test_a_small_file_has_a_reason():
    """A file is a thought: what one other file needs, in few lines, stands there."""
    importers = Counter(target for path in package().values() for target in targets(path))
    small = {
        name
        for name, path in package().items()
        if path.name != "__init__.py" and n_lines(path) < (80 if importers[name] <= 1 else 60)
    }
    assert small == set(SMALL)


def top_names(path: Path) -> Iterator[str]:
    """Yield the names that look public and that a file defines outside of classes and functions."""
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        else:
            assigned = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [target.id for target in assigned if isinstance(target, ast.Name)]
        yield from (name for name in names if not name.startswith("_"))


def test_one_name_has_one_meaning():
    homes = Counter(name for path in package().values() for name in set(top_names(path)))
    assert {name for name, count in homes.items() if count > 1} == set(SAME_NAME)


def test_public_names_can_be_counted():
    listed = [
        name
        for path in [ROOT / "__init__.py", *package().values()]
        for node in tree(path).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for name in ast.literal_eval(node.value)
    ]
    assert len(listed) <= MOST_PUBLIC_NAMES


def mirrored(path: Path) -> list[str]:
    """Return what a file of tests may stand for: a file or folder at the same place, or one and an aspect of it."""
    place = path.relative_to(TESTS).parent
    folder = (ROOT.parent if place.parts[:1] == ("analysis",) else ROOT) / place
    words = path.stem.split("_")[1:]
    stems = ["_".join(words[:n]) for n in range(len(words), 0, -1)]
    names = [name for stem in stems for name in (stem, f"_{stem}", f"__{stem}__")]
    return [name for name in names if (folder / name).is_dir() or (folder / f"{name}.py").is_file()]


def test_tests_mirror_the_tree():
    files = {path.relative_to(TESTS).as_posix(): mirrored(path) for path in TESTS.rglob("test_*.py")}
    assert {name for name, found in files.items() if not found} == set(OF_THE_WHOLE)


def test_a_test_without_a_file_is_seen():
    assert mirrored(TESTS / "filters" / "test_base_algebra.py") == ["base"]
    assert mirrored(TESTS / "nn" / "test_init.py") == ["__init__"]
    assert mirrored(TESTS / "analysis" / "test_script.py") == ["_script"]
    assert mirrored(TESTS / "filters" / "test_algebra.py") == []
