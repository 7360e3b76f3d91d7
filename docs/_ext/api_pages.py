"""The pages of the API: one per public module, with every name that it exports, written before the build reads them."""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from generated import write_if_changed
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

#: Public modules in the order in which they are met; those that are not there yet are left out.
MODULES = {
    "cayleygsp": "Graphs, Laplacians, filters",
    "cayleygsp.responses": "Responses",
    "cayleygsp.tasks": "Tasks",
    "cayleygsp.design": "Filter design",
    "cayleygsp.zoom": "The zoom",
    "cayleygsp.bounds": "Error bounds",
    "cayleygsp.localization": "Localization",
    "cayleygsp.density": "Spectral density",
    "cayleygsp.coarsening": "Coarsening",
    "cayleygsp.gallery": "Built-in graphs",
    "cayleygsp.io": "Files",
    "cayleygsp.plotting": "Pictures",
    "cayleygsp.plotting.tasks": "Whole figures of tasks",
    "cayleygsp.pygsp_filters": "Inside PyGSP",
    "cayleygsp.nn": "Trainable layers",
    "cayleygsp.distributed": "Several processes",
    "cayleygsp.explorer": "The explorer",
}


def is_there(module: str) -> bool:
    """Return whether a module of the package exists, without importing more than its parents."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def documented_above(module: str) -> dict[str, str]:
    """Return the names that the package, or the module that defines them, exports too, with where their pages are."""
    loaded, above = import_module(module), {}
    for name in getattr(loaded, "__all__", []) if module != "cayleygsp" else []:
        value = getattr(loaded, name)
        defined = [other for other in MODULES if getattr(value, "__module__", "").startswith(f"{other}.")]
        homes = [other for other in defined if other != module and is_exported(other, name, value)]
        above |= {name: f"{homes[0]}.{name}"} if homes else {}
    return above


def is_exported(module: str, name: str, value: Any) -> bool:
    """Return whether a module exports this value under this name."""
    loaded = import_module(module)
    return name in getattr(loaded, "__all__", []) and getattr(loaded, name) is value


def public_names(module: str) -> dict[str, list[str]]:
    """Return the names that a module exports, and the results of its functions, by kind; modules have other pages."""
    loaded = import_module(module)
    own = [name for name, value in vars(loaded).items() if getattr(value, "__module__", None) == module]
    results = [
        name
        for name, value in vars(loaded).items()
        if inspect.isclass(value) and is_dataclass(value) and value.__module__.startswith(f"{module}.")
    ]
    kinds: dict[str, list[str]] = {"Functions": [], "Classes": [], "Types and constants": []}
    exported = getattr(loaded, "__all__", [name for name in own if not name.startswith("_")])
    for name in dict.fromkeys([*exported, *results]):
        value = getattr(loaded, name)
        if inspect.ismodule(value) or name in documented_above(module):
            continue
        kind = (
            "Classes" if inspect.isclass(value) else "Functions" if inspect.isroutine(value) else "Types and constants"
        )
        kinds[kind].append(name)
    return {kind: sorted(names, key=str.lower) for kind, names in kinds.items() if names}


def constant(module: str, name: str) -> list[str]:
    """Return the lines for a constant, with its value, or for a type of an argument."""
    value = getattr(import_module(module), name)
    is_type = getattr(type(value), "__module__", "") in ("typing", "types", "collections.abc")
    text = "A type, for annotations of arguments." if is_type else "A constant of the module."
    shown = [] if is_type else [f"   :value: {value!r}"]
    return [f".. py:data:: {name}", *shown, "", f"   {text}", ""]


def module_page(module: str, title: str) -> str:
    """Return the page of a module: its docstring, then a table of its names for each kind."""
    heading = f"{title}: ``{module}``"
    lines = [heading, "=" * len(heading), "", f".. automodule:: {module}", "   :no-members:", ""]
    lines += [f".. currentmodule:: {module}", ""]
    for kind, names in public_names(module).items():
        if kind == "Types and constants":
            lines += [kind, "-" * len(kind), ""]
            for name in names:
                lines += constant(module, name)
            continue
        lines += [kind, "-" * len(kind), "", ".. autosummary::", "   :toctree: names", ""]
        lines += [f"   {name}" for name in names] + [""]
    if documented_above(module):
        links = ", ".join(f":obj:`{name}`" for name in sorted(documented_above(module).values()))
        lines += [f"Also here: {links}.", ""]
    return "\n".join(lines)


def write_pages(app: Sphinx, config: Config) -> None:
    """Write the pages of all modules and the list of them, if they have changed."""
    folder = Path(app.srcdir, "api", "generated")
    there = {module: title for module, title in MODULES.items() if is_there(module)}
    pages = {f"{module}.rst": module_page(module, title) for module, title in there.items()}
    for name, text in pages.items():
        write_if_changed(folder / name, text)
    for path in folder.glob("*.rst"):
        if path.name not in pages:
            path.unlink()


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element) -> nodes.Element | None:
    """Find a name by its last parts: docstrings name things as the code that they stand in does.

    An attribute leads to its class, whose page has it; what stands in a module without a page is a name and no link.
    """
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    homes = homes_of(env, target) or (homes_of(env, target.rpartition(".")[0]) if "." in target else [])
    if homes:
        return env.domains.python_domain.resolve_xref(
            env, node["refdoc"], app.builder, "obj", homes[0], node, contnode
        )  # fmt: skip
    return contnode if is_internal(target) else None


def is_internal(target: str) -> bool:
    """Return whether a full name is that of a module without a page, or of something in one."""
    home, _, name = target.rpartition(".")
    if not target.startswith("cayleygsp."):
        return False
    return is_there(target) or (is_there(home) and hasattr(import_module(home), name))


def class_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str, None] | None:
    """Return the arguments of a class whose base has a ``__new__`` that takes anything, as scipy's operators have."""
    if what != "class" or signature != "(*args, **kwargs)" or "__init__" not in vars(obj):
        return None
    arguments = list(inspect.signature(obj.__init__).parameters.values())[1:]
    return str(inspect.Signature([one.replace(annotation=inspect.Parameter.empty) for one in arguments])), None


def homes_of(env: BuildEnvironment, target: str) -> list[str]:
    """Return the documented names that end as a target does, the shortest first."""
    ending = "." + target.rpartition("cayleygsp.")[2]
    objects = env.domains.python_domain.objects
    return sorted((name for name in objects if f".{name}".endswith(ending)), key=lambda name: (len(name), name))


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before autosummary looks for its tables."""
    app.connect("config-inited", write_pages)
    app.connect("missing-reference", resolve)
    app.connect("autodoc-process-signature", class_signature)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
