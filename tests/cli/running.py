"""How tests run commands."""

from __future__ import annotations

import json
import subprocess
import sys

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
