"""Files that commands write: all or none, and checked before work."""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from cayleygsp.cli import main, outputs
from tests.cli.running import refused

SEVERAL = {
    "info": ["@ring:9", "-o", "a.png", "-o", "b.png"],
    "zoom": ["@ring:9", "--lowest", "2", "-o", "a.csv", "-o", "b.png"],
    "filter": ["@communities", "f.npy", "--pass", "heat:1", "-o", "a.npy", "-o", "b.txt"],
    "bound": ["@ring:9", "--zoom", "1", "--order", "2", "-o", "a.csv", "-o", "b.png"],
    "decay": ["@ring:9", "--zoom", "1", "--order", "2", "-o", "a.csv", "-o", "b.png"],
    "design": ["--target", "low:1", "--lmax", "4", "-o", "a.json", "-o", "b.png"],
}


def test_outputs_are_checked_before_work(folder, capsys, monkeypatch):
    def fail(*args, **kwargs):
        raise AssertionError("the graph was read")

    monkeypatch.setattr("cayleygsp.cli.inputs.load_graph", fail)
    (folder / "there.npy").write_text("mine")
    refused(capsys, "filter", "@ring:9", "f.npy", "--pass", "low:1", "-o", "there.npy")
    refused(capsys, "report", "@ring:9", "-o", "x.pdf")


def test_a_write_that_fails_is_one_line_and_leaves_the_old_file(folder, capsys, monkeypatch):
    def full(path, target):
        raise OSError(28, "No space left on device")

    (folder / "table.csv").write_text("old")
    monkeypatch.setattr("os.replace", full)
    message = refused(capsys, "zoom", "@ring:9", "--lowest", "2", "-o", "table.csv", "--force")
    assert "No space left on device" in message
    assert (folder / "table.csv").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy", "table.csv"]


@pytest.mark.parametrize("name", SEVERAL)
def test_an_output_that_cannot_be_made_leaves_none_of_the_others(folder, capsys, monkeypatch, name):
    def fail(*args):
        raise MemoryError("no memory for the second")

    make = outputs.array_bytes
    monkeypatch.setattr(outputs, "png_bytes", fail)
    monkeypatch.setattr(outputs, "array_bytes", lambda y, ending: fail() if ending == ".txt" else make(y, ending))
    assert "no memory for the second" in refused(capsys, name, *SEVERAL[name])
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy"]


@pytest.mark.parametrize("name", SEVERAL)
def test_several_outputs_are_all_written(folder, capsys, name):
    assert main([name, *SEVERAL[name]]) == 0
    for path in SEVERAL[name][-3::2]:
        assert (folder / path).stat().st_size > 0
        assert path in capsys.readouterr().out or path.startswith("b")


def test_a_write_that_fails_leaves_no_other_output_of_the_folder(folder, capsys, monkeypatch):
    write = type(folder).write_bytes

    def full(path, content):
        if path.name == "b.png":
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(type(folder), "write_bytes", full)
    message = refused(capsys, "zoom", *SEVERAL["zoom"])
    assert "'a.csv', 'b.png' cannot be written: No space left on device" in message
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy"]


def test_outputs_go_to_their_folders(folder, capsys):
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    outputs = ["-o", "one/a.csv", "-o", "two/b.csv", "-o", "one/../c.csv"]
    assert main(["zoom", "@ring:9", "--lowest", "2", *outputs]) == 0
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.csv") if path.name != "f.csv")
    assert paths == ["c.csv", "one/a.csv", "two/b.csv"]
    assert sorted(path.name for path in folder.iterdir()) == ["c.csv", "f.csv", "f.npy", "one", "two"]


def test_a_second_folder_that_cannot_be_written_leaves_nothing_in_the_first(folder, capsys, monkeypatch):
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    (folder / "one" / "a.csv").write_text("old")
    replace = os.replace

    def refuse(source, target):
        if "two" in str(target):
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr("os.replace", refuse)
    call = ["zoom", "@ring:9", "-o", "one/a.csv", "-o", "one/b.csv", "-o", "two/c.csv", "--force"]
    message = refused(capsys, *call)
    assert "'one/a.csv', 'one/b.csv', 'two/c.csv' cannot be written: No space left on device" in message
    assert (folder / "one" / "a.csv").read_text() == "old"
    assert sorted(path.name for path in folder.rglob("*")) == ["a.csv", "f.csv", "f.npy", "one", "two"]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("/proc/out.npy", "'/proc/out.npy' cannot be written"),
        ("x" * 300 + ".npy", "cannot be written: File name too long"),
        ("pipe.npy", "it is not a regular file"),
        ("full.npy", "it is not a regular file"),
        ("none/out.npy", "there is no folder 'none', make it first"),
        ("f.csv/out.npy", "'f.csv' is no folder"),
        ("loop.npy", "'loop.npy' cannot be written"),
    ],
)
def test_a_place_that_cannot_be_written_is_found_before_work(folder, capsys, monkeypatch, output, message):
    def fail(*args, **kwargs):
        raise AssertionError("the graph was read")

    os.mkfifo("pipe.npy")
    (folder / "full.npy").symlink_to("/dev/full")
    (folder / "loop.npy").symlink_to("loop.npy")
    monkeypatch.setattr("cayleygsp.cli.inputs.load_graph", fail)
    assert message in refused(capsys, "filter", "@ring:9", "f.npy", "--pass", "low:1", "-o", output, "--force")
    assert not (folder / "none").exists()


