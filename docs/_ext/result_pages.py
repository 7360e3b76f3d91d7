"""The list of recorded results: one row per JSON file of ``docs/results``, with what its page and its record say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from generated import write_if_changed
from sphinx.application import Sphinx
from sphinx.config import Config

HEADER = """---
orphan: false
---

# Recorded runs

Each page is written by its script from a JSON file that the script measured; a test holds page and file together. Run
the command, with `--quick` for a small form, to measure on your machine.

"""


def title(page: Path) -> str:
    """Return the heading of a page."""
    return page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


def row(page: Path, folder: Path) -> str:
    """Return the line of the table for one page: its heading, its command, its day."""
    record = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    link = page.relative_to(folder).as_posix()
    day = record["date"][:10].replace("-", "\N{NON-BREAKING HYPHEN}")
    return f"| [{title(page)}](../results/{link}) | `{record['command']}` | {day} |"


def results_page(folder: Path) -> str:
    """Return the page with the table of all results and their places in the menu."""
    pages = sorted((page for page in folder.rglob("*.md") if page.with_suffix(".json").exists()), key=title)
    entries = [f"../results/{page.relative_to(folder).with_suffix('').as_posix()}" for page in pages]
    table = ["| result | command | date |", "| --- | --- | --- |", *(row(page, folder) for page in pages)]
    menu = ["```{toctree}", ":hidden:", "", *entries, "```"]
    return HEADER + "\n".join(table) + "\n\n" + "\n".join(menu) + "\n"


def write_page(app: Sphinx, config: Config) -> None:
    """Write the page before the sources are read."""
    source = Path(app.srcdir)
    write_if_changed(source / "experiments" / "results.md", results_page(source / "results"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the page when a build starts."""
    app.connect("config-inited", write_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
