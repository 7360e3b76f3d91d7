"""How tests run commands."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from cayleygsp.cli import main

# Vertices of the built-in graph of communities.
N = 366


def run_json(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def refused(capsys, *arguments):
    """Run what must be refused; return the message."""
    assert main(list(arguments)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("cayleygsp: error: ")
    assert captured.err.count("\n") == 1
    assert captured.err.endswith("\n")
    return captured.err


def start(folder, *arguments):
    command = [sys.executable, "-m", "cayleygsp.cli", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@dataclass(frozen=True)
class Done:
    """How calls ended: exit codes, and what the last of them wrote to its streams."""

    codes: list[int]
    out: str
    err: str


class Loaded:
    """The program in processes that are forked from one that has loaded it."""

    def __init__(self):
        command = [sys.executable, str(Path(__file__).with_name("loaded_program.py"))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate(timeout=60)

    def run(self, folder, *calls, stdin="", closed=(), lost=None, encoding=None, before=""):
        """Run calls that are joined by pipes.

        Streams may be ``closed``, standard output ``lost`` ("full" or "pipe") or of another ``encoding``; ``before`` is
        code that is run first.
        """
        with TemporaryDirectory() as name:
            files = {stream: Path(name) / stream for stream in ("stdin", "stdout", "stderr")}
            for stream, path in files.items():
                path.write_text(stdin if stream == "stdin" else "", encoding="utf-8")
            request = {stream: str(path) for stream, path in files.items()}
            request |= {"folder": str(folder), "calls": calls, "closed": closed, "lost": lost}
            request |= {"encoding": encoding, "before": before}
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            codes = json.loads(self.process.stdout.readline())
            return Done(codes, *(files[stream].read_text(encoding="utf-8") for stream in ("stdout", "stderr")))
