"""Pages that are written before a build reads its sources."""

from __future__ import annotations

from pathlib import Path


def write_if_changed(path: Path, text: str) -> None:
    """Write a page, and leave it alone if it says the same already: unchanged pages are not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
