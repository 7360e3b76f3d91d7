"""The tree holds to its own order: imports point one way, also deferred ones and those for types alone."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median

import pytest

import cayleygsp

ROOT = Path(cayleygsp.__file__).parent
ANALYSIS = ROOT.parent / "analysis"
TESTS = ROOT.parent / "tests"

# Each room may import itself and what stands before it.
LAYERS = (
    {"_typing", "_validation", "_memory", "_files", "_text", "_format", "_rounding"},
    {"graph", "gallery", "io"},
    {"engine"},
    {"spectrum", "eigenbasis", "laplacian_matrices", "laplacians"},
    {"responses"},
    {"bounds"},
    {"methods"},
    {"density", "lowest", "design", "zoom", "coarsening"},
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

# An import against the order, and why it is there.
EXCEPTIONS = {
    ("design.fit", "filters"): "Fit.on gives the filter of a fit",
}

# Tests of no single file, and of what.
OF_THE_WHOLE = {
    "test_docs.py": "pages and their examples",
    "test_import.py": "what is loaded when",
    "test_layers.py": "the tree",
    "nn/test_forks.py": "layers and filters in worker processes",
}

# The report on everything stands above the scripts: it shows what these compute in small.
SHOWN_BY_THE_REPORT = {("report", "community"), ("report", "complexity"), ("report", "cora")} | {
    ("report", "mnist"),
    ("report", "movielens"),
}


def modules() -> dict[str, Path]:
    """Return the files of the package by their names within it."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in ROOT.rglob("*.py")
        if path != ROOT / "__init__.py"
    }


@cache
def imports(path: Path) -> list[tuple[str, list[str]]]:
    """Return module and names of every import from the package, wherever it stands in the file."""
    return list(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, list[str]]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "cayleygsp":
            module = (node.module or "").partition(".")[2]
            names = [alias.name for alias in node.names]
            if module:
                yield module, names
            else:
                yield from ((name, []) for name in names)
        elif isinstance(node, ast.Import):
            yield from (
                (alias.name.partition(".")[2], []) for alias in node.names if alias.name.startswith("cayleygsp.")
            )


def room(module: str) -> str:
    return module.partition(".")[0]


def test_every_room_has_its_place():
    assert {room(name) for name in modules()} == set(RANK)


def test_imports_point_one_way():
    known = modules()
    against = [
        f"{name} imports {target}"
        for name, path in known.items()
        for target, _ in imports(path)
        if room(target) in RANK and RANK[room(target)] > RANK[room(name)] and (name, room(target)) not in EXCEPTIONS
    ]
    assert against == []


def test_exceptions_are_still_needed():
    known = modules()
    for name, target in EXCEPTIONS:
        assert target in {room(module) for module, _ in imports(known[name])}


def test_the_core_does_not_know_the_layers():
    for name, path in modules().items():
        assert room(name) == "nn" or "nn" not in {room(target) for target, _ in imports(path)}, name


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
    known = modules()
    graph: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for target, names in imports(path):
            inner = {f"{target}.{one}" for one in names} & set(known)
            graph[name] |= inner or ({target} & set(known))
        graph[name] = {target for target in graph[name] if (name, room(target)) not in EXCEPTIONS}
    assert circle(graph) == []


def test_private_names_stay_in_their_files():
    files = [*modules().values(), *ANALYSIS.rglob("*.py")]
    crossing = [
        f"{path.name}: {name} from {target}"
        for path in files
        for target, names in imports(path)
        for name in names
        if name.startswith("_") and name != "__version__"
    ]
    assert crossing == []


def test_no_module_is_named_like_a_function_that_it_exports():
    clashes = [
        name
        for name, path in modules().items()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name == name.rpartition(".")[2]
    ]
    assert clashes == []


def scripts_imported(path: Path) -> Iterator[str]:
    """Yield the files and folders of the scripts from which a file imports anything."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "analysis":
            inner = (node.module or "").split(".")[1:]
            yield from inner[:1] or [alias.name for alias in node.names]


def test_scripts_do_not_import_scripts():
    used = set()
    for path in ANALYSIS.rglob("*.py"):
        script = path.relative_to(ANALYSIS).parts[0].removesuffix(".py")
        used |= {(script, name) for name in scripts_imported(path) if not name.startswith("_") and name != script}
    assert used == SHOWN_BY_THE_REPORT


@pytest.mark.parametrize(("folder", "typical", "longest"), [(ROOT, 160, 450), (ANALYSIS, 200, 450)])
def test_files_and_functions_are_short(folder, typical, longest):
    texts = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    lengths = {path: text.count("\n") for path, text in texts.items() if text.strip()}
    assert {path.name: length for path, length in lengths.items() if length > longest} == {}
    assert median(lengths.values()) <= typical
    for path, text in texts.items():
        assert "# -----" not in text, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                n_lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
                assert n_lines <= 60, f"{path.name}: {node.name} has {n_lines} lines"


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
