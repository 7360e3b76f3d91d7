"""The program as a process: exit codes, streams and signals."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import numpy as np
import pytest

from cayleygsp.cli import main
from tests.cli.running import Loaded, start


@pytest.fixture(scope="module")
def loaded():
    with Loaded() as program:
        yield program


def test_process_ends_with_the_exit_code_and_one_line(tmp_path):
    (tmp_path / "bad.txt").write_text("0 1\n0\n")
    process = start(tmp_path, "info", "bad.txt")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "line 2" in err


def test_output_that_cannot_show_greek_letters_is_no_error(tmp_path, loaded):
    done = loaded.run(tmp_path, ["info", "@ring:8"], encoding="ascii")
    assert done.codes == [0]
    assert "at most 4" in done.out
    assert done.err == ""


@pytest.mark.skipif(sys.platform != "linux", reason="file names of other systems are text")
def test_file_names_that_are_no_text_are_no_error(tmp_path, monkeypatch, capsys, loaded, undrawn):
    """As a program, and in this process, whose standard output takes no such name as it is either."""
    name = b"bad\xff.txt"
    (tmp_path / os.fsdecode(name)).write_bytes(b"0 1\n1 2\n")
    done = loaded.run(tmp_path, ["info", os.fsdecode(name)], encoding="utf-8")
    assert (done.codes, done.err) == ([0], "")
    assert r"bad\udcff" in done.out
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


def test_interrupt_ends_cleanly(tmp_path, loaded):
    before = (
        "import signal, time\nfrom cayleygsp.cli import inputs\n"
        "def slow(*args):\n    print('ready', flush=True)\n    signal.raise_signal(signal.SIGINT)\n    time.sleep(60)\n"
        "inputs.load_graph = slow\n"
    )
    done = loaded.run(tmp_path, ["report", "@ring:9", "-o", "page.html"], before=before)
    assert (done.codes, done.out) == ([130], "ready\n")
    assert "Traceback" not in done.err
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


def as_a_program(folder, arguments, closed):
    """Run a command whose streams a shell closes before Python starts."""
    call = f"exec {shlex.join([sys.executable, '-m', 'cayleygsp.cli', *arguments])} {closed}"
    return subprocess.run(["sh", "-c", call], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_standard_output_that_is_lost_is_one_line_and_exit_code_1(tmp_path, loaded):
    results = []
    for case, (message, arguments) in MESSAGES.items():
        how = case.split(",")[0]
        lost = {"closed": ["stdout"]} if how == "closed" else {"lost": how}
        done = loaded.run(tmp_path, arguments, **lost)
        results.append((case, message, done.codes, done.err))
    alone = as_a_program(tmp_path, ["info", "@ring:8"], ">&-")
    results.append(("alone", MESSAGES["closed"][0], [alone.returncode], alone.stderr))
    for case, message, codes, printed in results:
        assert codes == [1], case
        assert printed.startswith("cayleygsp: error: "), case
        assert message in printed, case
        assert printed.count("\n") == 1, case


def test_a_closed_stderr_changes_nothing(tmp_path, loaded):
    for arguments, code in ((["info", "@ring:8"], 0), (["info", "missing.mtx"], 2)):
        assert loaded.run(tmp_path, arguments, closed=["stderr"]).codes == [code]
    assert as_a_program(tmp_path, ["info", "-"], "<&- 2>&-").returncode == 2


def test_files_are_written_though_standard_output_is_closed(tmp_path, loaded):
    assert loaded.run(tmp_path, ["zoom", "@ring:8", "-q", "-o", "z.csv"], closed=["stdout"]).codes == [0]
    assert (tmp_path / "z.csv").read_text().startswith("zoom,")


INTERRUPTED_AT = [
    ("typer", "module"),
    ("numpy", "module"),
    ("typer", "script"),
    ("scipy.sparse", "script"),
    ("cayleygsp.filters", "script"),
    ("cayleygsp.report.graph", "script"),
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
    assert ours == {"cayleygsp", "cayleygsp.cli", "cayleygsp.cli.errors"}
    for other in ("numpy", "scipy", "typer", "rich"):
        assert other not in loaded


def test_signals_and_graphs_come_from_standard_input(tmp_path, loaded):
    (tmp_path / "f.txt").write_text("1\n0\n0\n")
    common = ["--pass", "heat:1", "-q", "-o", "-"]
    by_graph = loaded.run(tmp_path, ["filter", "-", "f.txt", *common], stdin="0 1\n1 2\n")
    by_signal = loaded.run(tmp_path, ["filter", "@path:3", "-", *common], stdin="1\n0\n0\n")
    assert by_graph.codes == by_signal.codes == [0]
    assert by_graph.out == by_signal.out
    assert by_graph.out.count("\n") == 3


def test_commands_stand_in_a_pipe(tmp_path, loaded, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.txt").write_text("1\n0\n0\n")
    first = ["filter", "@path:3", "f.txt", "--pass", "heat:1", "-o", "-"]
    second = ["filter", "@path:3", "-", "--pass", "heat:2", "-o", "y.csv"]
    assert loaded.run(tmp_path, first, second).codes == [0, 0]
    assert main(["filter", "@path:3", "f.txt", "--pass", "heat:3", "-o", "z.csv"]) == 0
    assert np.loadtxt(tmp_path / "y.csv") == pytest.approx(np.loadtxt(tmp_path / "z.csv"), abs=1e-5)


def test_a_closed_standard_input_is_one_line(tmp_path, loaded):
    done = loaded.run(tmp_path, ["info", "-"], closed=["stdin"])
    assert done.codes == [2]
    assert "standard input" in done.err
    assert done.err.count("\n") == 1
