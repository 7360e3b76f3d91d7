"""The command ``report``."""

from __future__ import annotations

import html
import re
import shlex

import numpy as np

from tests.cli.running import refused, run_json


def test_report_is_one_page_that_stands_alone(folder, capsys):
    edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [5, 6]])
    (folder / "my <graph>.txt").write_text("".join(f"{a} {b}\n" for a, b in edges))
    (folder / "deep").mkdir()
    numbers = run_json(capsys, "report", "my <graph>.txt", "-o", "deep/page.html")
    page = (folder / "deep" / "page.html").read_text(encoding="utf-8")
    assert numbers["graph"]["n_components"] == 3
    assert "my &lt;graph&gt;" in page
    assert 'src="http' not in page
    assert re.findall(r'href="(?!#)', page) == []
    assert [path.name for path in (folder / "deep").iterdir()] == ["page.html"]


def test_the_foot_has_the_command_as_a_shell_takes_it(folder, capsys, undrawn):
    (folder / "data").mkdir()
    name = "data/my $(graph) & 'co'.txt"
    (folder / name).write_text("0 1\n1 2\n")
    for given in (name, str(folder / name)):
        run_json(capsys, "report", given, "--symmetrize", "max", "--seed", "3", "-o", "page.html", "--force")
        page = html.unescape((folder / "page.html").read_text(encoding="utf-8"))
        assert str(folder) not in page
        command = re.search(r"cayleygsp report .*? --symmetrize max", page)
        assert command is not None
        shown = name if given == name else "my $(graph) & 'co'.txt"
        assert shlex.split(command[0])[:3] == ["cayleygsp", "report", shown]


def test_one_page_is_written(folder, capsys):
    for outputs in ([], ["-o", "a.html", "-o", "b.html"]):
        assert "give one output file that ends in .html" in refused(capsys, "report", "@ring:9", *outputs)
