"""Files written all or none, in any folders, and tried before."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from cayleygsp._files import check_writable, replace_files, write_files


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def failing_after(monkeypatch, n_good, error):
    """Let renaming fail after some times; taking back must still work."""
    rename, calls = os.replace, []

    def replace(source, target):
        calls.append(target)
        if len(calls) == n_good + 1:
            raise error
        rename(source, target)

    monkeypatch.setattr(os, "replace", replace)


@pytest.fixture
def two_folders(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_files_go_to_their_folders_and_nothing_else_stays(two_folders):
    replace_files({two_folders / "one" / "a": b"1", two_folders / "two" / "a": b"2"})
    assert contents(two_folders) == {"one/a": b"1", "two/a": b"2"}
    assert sorted(path.name for path in two_folders.rglob("*")) == ["a", "a", "one", "two"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()], ids=["full", "interrupt"])
@pytest.mark.parametrize("n_good", [0, 1, 2])
def test_what_was_renamed_is_taken_back(two_folders, monkeypatch, n_good, error):
    (two_folders / "one" / "old").write_bytes(b"old")
    (two_folders / "two" / "old").write_bytes(b"older")
    before = contents(two_folders)
    files = {two_folders / "one" / "old": b"x", two_folders / "one" / "new": b"x", two_folders / "two" / "old": b"x"}
    failing_after(monkeypatch, n_good, error)
    with pytest.raises(type(error)):
        replace_files(files)
    assert contents(two_folders) == before
    assert len(list(two_folders.rglob("*"))) == 4


def test_a_folder_that_is_missing_leaves_the_other_alone(two_folders):
    with pytest.raises(FileNotFoundError):
        replace_files({two_folders / "one" / "a": b"1", two_folders / "three" / "a": b"2"})
    assert contents(two_folders) == {}


def test_without_links_the_old_file_is_kept_by_copying(two_folders, monkeypatch):
    def no_links(*args):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    (two_folders / "one" / "old").write_bytes(b"old")
    failing_after(monkeypatch, 1, OSError(errno.EIO, "broken"))
    with pytest.raises(OSError, match="broken"):
        replace_files({two_folders / "one" / "old": b"x", two_folders / "two" / "new": b"x"})
    assert contents(two_folders) == {"one/old": b"old"}


def test_permissions_of_a_file_that_is_replaced_stay(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    replace_files({tmp_path / "a": b"new"})
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert (tmp_path / "a").read_bytes() == b"new"


def test_folders_are_made_where_files_of_one_folder_are_written(tmp_path):
    write_files(tmp_path / "x" / "y", {"a": b"1", "b": b"2"})
    assert contents(tmp_path) == {"x/y/a": b"1", "x/y/b": b"2"}


def test_places_are_tried_and_nothing_is_left(tmp_path):
    (tmp_path / "old").write_bytes(b"old")
    check_writable(tmp_path / "old")
    check_writable(tmp_path / "new")
    check_writable(tmp_path / ("x" * 255))
    assert contents(tmp_path) == {"old": b"old"}
    with pytest.raises(OSError, match="too long"):
        check_writable(tmp_path / ("x" * 256))
    with pytest.raises(OSError, match="/proc"):
        check_writable(type(tmp_path)("/proc/new"))
    assert contents(tmp_path) == {"old": b"old"}
