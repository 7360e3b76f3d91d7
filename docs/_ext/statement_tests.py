"""The role ``{test}`path::name```: a link from a statement to the source of the test that holds it.

All tests that are named stand on one page of the site, ``theory/tests``, which is written from the files before a build
reads its sources. A test that does not exist stops the build.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from generated import write_if_changed
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxRole

NAMED = re.compile(r"\{test\}`([^`:]+)::(\w+)`")
INTRODUCTION = """# The tests behind the statements

What the chapters of this section state is held by tests of the suite (`make test`). Those that the text links to stand
here as they are in the tree, file by file. `tests/oracle.py` has the dense eigendecomposition that they compare with,
`tests/strategies.py` draws the random graphs.
"""


def label(path: str, name: str) -> str:
    """Return the label of a test on the page."""
    return re.sub(r"[^a-z0-9]+", "-", f"test-{path}-{name}".lower())


def source_of(root: Path, path: str, name: str) -> str:
    """Return the source of a function of a file, with its decorators."""
    file = root / path
    if not file.exists():
        raise ExtensionError(f"a page names {path}::{name}: there is no such file")
    text = file.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    raise ExtensionError(f"a page names {path}::{name}: there is no such function")


def named_tests(folder: Path) -> list[tuple[str, str]]:
    """Return file and name of the tests that the pages of a folder link to, each once, in the order of files."""
    tests = {match for page in folder.rglob("*.md") for match in NAMED.findall(page.read_text(encoding="utf-8"))}
    return sorted(tests)


def tests_page(root: Path, tests: list[tuple[str, str]]) -> str:
    """Return the page with the sources of some tests."""
    lines, last = [INTRODUCTION], None
    for path, name in tests:
        if path != last:
            lines.append(f"## {path}\n")
            last = path
        lines.append(f"({label(path, name)})=\n\n### {name}\n\n```python\n{source_of(root, path, name)}\n```\n")
    return "\n".join(lines)


def write_page(app: Sphinx, config: Config) -> None:
    """Write the page of the tests that the pages on the theory name."""
    source = Path(app.srcdir)
    write_if_changed(source / "theory" / "tests.md", tests_page(source.parent, named_tests(source / "theory")))


class StatementTest(SphinxRole):
    """The link to a test: a mark."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link, which the page of the tests resolves."""
        path, _, function = self.text.partition("::")
        link = pending_xref(
            self.rawtext,
            refdomain="std",
            reftype="ref",
            reftarget=label(path, function),
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )
        link += nodes.inline(self.rawtext, "✓ test", classes=["statement-test"])
        return [link], []


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the role and the page behind it."""
    app.add_role("test", StatementTest())
    app.connect("config-inited", write_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
