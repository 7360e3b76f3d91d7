"""The directive ``pages-if-there``: a table of contents that leaves out what the tree does not have."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.directives.other import TocTree


class PagesIfThere(TocTree):
    """A table of contents of pages named from the top of the sources, those that exist."""

    def run(self) -> list[nodes.Node]:
        """Return the table, or nothing."""
        there = [k for k, name in enumerate(self.content) if name.strip().lstrip("/") in self.env.found_docs]
        if not there:
            return []
        for k in reversed(range(len(self.content))):
            if k not in there:
                del self.content[k]
        return super().run()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("pages-if-there", PagesIfThere)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
