"""A report as one self-contained page: a list of contents, and sections of text, pictures and a table."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 160

# Pictures are drawn dark on white, so that they keep a white ground when the page is dark.
_STYLE = """
:root { color-scheme: light dark; --ground: #fff; --ink: #1c1c1c; --soft: #555; --line: #ddd; --strong: #888;
        --link: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #16181b; --ink: #e6e6e6; --soft: #b0b4ba; --line: #383c42; --strong: #7b828c; --link: #7db8f0; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 60rem; background: var(--ground); color: var(--ink);
       font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
       overflow-wrap: anywhere; }
a { color: var(--link); }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.5rem 0 .5rem; padding-top: 1rem;
     border-top: 1px solid var(--line); }
p { margin: .6rem 0; max-width: 46rem; }
nav ol { margin: .6rem 0; padding-left: 1.6rem; columns: 18rem 2; column-gap: 2rem; max-width: 46rem; }
nav li { break-inside: avoid; }
figure { margin: 1.2rem 0; }
figure img { display: block; width: 46rem; max-width: 100%; height: auto; padding: .4rem; background: #fff;
             border-radius: .3rem; }
figcaption { margin-top: .4rem; color: var(--soft); font-size: .9rem; max-width: 46rem; }
.wide { overflow-x: auto; }
.table { margin: 1.2rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: .3rem .8rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--strong); vertical-align: bottom; white-space: normal; min-width: 6rem; }
tbody th { font-weight: inherit; }
th.text, td.text { text-align: left; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft);
         font-size: .85rem; }
footer dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem; margin: 0; }
footer dd { margin: 0; }
@media (max-width: 40rem) { .wide img { width: 34rem; max-width: none; } }
"""


@dataclass(frozen=True)
class Picture:
    """A PNG picture of a section."""

    # File name without ending; unique in a report.
    name: str
    png: bytes
    # What it shows, for those who do not see it, and how to read it.
    alt: str
    caption: str
    # Whether it can still be read on a narrow screen when shrunk to fit; others scroll sideways there.
    shrinks: bool = False

    @classmethod
    def from_figure(cls, name: str, figure: Figure, alt: str, caption: str, *, shrinks: bool = False) -> Picture:
        """Return the picture of a matplotlib figure."""
        return cls(name, png_bytes(figure), alt, caption, shrinks)


@dataclass(frozen=True)
class Table:
    """Columns of text with a heading; the first cell of a row names it."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    # How many columns, from the left, are words; the others are aligned as numbers.
    n_text: int = 1


@dataclass(frozen=True)
class Section:
    """One part of a report: paragraphs, then pictures, then a table, then paragraphs on what can be seen in them."""

    title: str
    text: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    table: Table | None = None
    closing: Sequence[str] = ()


def new_figure(height: float) -> Figure:
    """Return an empty figure as wide as a page, and so many inches high."""
    from matplotlib.figure import Figure

    return Figure(figsize=(6.5, height), layout="constrained")


def png_bytes(figure: Figure) -> bytes:
    """Return a figure as a PNG file."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI)
    return buffer.getvalue()


def render_page(
    title: str,
    lead: str,
    sections: Sequence[Section],
    footer: Mapping[str, str],
    beside: Mapping[str, str] | None = None,
) -> str:
    """Return the page as HTML that needs no other file.

    The footer says what the page was made with, and ``beside`` what the pages that stand beside it show, by the names
    of their files. All text is plain and is escaped here.
    """
    anchors = _anchors([section.title for section in sections])
    titles = [(anchor, escape(section.title)) for anchor, section in zip(anchors, sections, strict=True)]
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<header><h1>{escape(title)}</h1><p>{escape(lead)}</p></header>",
        *(f'<p><a href="{escape(name)}">{escape(text)}</a></p>' for name, text in (beside or {}).items()),
        '<nav aria-label="Contents"><ol>',
        *(f'<li><a href="#{anchor}">{words}</a></li>' for anchor, words in titles),
        "</ol></nav><main>",
        *(_section(section, anchor) for section, anchor in zip(sections, anchors, strict=True)),
        "</main><footer><dl>",
        *(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in footer.items()),
        "</dl></footer></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _anchors(titles: Sequence[str]) -> list[str]:
    """Return a name of small letters, digits and hyphens for each title, no two the same."""
    anchors: list[str] = []
    for title in titles:
        plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"
        anchor, count = plain, 1
        while anchor in anchors:
            count += 1
            anchor = f"{plain}-{count}"
        anchors.append(anchor)
    return anchors


def _section(section: Section, anchor: str) -> str:
    parts = [f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{escape(section.title)}</h2>']
    parts += [f"<p>{escape(paragraph)}</p>" for paragraph in section.text]
    parts += [_picture(picture) for picture in section.pictures]
    if section.table is not None:
        parts.append(_table(section.table, section.title))
    parts += [f"<p>{escape(paragraph)}</p>" for paragraph in section.closing]
    return "\n".join([*parts, "</section>"])


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.png).decode("ascii")
    image = f'<img src="data:image/png;base64,{data}" alt="{escape(picture.alt)}">'
    image = image if picture.shrinks else f'<div class="wide">{image}</div>'
    return f"<figure>{image}<figcaption>{escape(picture.caption)}</figcaption></figure>"


def _table(table: Table, label: str) -> str:
    kinds = [' class="text"' if column < table.n_text else "" for column in range(len(table.header))]
    header = "".join(
        f'<th scope="col"{kind}>{escape(cell)}</th>' for kind, cell in zip(kinds, table.header, strict=True)
    )
    body = "\n".join(_row(cells, kinds) for cells in table.rows)
    # a box that scrolls can be reached with the keyboard
    return (
        f'<div class="wide table" tabindex="0" role="region" aria-label="{escape(f"Table: {label}")}"><table>'
        f"<thead><tr>{header}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _row(cells: Sequence[str], kinds: Sequence[str]) -> str:
    parts = [f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, cells, strict=True)]
    parts[0] = f'<th scope="row"{kinds[0]}>{escape(cells[0])}</th>'
    return f"<tr>{''.join(parts)}</tr>"
