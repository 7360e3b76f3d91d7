"""What commands print for people."""

from __future__ import annotations

import numpy as np

from cayleygsp.cli import main


def test_output_for_people_says_filter_method_and_error(folder, capsys):
    assert main(["filter", "@communities", "f.csv", "--pass", "mexican:1", "-o", "y.csv"]) == 0
    out = capsys.readouterr().out
    for word in ("mexican-hat (scale 1)", "method", "error bound", "within --tol 1e-06", "y.csv"):
        assert word in out
    for command in (["bound", "--zoom", "1", "--order", "2"], ["decay", "--target", "heat:1"], ["zoom"]):
        assert main([command[0], "@ring:20", *command[1:]]) == 0
        assert "20 vertices" in capsys.readouterr().out


def test_one_is_not_many(folder, capsys):
    (folder / "edge.txt").write_text("0 1\n")
    np.save("point.npy", np.zeros((1, 1)))
    np.save("loop.npy", np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert main(["zoom", "edge.txt", "--lowest", "1"]) == 0
    out = capsys.readouterr().out
    assert "2 vertices, 1 edge," in out
    assert "1 frequency, up to" in out
    assert "half circle from 0 to the lowest " in out
    assert main(["bound", "point.npy", "--zoom", "1", "--order", "1", "--sweeps", "1"]) == 0
    out = capsys.readouterr().out
    assert "1 vertex, 0 edges" in out
    assert "With 1 sweep " in out
    assert main(["info", "loop.npy"]) == 0
    out = capsys.readouterr().out
    assert "1 and 1 self-loop\n" in out
    assert "2, the largest of 2 vertices" in out
    assert "without edges  1 vertex\n" in out
    assert main(["report", "edge.txt", "-o", "page.html"]) == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "2 vertices and 1 edge:" in page
    assert "The lowest frequency goes up to" in page
