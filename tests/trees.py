"""What the sources say of themselves, read from their syntax trees: who imports what, and which names are used."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import cayleygsp

ROOT = Path(cayleygsp.__file__).parent
ANALYSIS = ROOT.parent / "analysis"
TESTS = ROOT.parent / "tests"


class Import(NamedTuple):
    """One name that a file imports, as ``from module import name as bound``; no name for a module as a whole."""

    module: str
    name: str | None
    bound: str | None


@cache
def modules() -> dict[str, Path]:
    """Return the files of the package, its scripts and its tests by the names with which they are imported."""
    return {
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for folder in (ROOT, ANALYSIS, TESTS)
        for path in folder.rglob("*.py")
    }


@cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> list[Import]:
    """Return every import of the project's own modules, wherever it stands in the file."""
    return [one for one in read_imports(tree(path)) if one.module.partition(".")[0] in {"cayleygsp", "analysis"}]


def read_imports(root: ast.AST) -> Iterator[Import]:
    """Yield the imports of a tree, calls of ``import_module`` with a constant among them."""
    for node in ast.walk(root):
        if isinstance(node, ast.ImportFrom):
            yield from (Import(node.module or "", alias.name, alias.asname or alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:  # without a new name, the outermost package is what is bound
                yield Import(alias.name, None, alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.Call) and _last_name(node.func) == "import_module":
            yield from (Import(str(one.value), None, None) for one in node.args[:1] if isinstance(one, ast.Constant))


def _last_name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


@cache
def lazy_homes() -> dict[str, str]:
    """Return the modules of the names that the package loads when they are asked for; it imports them for types."""
    return {one.name: one.module for one in imports(ROOT / "__init__.py") if one.name}


def home(one: Import) -> str:
    """Return the module of what is imported: the name if it is a module, the home of a name that is loaded lazily."""
    if one.name is None:
        return one.module
    inner = f"{one.module}.{one.name}"
    if inner in modules():
        return inner
    return lazy_homes().get(one.name, one.module) if one.module == "cayleygsp" else one.module


def dotted(node: ast.expr, bound: dict[str, str]) -> str | None:
    """Return the full name of ``a.b.c``, where ``a`` is bound by an import."""
    if isinstance(node, ast.Name):
        return bound.get(node.id)
    inner = dotted(node.value, bound) if isinstance(node, ast.Attribute) else None
    return f"{inner}.{node.attr}" if inner else None  # type: ignore[attr-defined]


def bound_names(found: list[Import]) -> dict[str, str]:
    """Return the full name of what each import binds."""
    return {one.bound: full_name(one) for one in found if one.bound}


def full_name(one: Import) -> str:
    """Return the full name of what an import binds."""
    if one.name:
        return f"{one.module}.{one.name}"
    return one.module.partition(".")[0] if one.bound == one.module.partition(".")[0] else one.module


def is_private(name: str) -> bool:
    """Return whether a name belongs to its file alone."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def private_names(path: Path) -> set[str]:
    """Return the private names of other files that a file imports, or takes as ``module._name``."""
    found = imports(path)
    used = {f"{one.module}.{one.name}" for one in found if one.name and is_private(one.name)}
    bound = bound_names(found)
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and dotted(node.value, bound) in modules():
            used.add(f"{dotted(node, bound)}")
    return used - set(modules())


def public_modules() -> list[str]:
    """Return the modules of the package that list their public names, and those that the package itself lists."""
    listing = {name for name, path in modules().items() if name.startswith("cayleygsp.") and _lists_names(tree(path))}
    return sorted(listing | {f"cayleygsp.{name}" for name in cayleygsp.__all__} & set(modules()))


def _lists_names(root: ast.Module) -> bool:
    targets = (target for node in root.body if isinstance(node, ast.Assign) for target in node.targets)
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def subclasses(folder: Path, base: str) -> set[str]:
    """Return the names of the classes in a folder that derive from one of it, at any distance."""
    bases = {
        node.name: {ast.unparse(one).rpartition(".")[2] for one in node.bases}
        for path in folder.rglob("*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
    }
    found: set[str] = set()
    while new := {name for name, above in bases.items() if above & (found | {base})} - found:
        found |= new
    return found


def classes_asked_for(root: ast.AST) -> set[str]:
    """Return the full names of the project's classes with which a tree compares the class of something."""
    bound = bound_names(list(read_imports(root)))
    asked: set[str] = set()
    for node in ast.walk(root):
        for one in _compared_with(node):
            asked |= {name for part in ast.walk(one) if isinstance(part, ast.expr) and (name := dotted(part, bound))}
    return {name for name in asked if name.startswith("cayleygsp.")}


def _compared_with(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "issubclass"}:
        return node.args[1:]
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return sides if any(isinstance(one, ast.Call) and ast.unparse(one.func) == "type" for one in sides) else []
    return [node.cls] if isinstance(node, ast.MatchClass) else []
