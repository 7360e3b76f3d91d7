"""The command ``report``."""

from __future__ import annotations

import re

import numpy as np

from tests.cli.running import run_json


def test_report_is_one_page_that_stands_alone(folder, capsys):
    edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [5, 6]])
    (folder / "my <graph>.txt").write_text("".join(f"{a} {b}\n" for a, b in edges))
    (folder / "deep").mkdir()
    found = run_json(capsys, "report", "my <graph>.txt", "-o", "deep/page.html")
    page = (folder / "deep" / "page.html").read_text(encoding="utf-8")
    assert found["graph"]["n_components"] == 3
    assert "my &lt;graph&gt;" in page
    assert 'src="http' not in page
    assert re.findall(r'href="(?!#)', page) == []
    assert [path.name for path in (folder / "deep").iterdir()] == ["page.html"]
