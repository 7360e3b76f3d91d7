"""Make the links of a page absolute: a package index shows the README without the files beside it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")


def absolute(text: str, address: str) -> str:
    """Return the text of a page with links to files of a repository: as pages, or as they are if they are pictures."""

    def link(match: re.Match[str]) -> str:
        picture, words, path = match.groups()
        return f"{picture}[{words}]({address.rstrip('/')}/{'raw' if picture else 'blob'}/main/{path})"

    return LINK.sub(link, text)


def main(file: str, address: str) -> None:
    """Rewrite a file."""
    path = Path(file)
    path.write_text(absolute(path.read_text(encoding="utf-8"), address), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
