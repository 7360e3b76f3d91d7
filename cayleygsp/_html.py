"""A report as one self-contained page: sections of text, pictures and a table."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO

from matplotlib.figure import Figure

_DPI = 160

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 60rem; background: #fff; color: #1c1c1c;
       font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
       overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.5rem 0 .5rem; padding-top: 1rem; border-top: 1px solid #ddd; }
p { margin: .6rem 0; max-width: 46rem; }
figure { margin: 1.2rem 0; }
figure img { display: block; width: 46rem; max-width: 100%; height: auto; }
figcaption { margin-top: .4rem; color: #555; font-size: .9rem; max-width: 46rem; }
.wide { overflow-x: auto; }
.table { margin: 1.2rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #e4e4e4; }
th { border-bottom: 2px solid #888; vertical-align: bottom; }
th.text, td.text { text-align: left; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid #ddd; color: #555; font-size: .85rem; }
footer dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; }
footer dd { margin: 0; }
@media (max-width: 40rem) { .wide img { width: 34rem; max-width: none; } }
"""


@dataclass(frozen=True)
class Picture:
    """A PNG picture of a section.

    Attributes
    ----------
    name : str
        File name without ending; unique in a report.
    png : bytes
        The file.
    alt : str
        What it shows, for those who do not see it.
    caption : str
        What stands under it.
    shrinks : bool
        Whether it can still be read on a narrow screen when shrunk to fit; others scroll sideways there.
    """

    name: str
    png: bytes
    alt: str
    caption: str = ""
    shrinks: bool = False

    @classmethod
    def from_figure(cls, name: str, figure: Figure, alt: str, caption: str = "", *, shrinks: bool = False) -> Picture:
        """Draw a matplotlib figure."""
        buffer = BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI)
        return cls(name, buffer.getvalue(), alt, caption, shrinks)


@dataclass(frozen=True)
class Table:
    """Columns with a heading; all cells are text already.

    Attributes
    ----------
    header : sequence of str
        Headings.
    rows : sequence of sequence of str
        As many cells a row as there are headings.
    n_text : int
        How many columns, from the left, are words; the others are aligned as numbers.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_text: int = 1


@dataclass(frozen=True)
class Section:
    """One part of a report: text, then pictures, then a table, then what can be seen in them.

    Attributes
    ----------
    title : str
        Heading.
    text : sequence of str
        Paragraphs; plain text, escaped when the page is written.
    pictures : sequence of Picture
        Shown one below the other.
    table : Table, optional
        Scrolls sideways where it does not fit.
    closing : sequence of str
        Paragraphs below the table.
    """

    title: str
    text: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    table: Table | None = None
    closing: Sequence[str] = field(default=())


def render_page(title: str, lead: str, sections: Sequence[Section], footer: Mapping[str, str]) -> str:
    """Return the page as HTML that needs no other file.

    Parameters
    ----------
    title, lead : str
        Heading and first paragraph.
    sections : sequence of Section
        In the order in which they are read.
    footer : mapping of str to str
        What the report was made with.
    """
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<header><h1>{escape(title)}</h1><p>{escape(lead)}</p></header><main>",
        *(_section(section) for section in sections),
        "</main><footer><dl>",
        *(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in footer.items()),
        "</dl></footer></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _section(section: Section) -> str:
    parts = [f"<section><h2>{escape(section.title)}</h2>"]
    parts += [f"<p>{escape(paragraph)}</p>" for paragraph in section.text]
    parts += [_picture(picture) for picture in section.pictures]
    if section.table is not None:
        parts.append(_table(section.table))
    parts += [f"<p>{escape(paragraph)}</p>" for paragraph in section.closing]
    return "\n".join([*parts, "</section>"])


def _picture(picture: Picture) -> str:
    data = base64.b64encode(picture.png).decode("ascii")
    caption = f"<figcaption>{escape(picture.caption)}</figcaption>" if picture.caption else ""
    image = f'<img src="data:image/png;base64,{data}" alt="{escape(picture.alt)}">'
    image = image if picture.shrinks else f'<div class="wide">{image}</div>'
    return f"<figure>{image}{caption}</figure>"


def _table(table: Table) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        kinds = [' class="text"' if column < table.n_text else "" for column in range(len(cells))]
        return "<tr>" + "".join(f"<{tag}{k}>{escape(c)}</{tag}>" for k, c in zip(kinds, cells, strict=True)) + "</tr>"

    body = "\n".join(row(cells, "td") for cells in table.rows)
    return (
        f'<div class="wide table"><table><thead>{row(table.header, "th")}</thead>\n<tbody>{body}</tbody></table></div>'
    )
