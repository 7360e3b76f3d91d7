"""Check the links inside a built site: every page, picture and place on a page that one names must be there.

Nothing may be loaded from elsewhere: the site works without a network.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and the places that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: set[str] = set()
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep addresses and names."""
        values = dict(attrs)
        self.links += [value for key in ("href", "src") if (value := values.get(key))]
        if tag == "link" and "stylesheet" in (values.get("rel") or "").split():
            self.loaded.add(values.get("href") or "")
        self.loaded.add(values.get("src") or "")
        self.places |= {value for key in ("id", "name") if (value := values.get(key))}


@cache
def read(path: Path) -> Page:
    """Return the links and places of a page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken(path: Path, link: str) -> bool:
    """Return whether a link of a page leads nowhere or loads from elsewhere; links to other sites are not looked at."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return link in read(path).loaded and parts.scheme != "data"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return True
    return bool(parts.fragment) and target.suffix == ".html" and unquote(parts.fragment) not in read(target).places


def main(folder: str) -> int:
    """Print the broken links of a site and return the exit code."""
    pages = sorted(Path(folder).resolve().rglob("*.html"))
    # the explorer is a program, not a page
    pages = [page for page in pages if "_static" not in page.parts]
    bad = [f"{page}: {link}" for page in pages for link in dict.fromkeys(read(page).links) if broken(page, link)]
    print("\n".join(bad) or f"{len(pages)} pages, no broken link")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
