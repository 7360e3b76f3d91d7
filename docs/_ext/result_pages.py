"""The recorded results: a list with one row per JSON file of ``docs/results``, and their pictures on their pages."""

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


def title_of(text: str) -> str:
    """Return the heading of the text of a page."""
    return text.partition("\n")[0].removeprefix("# ")


def title(page: Path) -> str:
    """Return the heading of a page."""
    return title_of(page.read_text(encoding="utf-8"))


def names(pages: list[Path], folder: Path) -> dict[Path, str]:
    """Return the title of each page: its heading, and where two are alike, what the longer path has besides."""
    titles: dict[Path, str] = {}
    first: dict[str, Path] = {}
    for page in sorted(pages, key=lambda page: len(page.relative_to(folder).as_posix())):
        heading = title(page)
        other = first.setdefault(heading, page)
        rest = page.relative_to(folder).with_suffix("").as_posix().replace(other.stem, "", 1)
        titles[page] = (
            heading if other == page else f"{heading} ({' '.join(rest.replace('/', ' ').split('_')).strip()})"
        )
    return titles


def row(page: Path, name: str, folder: Path) -> str:
    """Return the line of the table for one page: its name, its command, its day."""
    record = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    link = page.relative_to(folder).as_posix()
    day = record["date"][:10].replace("-", "\N{NON-BREAKING HYPHEN}")
    return f"| [{name}](../results/{link}) | `{record['command']}` | {day} |"


def results_page(folder: Path) -> str:
    """Return the page with the table of all results and their places in the menu."""
    called = names([page for page in folder.rglob("*.md") if page.with_suffix(".json").exists()], folder)
    pages = sorted(called, key=called.__getitem__)
    entries = [f"{called[page]} <../results/{page.relative_to(folder).with_suffix('').as_posix()}>" for page in pages]
    table = ["| result | command | date |", "| --- | --- | --- |", *(row(page, called[page], folder) for page in pages)]
    menu = ["```{toctree}", ":hidden:", "", *entries, "```"]
    return HEADER + "\n".join(table) + "\n\n" + "\n".join(menu) + "\n"


def write_page(app: Sphinx, config: Config) -> None:
    """Write the page before the sources are read."""
    source = Path(app.srcdir)
    write_if_changed(source / "experiments" / "results.md", results_page(source / "results"))


def with_picture(text: str, picture: str) -> str:
    """Return the text of a page with its picture behind the list that says how it was measured."""
    head, sign, rest = text.partition("\n- ")
    facts, blank, body = rest.partition("\n\n")
    return f"{head}{sign}{facts}\n\n![{title_of(text)}]({picture}){blank}{body}"


def add_picture(app: Sphinx, docname: str, source: list[str]) -> None:
    """Show the picture that a script drew beside its page."""
    file = Path(app.srcdir) / f"{docname}.png"
    if docname.startswith("results/") and file.exists() and f"({file.name})" not in source[0]:
        source[0] = with_picture(source[0], file.name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the list when a build starts, and add pictures as pages are read."""
    app.connect("config-inited", write_page)
    app.connect("source-read", add_picture)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
