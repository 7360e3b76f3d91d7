"""The program as a process: exit codes, streams and signals."""

from __future__ import annotations

import os
import signal as signals
import subprocess
import sys
import time

import pytest

from tests.cli.running import start


def test_process_ends_with_the_exit_code_and_one_line(tmp_path):
    (tmp_path / "bad.txt").write_text("0 1\n0\n")
    process = start(tmp_path, "info", "bad.txt")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "line 2" in err


def test_output_that_cannot_show_greek_letters_is_no_error(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "cayleygsp.cli", "info", "@ring:8"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, check=True)
    assert "at most 4" in done.stdout
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="file names of other systems are text")
def test_file_names_that_are_no_text_are_no_error(tmp_path):
    name = b"bad\xff.txt"
    (tmp_path / os.fsdecode(name)).write_bytes(b"0 1\n1 2\n")
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    for arguments in (
        [b"info", name],
        [b"report", name, b"-o", b"page.html"],
        [b"zoom", name, b"--lowest", b"2", b"-o", b"out\xff.csv"],
    ):
        command = [os.fsencode(sys.executable), b"-m", b"cayleygsp.cli", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=environment, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert rb"bad\udcff" in done.stdout
    assert r"bad\udcff.txt" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (tmp_path / os.fsdecode(b"out\xff.csv")).exists()
    missing = [os.fsencode(sys.executable), b"-m", b"cayleygsp.cli", b"info", b"no\xff.txt"]
    done = subprocess.run(missing, cwd=tmp_path, capture_output=True, env=environment, check=False)
    assert done.returncode == 2
    assert done.stderr == rb"cayleygsp: error: there is no file 'no\udcff.txt'" + b"\n"


def test_interrupt_ends_cleanly(tmp_path):
    program = (
        "import sys\nfrom cayleygsp.cli import main, loading\n"
        "def slow(*args):\n    print('ready', flush=True)\n    import time\n    time.sleep(60)\n"
        "loading.load_graph = slow\nsys.exit(main(['report', '@ring:9', '-o', 'page.html']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signals.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
