"""The commands and their help."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cayleygsp.cli import main


@pytest.mark.parametrize("name", ["info", "zoom", "filter", "bound", "decay", "design", "report"])
def test_help_has_an_example(capsys, name):
    assert main([name, "--help"]) == 0
    assert f"Example: cayleygsp {name} " in " ".join(capsys.readouterr().out.split())


def test_without_arguments_help_is_shown(capsys):
    assert main([]) == 0
    assert "Commands" in capsys.readouterr().out


def test_help_loads_no_pictures():
    code = "import sys\nfrom cayleygsp.cli import main\nmain(['--help'])\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    for heavy in ("matplotlib", "pygsp", "torch", "numba"):
        assert heavy not in loaded, heavy
