"""The explorer of the community graph on the first page, where the package has one.

``cayleygsp explore @communities`` writes one self-contained file; a build puts it among the static files, and the
directive ``explorer`` embeds it. Without :mod:`cayleygsp.explorer` the directive leaves nothing on the page.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

PAGE = "explorer.html"
FRAME = """<figure class="explorer">
<iframe src="{address}" title="Interactive page for the zoom: a graph with 15 communities" loading="lazy"></iframe>
<figcaption>Move the zoom and click on a vertex; <a href="{address}">open the explorer on a page of its own</a>, or make
one of your own graph: <code>cayleygsp explore GRAPH -o page.html</code>.</figcaption>
</figure>
"""


class Explorer(SphinxDirective):
    """Embed the explorer, or nothing."""

    def run(self) -> list[nodes.Node]:
        """Return the frame, with an address that is right for the first page, where all static files are beside it."""
        if find_spec("cayleygsp.explorer") is None:
            return []
        return [nodes.raw("", FRAME.format(address=f"_static/{PAGE}"), format="html")]


def write_page(app: Sphinx) -> None:
    """Write the explorer's page among what is copied to the static files."""
    if find_spec("cayleygsp.explorer") is None:
        return
    from cayleygsp.cli import main

    folder = Path(app.doctreedir) / "explorer_static"
    folder.mkdir(parents=True, exist_ok=True)
    if main(["explore", "@communities", "-o", str(folder / PAGE), "--force", "--quiet"]) != 0:
        raise ExtensionError("`cayleygsp explore @communities` failed")
    app.config.html_static_path.append(str(folder))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and what writes the page."""
    app.add_directive("explorer", Explorer)
    app.connect("builder-inited", write_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
