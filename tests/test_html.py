"""A page stands alone, can be read on any screen and by any reader, and escapes what it is given."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from cayleygsp._html import Picture, Section, Table, render_page


@pytest.fixture(scope="module")
def page():
    picture = Picture("curve", b"png", "A curve.", "What the curve is.")
    table = Table(["method", "error"], [["jacobi", "0.1"], ["series", "1e-6"]])
    sections = [
        Section("One thing", ["Text."], [picture], table, ["Closing."]),
        Section("Another: κ < 1", ["Text."]),
        Section("One thing", ["Again."]),
        Section("κ", ["Greek."]),
    ]
    return render_page("A title", "A lead.", sections, {"Command": "x" * 500})


class Elements(HTMLParser):
    VOID = ("meta", "img")

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def named(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def elements(page):
    return Elements(page)


def test_tags_are_closed(elements):
    assert elements.open == []


def test_contents_lead_to_every_section(elements):
    links = [link["href"] for link in elements.named("a")]
    anchors = [f"#{heading['id']}" for heading in elements.named("h2")]
    assert links == anchors == ["#one-thing", "#another-1", "#one-thing-2", "#section"]
    assert [nav["aria-label"] for nav in elements.named("nav")] == ["Contents"]
    assert [f"#{section['aria-labelledby']}" for section in elements.named("section")] == anchors


def test_table_headers_have_a_scope(elements):
    assert [cell.get("scope") for cell in elements.named("th")] == ["col", "col", "row", "row"]
    assert len(elements.named("td")) == 2


def test_wide_tables_scroll_in_their_own_box(page, elements):
    (box,) = [attributes for attributes in elements.named("div") if "table" in attributes["class"]]
    assert box["class"] == "wide table"
    assert box["tabindex"] == "0"
    assert box["aria-label"] == "Table: One thing"
    assert ".wide { overflow-x: auto; }" in page
    assert "overflow-wrap: anywhere" in page


def test_pictures_have_a_caption_and_a_text(page, elements):
    assert [image["alt"] for image in elements.named("img")] == ["A curve."]
    assert "<figcaption>What the curve is.</figcaption></figure>" in page


def test_picture_needs_a_caption():
    with pytest.raises(TypeError, match="caption"):
        Picture("curve", b"png", "A curve.")


def test_page_follows_the_dark_mode_of_the_reader(page, elements):
    assert "@media (prefers-color-scheme: dark)" in page
    assert {"name": "color-scheme", "content": "light dark"} in elements.named("meta")
    # pictures are drawn on white and keep it
    assert re.search(r"figure img {[^}]*background: #fff", page)
    # no colour of the page is fixed but in the two palettes and the ground of the pictures
    style = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
    rules = re.sub(r":root {[^}]*}", "", style)
    assert set(re.findall(r"#[0-9a-f]{3,6}\b", rules)) == {"#fff"}


def test_page_needs_no_other_file(page):
    assert "http" not in page
    assert "url(" not in page


def test_text_is_escaped():
    section = Section("<t>", ["<p1>"], [Picture("n", b"x", '"<alt>"', "<c>")], Table(["<h>"], [["<d>"]]), ["<p2>"])
    page = render_page("<title>", "<lead>", [section], {"<k>": "<v>"})
    for word in ("t", "p1", "alt", "c", "h", "d", "p2", "lead", "k", "v"):
        assert f"<{word}>" not in page
        assert f"&lt;{word}&gt;" in page


def test_tables_load_no_matplotlib():
    code = "import sys, cayleygsp._html; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
