"""The program as a process: exit codes, streams and signals."""

from __future__ import annotations

import json
import os
import shlex
import signal as signals
import subprocess
import sys
import time

import numpy as np
import pytest

from cayleygsp.cli import main
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
def test_file_names_that_are_no_text_are_no_error(tmp_path, monkeypatch, capsys):
    """As a program, and in this process, whose standard output takes no such name as it is either."""
    name = b"bad\xff.txt"
    (tmp_path / os.fsdecode(name)).write_bytes(b"0 1\n1 2\n")
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    command = [os.fsencode(sys.executable), b"-m", b"cayleygsp.cli", b"info", name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"bad\udcff" in done.stdout
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnicodeEncodeError):
        print(os.fsdecode(name))
    for arguments in (
        [b"report", name, b"-o", b"page.html"],
        [b"zoom", name, b"--lowest", b"2", b"-o", b"out\xff.csv"],
    ):
        assert main([os.fsdecode(one) for one in arguments]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        assert r"bad\udcff" in captured.out
    assert r"bad\udcff.txt" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (tmp_path / os.fsdecode(b"out\xff.csv")).exists()
    assert main(["info", os.fsdecode(b"no\xff.txt")]) == 2
    assert capsys.readouterr().err == r"cayleygsp: error: there is no file 'no\udcff.txt'" + "\n"


def test_interrupt_ends_cleanly(tmp_path):
    program = (
        "import signal, sys\nfrom cayleygsp.cli import main, loading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which a shell takes from background jobs
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


MESSAGES = {
    "full": ("standard output cannot be written: No space left on device", ["info", "@ring:8"]),
    "full, help": ("No space left on device", ["--help"]),
    "full, version": ("No space left on device", ["--version"]),
    "closed": ("standard output cannot be written: it is closed", ["info", "@ring:8", "--json"]),
    "closed, help": ("it is closed", ["--help"]),
    "closed, result": ("it is closed", ["zoom", "@ring:8", "-q", "-o", "-"]),
    "pipe": ("standard output cannot be written", ["info", "@ring:8"]),
    "pipe, help": ("standard output cannot be written", ["--help"]),
}


# Runs commands in forked children of one process that has loaded everything, each with a lost standard output, and
# prints their exit codes and messages. The children end as any program does, with the last flush of their streams.
LOSSES = """
import json, os, sys, tempfile
from cayleygsp.cli import app, commands, info, main, zoom

results = {}
for case, arguments in json.loads(sys.argv[1]).items():
    messages = tempfile.TemporaryFile("w+")
    reader, writer = os.pipe()
    os.close(reader)
    child = os.fork()
    if child == 0:
        os.dup2(messages.fileno(), 2)
        if case.startswith("closed"):
            os.close(1)
            sys.stdout = sys.__stdout__ = None
        else:
            os.dup2(writer if case.startswith("pipe") else os.open("/dev/full", os.O_WRONLY), 1)
        sys.argv = ["cayleygsp", *arguments]
        sys.exit(main())
    os.close(writer)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    messages.seek(0)
    results[case] = code, messages.read()
print(json.dumps(results))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_standard_output_that_is_lost_is_one_line_and_exit_code_1(tmp_path):
    arguments = json.dumps({case: arguments for case, (_, arguments) in MESSAGES.items()})
    command = [sys.executable, "-c", LOSSES, arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    results = json.loads(done.stdout)
    assert list(results) == list(MESSAGES)
    call = f"exec {shlex.join([sys.executable, '-m', 'cayleygsp.cli', 'info', '@ring:8'])} >&-"
    alone = subprocess.run(["sh", "-c", call], cwd=tmp_path, capture_output=True, text=True, check=False)
    results["closed"] = alone.returncode, alone.stderr  # as a program of its own
    for case, (code, said) in results.items():
        assert code == 1, case
        assert said.startswith("cayleygsp: error: "), case
        assert MESSAGES[case][0] in said, case
        assert said.count("\n") == 1, case


def test_a_closed_stderr_changes_nothing(tmp_path):
    for arguments, code in ((["info", "@ring:8"], 0), (["info", "missing.mtx"], 2)):
        call = f"exec {shlex.join([sys.executable, '-m', 'cayleygsp.cli', *arguments])} 2>&-"
        done = subprocess.run(["sh", "-c", call], cwd=tmp_path, stdout=subprocess.PIPE, check=False)
        assert done.returncode == code


def test_files_are_written_though_standard_output_is_closed(tmp_path):
    call = f"exec {shlex.join([sys.executable, '-m', 'cayleygsp.cli', 'zoom', '@ring:8', '-q', '-o', 'z.csv'])} >&-"
    assert subprocess.run(["sh", "-c", call], cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / "z.csv").read_text().startswith("zoom,")


INTERRUPTED_AT = [
    ("typer", "module"),
    ("numpy", "module"),
    ("typer", "script"),
    ("scipy.sparse", "script"),
    ("cayleygsp.filters", "script"),
    ("cayleygsp.report.facts", "script"),
]


@pytest.mark.parametrize(("module", "entry"), INTERRUPTED_AT)
def test_an_interrupt_while_modules_are_loaded_ends_cleanly(tmp_path, module, entry):
    # a finder that is asked for every module before it is loaded sends the signal, so that the moment is certain
    program = f"""
import os, runpy, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from background jobs
sys.meta_path.insert(0, Finder())
sys.argv = ["cayleygsp", "info", "@ring:8"]
"""
    program += (
        "runpy.run_module('cayleygsp.cli', run_name='__main__', alter_sys=False)"
        if entry == "module"
        else "from cayleygsp.cli import main\nsys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_entry_point_loads_the_standard_library_alone():
    code = "import sys, cayleygsp.cli\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    ours = {name for name in loaded if name.startswith("cayleygsp")}
    assert ours == {"cayleygsp", "cayleygsp.cli"}
    for other in ("numpy", "scipy", "typer", "rich"):
        assert other not in loaded


def test_signals_and_graphs_come_from_standard_input(tmp_path):
    (tmp_path / "f.txt").write_text("1\n0\n0\n")
    common = ["--pass", "heat:1", "-q", "-o", "-"]
    first = [sys.executable, "-m", "cayleygsp.cli", "filter", "-", "f.txt", *common]
    second = [sys.executable, "-m", "cayleygsp.cli", "filter", "@path:3", "-", *common]
    by_graph = subprocess.run(first, input="0 1\n1 2\n", cwd=tmp_path, capture_output=True, text=True, check=True)
    by_signal = subprocess.run(second, input="1\n0\n0\n", cwd=tmp_path, capture_output=True, text=True, check=True)
    assert by_graph.stdout == by_signal.stdout
    assert by_graph.stdout.count("\n") == 3


def test_commands_stand_in_a_pipe(tmp_path):
    (tmp_path / "f.txt").write_text("1\n0\n0\n")
    program = shlex.join([sys.executable, "-m", "cayleygsp.cli"])
    call = f"{program} filter @path:3 f.txt --pass heat:1 -o - | {program} filter @path:3 - --pass heat:2 -o y.csv"
    subprocess.run(["sh", "-c", call], cwd=tmp_path, capture_output=True, check=True)
    once = f"{program} filter @path:3 f.txt --pass heat:3 -o z.csv"
    subprocess.run(["sh", "-c", once], cwd=tmp_path, capture_output=True, check=True)
    assert np.loadtxt(tmp_path / "y.csv") == pytest.approx(np.loadtxt(tmp_path / "z.csv"), abs=1e-5)


def test_a_closed_standard_input_is_one_line(tmp_path):
    call = f"exec {shlex.join([sys.executable, '-m', 'cayleygsp.cli', 'info', '-'])} <&-"
    done = subprocess.run(["sh", "-c", call], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "standard input" in done.stderr
    assert done.stderr.count("\n") == 1
