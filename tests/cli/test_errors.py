"""Input that cannot be used: one line, before anything is written."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import refused

HUGE = "--zoom times the bound of the spectrum"


REFUSED = {
    "missing graph": (["info", "nothing.mtx"], "there is no file 'nothing.mtx'"),
    "built-in": (["info", "@nothing"], "built-in graphs are"),
    "built-in size": (["info", "@grid"], "@grid takes 1 to 2 numbers"),
    "built-in word": (["info", "@ring:x"], "@ring takes whole numbers"),
    "built-in too small": (["info", "@ring:0"], "must be"),
    "missing signal": (["filter", "@ring:9", "no.npy", "--pass", "low:1", "-o", "y.npy"], "there is no file 'no.npy'"),
    "signal length": (["filter", "@ring:9", "f.npy", "--pass", "low:1", "-o", "y.npy"], "must have shape (9,)"),
    "signal line": (["filter", "@ring:3", "bad.csv", "--pass", "low:1", "-o", "y.npy"], "line 2: expected numbers"),
    "signal width": (
        ["filter", "@ring:3", "ragged.csv", "--pass", "low:1", "-o", "y.npy"],
        "line 3: expected 1 number as before, got 2",
    ),
    "signal nan": (["filter", "@ring:3", "nan.csv", "--pass", "low:1", "-o", "y.npy"], "must be finite"),
    "signal binary": (["filter", "@ring:3", "bin.txt", "--pass", "low:1", "-o", "y.npy"], "is not a text file"),
    "signal empty": (["filter", "@ring:3", "none.csv", "--pass", "low:1", "-o", "y.npy"], "is empty"),
    "signal npy": (["filter", "@ring:3", "bad.npy", "--pass", "low:1", "-o", "y.npy"], "cannot be read"),
    "signal ending": (["filter", "@ring:3", "x.wav", "--pass", "low:1", "-o", "y.npy"], "must end in"),
    "target": (["filter", "@ring:9", "f.npy", "--pass", "lowest:1", "-o", "y.npy"], "must start with one of"),
    "target number": (["design", "--target", "low:x", "--lmax", "2"], "must have a number for cutoff"),
    "neither": (["filter", "@ring:9", "f.npy", "-o", "y.npy"], "one of --pass and --coeffs"),
    "both": (["filter", "@ring:9", "f.npy", "--pass", "low:1", "--coeffs", "1,1", "-o", "y.npy"], "not both"),
    "coeffs": (["bound", "@ring:9", "--coeffs", "1,two", "--zoom", "1"], "--coeffs must be numbers"),
    "coeffs file": (["bound", "@ring:9", "--coeffs", "no.json"], "there is no file 'no.json'"),
    "coeffs json": (["bound", "@ring:9", "--coeffs", "other.json"], "is not what the design command writes"),
    "coeffs zoom": (["bound", "@ring:9", "--coeffs", "1,1"], "--zoom must be given with --coeffs"),
    "coeffs order": (
        ["bound", "@ring:9", "--coeffs", "1,1", "--zoom", "1", "--order", "3"],
        "--order must be left out",
    ),
    "complex c0": (["bound", "@ring:9", "--coeffs", "1j,1", "--zoom", "1"], "`coeffs[0]` must be real"),
    "no zoom": (["decay", "@ring:9", "--order", "2"], "--zoom and --order must be given"),
    "zoom": (["zoom", "@ring:9", "--zoom", "-1"], "--zoom must be positive and finite, got -1"),
    "zoom nan": (["zoom", "@ring:9", "--zoom", "nan"], "--zoom must be positive"),
    "tol": (["filter", "@ring:9", "f.npy", "--pass", "low:1", "--tol", "0", "-o", "y.npy"], "--tol must be positive"),
    "order": (["bound", "@ring:9", "--zoom", "1", "--order", "0"], "--order"),
    "number": (["bound", "@ring:9", "--zoom", "one", "--order", "1"], "--zoom"),
    "laplacian": (["info", "@ring:9", "--laplacian", "random"], "--laplacian"),
    "seed": (["info", "@ring:9", "--seed", "-1"], "--seed"),
    "vertex": (["decay", "@ring:9", "--vertex", "9", "--zoom", "1", "--order", "1"], "`vertex` must be below"),
    "lowest": (["zoom", "@ring:9", "--lowest", "10"], "--lowest must be at most"),
    "no edges": (["zoom", "points.npy"], "must have edges"),
    "lmax and graph": (["design", "--target", "low:1", "--lmax", "2", "--graph", "@ring:9"], "not both"),
    "lmax": (["design", "--target", "low:1", "--lmax", "0"], "--lmax must be positive"),
    "option": (["info", "@ring:9", "--unknown"], "--unknown"),
    "command": (["inform", "@ring:9"], "inform"),
    "no graph": (["info"], "GRAPH"),
    "no output": (["filter", "@ring:9", "f.npy", "--pass", "low:1"], "--output must be given"),
    "ending": (["filter", "@ring:9", "f.npy", "--pass", "low:1", "-o", "y.wav"], "must end in .npy or .csv or .txt"),
    "report ending": (["report", "@ring:9", "-o", "page.pdf"], "must end in .html"),
    "picture ending": (["info", "@ring:9", "-o", "x.npy"], "must end in .png"),
    "exists": (["report", "@ring:9", "-o", "there.html"], "exists; give --force"),
    "is a folder": (["report", "@ring:9", "-o", "folder.html", "--force"], "is a folder"),
    "below a file": (["report", "@ring:9", "-o", "f.npy/page.html"], "'f.npy' is no folder"),
    "twice": (["zoom", "@ring:9", "-o", "a.png", "-o", "a.png"], "different files"),
    "twice through folders": (["zoom", "@ring:9", "-o", "a.csv", "-o", "folder.html/../a.csv"], "different files"),
    "exists through folders": (["report", "@ring:9", "-o", "folder.html/../there.html"], "exists; give --force"),
    "sweeps": (
        ["bound", "@ring:9", "--zoom", "1", "--order", "2", "--sweeps", "1000000000"],
        "--sweeps times the order 2 must be at most 1,000,000, got 1,000,000,000",
    ),
    "sweeps of a fit": (["bound", "@ring:9", "--target", "low:1", "--sweeps", "125001"], "times the order 8 must be"),
    "relative target": (
        ["filter", "points.npy", "three.csv", "--pass", "low:0.5r", "-o", "y.npy"],
        "the graph must have edges for the relative numbers in 'low:0.5r'",
    ),
    "relative fit": (["bound", "points.npy", "--target", "low:0.5r"], "must have edges"),
    "fit without edges": (["decay", "points.npy", "--target", "low:0.5"], "the graph must have edges for a fit"),
    "filter fit without edges": (
        ["filter", "points.npy", "three.csv", "--pass", "low:1", "--order", "2", "-o", "y.npy"],
        "the graph must have edges for a fit",
    ),
    "built-in count": (["info", "@ring"], "@ring takes 1 number, each behind a colon"),
    "huge zoom of bound": (["bound", "@ring:9", "--zoom", "1e308", "--order", "2"], HUGE),
    "huge zoom of decay": (["decay", "@ring:9", "--zoom", "1e308", "--order", "2"], HUGE),
    "huge zoom of a fit": (["decay", "@ring:9", "--zoom", "1e308", "--target", "low:1"], HUGE),
    "huge zoom": (["zoom", "@ring:9", "--zoom", "1e308", "--lowest", "2"], HUGE),
    "huge zoom of design": (["design", "--target", "low:1", "--lmax", "4", "--zoom", "1e308"], HUGE),
    "huge zoom of filter": (
        ["filter", "@ring:3", "three.csv", "--coeffs", "0.5,0.2", "--zoom", "1e308", "-o", "y.npy"],
        HUGE,
    ),
    "variable": (["info", "f.npy", "--variable", "W"], "`variable` must be left out"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(folder, capsys, case):
    np.save("points.npy", np.zeros((3, 3)))
    contents = {"bad.csv": b"1\nx\n2\n", "ragged.csv": b"1\n2\n3,4\n", "nan.csv": b"1\nnan\n2\n", "none.csv": b""}
    contents["three.csv"] = b"1\n2\n3\n"
    contents |= {"bin.txt": b"\xff\xfe\x81", "bad.npy": b"PK\x03\x04", "other.json": b"[1, 2]", "there.html": b"mine"}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "folder.html").mkdir()
    before = {path.name: path.is_dir() or path.read_bytes() for path in folder.iterdir()}
    arguments, message = REFUSED[case]
    assert message in refused(capsys, *arguments)
    assert {path.name: path.is_dir() or path.read_bytes() for path in folder.iterdir()} == before
