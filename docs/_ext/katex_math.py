"""Formulas by KaTeX from the static files of the site: nothing is loaded from elsewhere, no server is needed."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    self.body.append(self.starttag(node, "span", "", CLASS="katex-source"))
    self.body.append(f"{self.encode(node.astext())}</span>")
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own lines, with its number."""
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    text = node.astext().strip()
    if ("\\\\" in text or "&" in text) and "\\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    self.body.append(f'<div class="katex-source katex-display-source">{self.encode(text)}</div>')
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; its name is the default because it is the only other one than none."""
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "katex"
    app.add_css_file("katex/katex.min.css")
    app.add_js_file("katex/katex.min.js", loading_method="defer")
    app.add_js_file("formulas.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