def test_an_output_through_a_link_goes_to_the_file_behind_it(folder, capsys):
    (folder / "real.csv").write_text("old")
    (folder / "link.csv").symlink_to("real.csv")
    assert "exists" in refused(capsys, "zoom", "@ring:9", "-o", "link.csv")
    assert main(["zoom", "@ring:9", "-o", "link.csv", "--force"]) == 0
    assert (folder / "link.csv").is_symlink()
    assert (folder / "real.csv").read_text().startswith("zoom,")


TO_STANDARD_OUTPUT = {
    "zoom": (["@ring:9"], "zoom,n_lowest,"),
    "filter": (["@ring:9", "nine.txt", "--pass", "heat:1"], "0."),
    "bound": (["@ring:9", "--zoom", "1", "--order", "2"], "n_iter,"),
    "decay": (["@ring:9", "--zoom", "1", "--order", "2"], "hops,"),
    "design": (["--target", "low:1", "--lmax", "4", "--order", "2"], "{"),
    "report": (["@ring:9"], "<!"),
}


@pytest.mark.parametrize("name", TO_STANDARD_OUTPUT)
def test_standard_output_takes_the_result_and_facts_go_to_stderr(folder, capsys, undrawn, name):
    (folder / "nine.txt").write_text("1\n" + "0\n" * 8)
    arguments, begins = TO_STANDARD_OUTPUT[name]
    assert main([name, *arguments, "-o", "-"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(begins)
    assert "written" not in captured.err
    assert "target" in captured.err or "ring: 9 vertices" in captured.err
    assert main([name, *arguments, "-o", "-", "--quiet"]) == 0
    quiet = capsys.readouterr()
    assert quiet.err == ""
    assert quiet.out.startswith(begins)
    assert not (folder / "-").exists()


def test_pictures_do_not_go_to_standard_output(capsys):
    assert "-o - is for text" in refused(capsys, "info", "@ring:9", "-o", "-")


def test_a_file_and_standard_output_can_be_written_at_once(folder, capsys):
    (folder / "nine.txt").write_text("1\n" + "0\n" * 8)
    call = ["filter", "@ring:9", "nine.txt", "--pass", "heat:1", "-o", "y.npy", "-o", "-"]
    assert main(call) == 0
    captured = capsys.readouterr()
    assert np.array_equal(np.array(captured.out.split(), dtype=float), np.load("y.npy"))
    assert "written      y.npy" in captured.err


def test_decay_calls_nothing_measured_that_the_method_may_have_made(folder, capsys):
    arguments = ["decay", "@ring:128", "--zoom", "0.1", "--order", "1"]
    assert main([*arguments, "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    floor = numbers["floor"]
    assert floor > 1e-16
    assert all(mass is None or mass == 0 or mass > floor for mass in numbers["mass"])
    assert None in numbers["mass"]
    assert main([*arguments, "-o", "decay.csv"]) == 0
    printed = capsys.readouterr().out
    assert "below " in printed
    with Path("decay.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["mass"] == "" for row in rows] == numbers["below_floor"]
    assert all((row["below"] == "") != (row["mass"] == "") for row in rows)


def test_kappa_below_one_is_not_printed_as_one(capsys):
    assert main(["bound", "@ring:32", "--zoom", "1e6", "--order", "2"]) == 0
    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if line.startswith("κ")]
    assert re.fullmatch(r"κ\s+1 − \d(\.\d)?e-\d+", line)
    assert "A bound above it is empty" in printed


def test_vertices_without_edges_are_apart_from_the_range_of_degrees(folder, capsys):
    Path("loops.csv").write_text("0,1\n1,2\n3,3\n")
    assert main(["info", "loops.csv"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("degrees")]
    assert "1 to 2, and 0 at 1 vertex without edges (self-loops not counted)" in line
