"""Hundreds of calls that cannot be: no traceback, nothing written, a documented exit code, and the thing is named."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from cayleygsp.cli import main

GRAPH, SIGNAL = "good.txt", "good.npy"

# One call of each command that is right but for what a case replaces or adds.
CALLS = {
    "info": ["info", GRAPH],
    "zoom": ["zoom", GRAPH],
    "filter": ["filter", GRAPH, SIGNAL, "--pass", "heat:1", "-o", "out.npy"],
    "denoise": ["denoise", GRAPH, SIGNAL, "-o", "out.npy"],
    "inpaint": ["inpaint", GRAPH, SIGNAL, "-o", "out.npy"],
    "features": ["features", GRAPH, SIGNAL, "-o", "out.npy"],
    "bound": ["bound", GRAPH, "--zoom", "1", "--order", "2"],
    "decay": ["decay", GRAPH, "--zoom", "1", "--order", "2"],
    "design": ["design", "--target", "low:1", "--graph", GRAPH],
    "explore": ["explore", GRAPH, "-o", "out.html"],
    "report": ["report", GRAPH, "-o", "out.html"],
}
ENDINGS = {
    "info": ".png",
    "zoom": ".csv",
    "filter": ".npy",
    "denoise": ".npy",
    "inpaint": ".npy",
    "features": ".npy",
    "bound": ".csv",
    "decay": ".csv",
    "design": ".json",
    "explore": ".html",
    "report": ".html",
}

FILES = {
    GRAPH: b"0 1\n1 2\n2 3\n3 0\n",
    "empty.txt": b"",
    "blank.csv": b"\n\n# nothing\n",
    "garbage.npz": bytes(range(256)) * 4,
    "garbage.npy": b"\x93NUMPY\x01\x00nonsense",
    "garbage.mtx": b"%%MatrixMarket matrix\nnonsense\n",
    "garbage.graphml": b"<graphml><graph>",
    "binary.txt": b"\xff\xfe\x00\x81" * 50,
    "word.txt": b"0 1\n1 2 x\n",
    "long line.txt": b"0 1\n1 2 3 4 5 6\n",
    "negative.txt": b"0 1 1\n1 2 -3\n",
    "nan.txt": b"0 1 nan\n",
    "inf.csv": b"0,1,inf\n",
    "esc\x1b[31m.txt": b"0 1\n1 2 x\n",
    "naïve λ.txt": b"0 1\n1 2 x\n",
    "graph.pdf": b"%PDF",
    "short.csv": b"1\n2\n",
    "ragged.csv": b"1\n2\n3,4\n5\n",
    "words.csv": b"1\nx\n2\n3\n",
    "nans.csv": b"1\nnan\n2\n3\n",
    "infs.txt": b"1\ninf\n2\n3\n",
    "binary.csv": b"\xff\xfe\x00\x81" * 50,
    "sound.wav": b"RIFF",
    "list.json": b"[1, 2]",
    "none.json": b'{"cayley": null}',
    "half.json": b'{"cayley": {"coeffs_real": [1, 2], "zoom": 1}}',
    "words.json": b'{"cayley": {"coeffs_real": ["a"], "coeffs_imag": ["b"], "zoom": 1}}',
    "nozoom.json": b'{"cayley": {"coeffs_real": [1, 2], "coeffs_imag": [0, 0], "zoom": null}}',
    "badzoom.json": b'{"cayley": {"coeffs_real": [1, 2], "coeffs_imag": [0, 0], "zoom": -1}}',
    "cut.json": b'{"cayley": {',
    "many.txt": b"1e-6 0\n" * 10_002,
    "there.npy": b"mine",
    "there.png": b"mine",
    "there.csv": b"mine",
    "there.json": b"mine",
    "there.html": b"mine",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    np.save(folder / SIGNAL, np.arange(4.0))
    np.save(folder / "points.npy", np.zeros((4, 4)))
    np.save(folder / "directed.npy", np.triu(np.ones((4, 4)), 1))
    np.save(folder / "wide.npy", np.ones((4, 5)))
    np.save(folder / "complex.npy", np.eye(4)[::-1] * 1j)
    np.save(folder / "objects.npy", np.array([{}] * 4, dtype=object), allow_pickle=True)
    np.save(folder / "text.npy", np.array(["a"] * 4))
    np.save(folder / "none.npy", np.ones((4, 0)))
    np.save(folder / "deep.npy", np.ones((4, 2, 2)))
    np.save(folder / "zero.npy", np.zeros((0, 0)))
    np.savez(folder / "other.npz", a=np.ones(3))
    for ending in (".txt", ".npy", ".png", ".csv", ".json", ".html"):
        (folder / f"folder{ending}").mkdir()
        os.mkfifo(folder / f"pipe{ending}")
        (folder / f"device{ending}").symlink_to("/dev/full")
    return folder


def listing(folder):
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*")
    }


def with_graph(command, graph):
    return [graph if word == GRAPH else word for word in CALLS[command]]


def with_output(command, output):
    call = CALLS[command]
    return [*(call[: call.index("-o")] if "-o" in call else call), "-o", output]


BAD_GRAPHS = {
    "missing": ("missing.mtx", "missing.mtx"),
    "empty name": ("", "''|GRAPH|no file|is not a file"),
    "folder": ("folder.txt", "folder.txt"),
    "empty": ("empty.txt", "empty.txt"),
    "blank": ("blank.csv", "blank.csv"),
    "garbage npz": ("garbage.npz", "garbage.npz"),
    "other npz": ("other.npz", "other.npz"),
    "garbage npy": ("garbage.npy", "garbage.npy"),
    "garbage mtx": ("garbage.mtx", "garbage.mtx"),
    "garbage graphml": ("garbage.graphml", "garbage.graphml"),
    "binary": ("binary.txt", "binary.txt"),
    "word": ("word.txt", "word.txt"),
    "long line": ("long line.txt", "long line.txt"),
    "negative": ("negative.txt", "negative.txt"),
    "nan": ("nan.txt", "nan.txt"),
    "inf": ("inf.csv", "inf.csv"),
    "directed": ("directed.npy", "directed.npy"),
    "wide": ("wide.npy", "wide.npy"),
    "complex": ("complex.npy", "complex.npy"),
    "objects": ("objects.npy", "objects.npy"),
    "no vertices": ("zero.npy", "zero.npy"),
    "escape sequence": ("esc\x1b[31m.txt", r"esc\\x1b\[31m"),
    "letters": ("naïve λ.txt", "naïve λ.txt"),
    "missing with escape": ("no\x1b]0;title\x07.txt", r"\\x1b"),
    "missing with bidi": ("abc\u202etxt.npy", r"\\u202e"),
    "nul": ("nul\0.txt", "nul|null"),
    "very long": ("x" * 5000 + ".txt", "xxx"),
    "ending": ("graph.pdf", "graph.pdf"),
    "built-in": ("@nothing", "@nothing"),
    "built-in without name": ("@", "built-in"),
    "built-in size": ("@ring:-1", "@ring"),
    "built-in word": ("@ring:x", "@ring"),
    "built-in letters": ("@ring:\u0669", "@ring"),
    "built-in numbers": ("@ring:9:9", "@ring"),
    "built-in nothing": ("@ring:", "@ring"),
    "built-in zero": ("@grid:0:0", "must be|@grid"),
    "built-in escape": ("@\x1b[31m", r"\\x1b"),
}

BAD_OUTPUTS = {
    "missing folder": ("missing/out{}", "there is no folder 'missing'"),
    "missing folders": ("missing/deeper/out{}", "there is no folder 'missing/deeper'"),
    "folder": ("folder{}", "'folder.*' is a folder"),
    "below a file": ("good.txt/out{}", "'good.txt' is no folder"),
    "there": ("there{}", "'there.*' exists"),
    "pipe": ("pipe{}", "'pipe.*' cannot be written"),
    "device": ("device{}", "'device.*' cannot be written"),
    "ending": ("out.wav", "'out.wav' must end in"),
    "no ending": ("out", "'out' must end in"),
    "empty": ("", "must end in"),
    "long name": ("x" * 300 + "{}", "xxx.* cannot be written: File name too long"),
    "nul": ("nul\0{}", "null"),
    "unwritable": ("/proc/out{}", "'/proc/out.*' cannot be written"),
    "escape": ("no\x1b[31m/out{}", r"no\\x1b\[31m"),
    "twice": ("out{0} -o out{0}", "different files|one output file"),
    "twice by another name": ("out{0} -o ./out{0}", "different files|one output file"),
}

WRONG_REAL = ("nan", "inf", "-inf", "0", "-1", "1e999", "x", "", "1,5", "\x1b[31m")
WRONG_INTEGER = ("-1", "1.5", "x", "", "nan", "1e3", "\x1b[31m")
WRONG_TARGETS = (
    "",
    ":",
    "low",
    "low:",
    "low:x",
    "low:nan",
    "low:inf",
    "low:-1",
    "low:1:2:3:4",
    "band:2:1",
    "band:1",
    "heat:-1",
    "heat:nan",
    "heat:1e400",
    "mexican:0",
    "indicator:2:1",
    "lowest:1",
    "lów:1",
    "low:1\x1b[31m",
    "low:1r\0",
)
WRONG_COEFFS = {
    "": "--coeffs",
    ",": "--coeffs",
    "1,,2": "--coeffs",
    "1,two": "--coeffs",
    "nan,1": "--coeffs",
    "1,inf": "--coeffs",
    "1j,1": "coeffs",
    "1\x1b[31m": "--coeffs",
    "missing.json": "missing.json",
    "missing.npy": "missing.npy",
    "list.json": "list.json",
    "none.json": "none.json",
    "half.json": "half.json",
    "words.json": "words.json",
    "nozoom.json": "nozoom.json",
    "cut.json": "cut.json",
    "folder.json": "folder.json",
    "folder.npy": "folder.npy",
    "garbage.npy": "garbage.npy",
    "deep.npy": "--coeffs",
    "text.npy": "text.npy|--coeffs",
    "empty.txt": "empty.txt",
    "binary.csv": "binary.csv",
    "many.txt": "at most 10,000",
}
WRONG_SIGNALS = {
    "missing.npy": "missing.npy",
    "folder.npy": "folder.npy",
    "folder.csv": "folder.csv",
    "empty.txt": "empty.txt",
    "blank.csv": "blank.csv",
    "short.csv": "short.csv",
    "ragged.csv": "ragged.csv",
    "words.csv": "words.csv",
    "nans.csv": "nans.csv",
    "infs.txt": "infs.txt",
    "binary.csv": "binary.csv",
    "sound.wav": "sound.wav",
    "garbage.npy": "garbage.npy",
    "objects.npy": "objects.npy",
    "text.npy": "text.npy",
    "none.npy": "none.npy",
    "deep.npy": "deep.npy",
    "zero.npy": "zero.npy",
    "no\x1b[31m.npy": r"no\\x1b\[31m",
    "nul\0.npy": "nul",
    "": "must end in|SIGNAL",
    "x" * 300 + ".npy": "xxx",
}


def option_cases():
    numbers = {
        "--zoom": ("zoom", "bound", "decay", "design", "explore"),
        "--tol": ("filter", "denoise", "inpaint", "features", "bound"),
        "--strength": ("denoise",),
        "--sigma": ("denoise",),
        "--edge": ("features",),
        "--transition": ("features",),
    }
    for option, commands in numbers.items():
        for command in commands:
            for value in WRONG_REAL:
                yield f"{command} {option} {value!r}", [*CALLS[command], option, value], option
    for value in WRONG_REAL:
        call = ["design", "--target", "low:1", "--lmax", value]
        yield f"design --lmax {value!r}", call, "--lmax"
    whole = {
        "--order": ("filter", "bound", "decay", "design", "explore", "report"),
        "--seed": tuple(CALLS),
        "--sweeps": ("bound",),
        "--lowest": ("zoom",),
        "--vertex": ("decay", "explore"),
    }
    for option, commands in whole.items():
        for command in commands:
            for value in WRONG_INTEGER:
                yield f"{command} {option} {value!r}", [*CALLS[command], option, value], option
    for command in ("filter", "bound", "decay", "design", "explore", "report"):
        for value in ("0", "100001", "9" * 30):
            yield f"{command} --order {value}", [*CALLS[command], "--order", value], "--order"
    yield "lowest beyond the graph", [*CALLS["zoom"], "--lowest", "5"], "--lowest"
    yield "vertex beyond the graph", [*CALLS["decay"], "--vertex", "4"], "vertex"
    yield "huge vertex", [*CALLS["decay"], "--vertex", "9" * 30], "vertex"
    yield "huge sweeps", [*CALLS["bound"], "--sweeps", "9" * 30], "--sweeps"
    for command in CALLS:
        for option in ("--laplacian", "--symmetrize"):
            for value in ("", "none", "Max"):
                yield f"{command} {option} {value!r}", [*CALLS[command], option, value], option
        yield f"{command} --variable", [*CALLS[command], "--variable", "W"], "variable"
        yield f"{command} --variable @", [*with_graph(command, "@ring:4"), "--variable", "W"], "variable"
        yield f"{command} unknown option", [*CALLS[command], "--unknown"], "--unknown"
        yield f"{command} one word more", [*CALLS[command], "another", "word"], "another|unexpected"
        yield f"{command} output without a value", [*CALLS[command], "-o"], "-o|--output"
        yield f"{command} json and -o -", [*with_output(command, "-"), "--json"], "-o -"
        if command != "design":
            yield f"{command} without a graph", [command], "GRAPH|--output"


def response_cases():
    for text in WRONG_TARGETS:
        for call in (
            ["design", "--lmax", "4", "--target"],
            ["bound", GRAPH, "--target"],
            ["decay", GRAPH, "--target"],
            ["filter", GRAPH, SIGNAL, "-o", "out.npy", "--pass"],
        ):
            yield f"{call[0]} target {text!r}", [*call, text], "--target|--pass|cutoff|scale|low|high"
    for text, named in WRONG_COEFFS.items():
        for call in (["bound", GRAPH], ["decay", GRAPH], ["filter", GRAPH, SIGNAL, "-o", "out.npy"]):
            yield f"{call[0]} coeffs {text!r}", [*call, "--zoom", "1", "--coeffs", text], named
    yield "zoom in a file", ["bound", GRAPH, "--coeffs", "badzoom.json"], "zoom|badzoom.json"
    for name, named in WRONG_SIGNALS.items():
        call = ["filter", GRAPH, name, "--pass", "heat:1", "-o", "out.npy"]
        yield f"signal {name!r}", call, named
    filtering = ["filter", GRAPH, SIGNAL, "-o", "out.npy"]
    yield "neither", filtering, "--pass and --coeffs"
    yield "both", [*filtering, "--pass", "low:1", "--coeffs", "1,1"], "--pass and --coeffs"
    yield "zoom alone", [*filtering, "--pass", "low:1", "--zoom", "1"], "--zoom"
    yield "method", [*filtering, "--pass", "low:1", "--method", "magic"], "--method"
    for method in ("jacobi", "multigrid"):
        yield f"{method} without order", [*filtering, "--pass", "low:1", "--method", method], "--method"
    yield "no output", ["filter", GRAPH, SIGNAL, "--pass", "low:1"], "--output"
    yield "one standard input", ["filter", "-", "-", "--pass", "low:1", "-o", "out.npy"], "GRAPH and SIGNAL"
    yield "both of bound", ["bound", GRAPH, "--target", "low:1", "--coeffs", "1,1"], "--coeffs and --target"
    yield "coeffs and order", ["bound", GRAPH, "--coeffs", "1,1", "--zoom", "1", "--order", "3"], "--order"
    yield "coeffs without zoom", ["decay", GRAPH, "--coeffs", "1,1"], "--zoom"
    yield "order alone", ["decay", GRAPH, "--order", "2"], "--zoom and --order"
    yield "no interval", ["design", "--target", "low:1"], "--graph and --lmax"
    yield "two intervals", [*CALLS["design"], "--lmax", "4"], "--graph and --lmax"
    yield "no target", ["design", "--lmax", "4"], "--target"
    for option, value in (("--variable", "W"), ("--symmetrize", "max")):
        yield f"design {option}", ["design", "--target", "low:1", "--lmax", "4", option, value], option
    yield "no page", ["report", GRAPH], "--output"
    for command in ("zoom", "design", "info"):
        call = [*with_graph(command, "points.npy"), *(["-o", "out.png"] if command == "info" else [])]
        yield f"{command} without edges", call, "edges"
    yield "unknown command", ["inform"], "inform"
    yield "escape command", ["\x1b[31m"], r"\\x1b"


def all_cases():
    for command in CALLS:
        for name, (graph, named) in BAD_GRAPHS.items():
            yield f"{command} graph {name}", with_graph(command, graph), named
        for name, (output, named) in BAD_OUTPUTS.items():
            force = ["--force"] if name in ("folder", "pipe", "device") else []
            outputs = [part.format(ENDINGS[command]) for part in output.split(" -o ")]
            call = [*with_output(command, outputs[0]), *(word for path in outputs[1:] for word in ("-o", path)), *force]
            yield f"{command} output {name}", call, named
    yield from option_cases()
    yield from response_cases()


CASES = {name: (call, named) for name, call, named in all_cases()}


def test_there_are_enough_of_them():
    assert len(CASES) >= 200


@pytest.mark.parametrize("case", CASES)
def test_bad_call(place, capsys, monkeypatch, case):
    monkeypatch.chdir(place)
    before = listing(place)
    call, named = CASES[case]
    code = main(call)
    captured = capsys.readouterr()
    assert code == 2
    assert captured.out == ""
    assert captured.err.startswith("cayleygsp: error: ")
    assert captured.err.endswith("\n")
    line = captured.err[:-1]
    assert line.isprintable(), "one line, and nothing that a terminal obeys"
    assert len(line) < 6000
    assert re.search(named, line), line
    assert listing(place) == before


def test_the_calls_are_right_but_for_what_is_wrong(place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in (GRAPH, SIGNAL):
        (tmp_path / name).write_bytes((place / name).read_bytes())
    for command in CALLS:
        call = with_output(command, f"{command}{ENDINGS[command]}")
        assert main([*call, "--json"]) == 0, command
        json.loads(capsys.readouterr().out)
        assert Path(f"{command}{ENDINGS[command]}").stat().st_size > 0
