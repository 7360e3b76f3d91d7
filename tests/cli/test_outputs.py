"""Files that commands write: all or none, and checked before work."""

from __future__ import annotations

import pytest

from cayleygsp.cli import bound, decay, design, filter, info, main, outputs, zoom
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

    monkeypatch.setattr("cayleygsp.cli.loading.load_graph", fail)
    (folder / "there.npy").write_text("mine")
    refused(capsys, "filter", "@ring:9", "f.npy", "--pass", "low:1", "-o", "there.npy")
    refused(capsys, "report", "@ring:9", "-o", "x.pdf")


def test_a_write_that_fails_is_one_line_and_leaves_the_old_file(folder, capsys, monkeypatch):
    def full(path, target):
        raise OSError(28, "No space left on device")

    (folder / "table.csv").write_text("old")
    monkeypatch.setattr("os.replace", full)
    said = refused(capsys, "zoom", "@ring:9", "--lowest", "2", "-o", "table.csv", "--force")
    assert "No space left on device" in said
    assert (folder / "table.csv").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy", "table.csv"]


@pytest.mark.parametrize("name", SEVERAL)
def test_an_output_that_cannot_be_made_leaves_none_of_the_others(folder, capsys, monkeypatch, name):
    def fail(*args):
        raise MemoryError("no memory for the second")

    make = outputs.array_bytes
    for module in (bound, decay, design, info, zoom):
        monkeypatch.setattr(module, "png_bytes", fail)
    monkeypatch.setattr(filter, "array_bytes", lambda y, ending: fail() if ending == ".txt" else make(y, ending))
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
    said = refused(capsys, "zoom", *SEVERAL["zoom"])
    assert "'a.csv', 'b.png' cannot be written: No space left on device" in said
    assert sorted(path.name for path in folder.iterdir()) == ["f.csv", "f.npy"]


def test_outputs_go_to_their_folders(folder, capsys):
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    outputs = ["-o", "one/a.csv", "-o", "two/b.csv", "-o", "one/../c.csv"]
    assert main(["zoom", "@ring:9", "--lowest", "2", *outputs]) == 0
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.csv") if path.name != "f.csv")
    assert found == ["c.csv", "one/a.csv", "two/b.csv"]
    assert sorted(path.name for path in folder.iterdir()) == ["c.csv", "f.csv", "f.npy", "one", "two"]
