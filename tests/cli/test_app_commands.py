"""The commands and their help."""

from __future__ import annotations

import subprocess
import sys

import pytest
from scipy.sparse import csgraph

import cayleygsp as cg
from cayleygsp.cli import main


@pytest.mark.parametrize(
    "name",
    ["info", "zoom", "filter", "denoise", "inpaint", "features", "bound", "decay", "design", "explore", "report"],
)
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


def test_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"cayleygsp {cg.__version__}\n"


def test_help_has_the_exit_codes(capsys):
    assert main(["--help"]) == 0
    help_ = " ".join(capsys.readouterr().out.split())
    for code, meaning in ((0, "done"), (1, "standard output"), (2, "input"), (3, "written, but"), (130, "interrupted")):
        assert f"{code} {meaning}" in help_


NUMBERS = {
    "info": ["info", "@ring:20"],
    "zoom": ["zoom", "@ring:20"],
    "filter": ["filter", "@ring:3", "f.txt", "--pass", "heat:1", "-o", "-"],
    "denoise": ["denoise", "@ring:3", "f.txt", "-o", "-"],
    "inpaint": ["inpaint", "@ring:3", "f.txt", "-o", "-"],
    "features": ["features", "@ring:3", "f.txt", "-o", "-"],
    "bound": ["bound", "@ring:20", "--zoom", "1", "--order", "2"],
    "decay": ["decay", "@ring:20", "--zoom", "1", "--order", "2"],
    "design": ["design", "--target", "low:1", "--graph", "@ring:20", "--order", "2"],
    "explore": ["explore", "@ring:20", "-o", "-"],
}


def test_numbers_are_printed_without_loading_what_draws(tmp_path):
    (tmp_path / "f.txt").write_text("1\n2\n3\n")
    without_graph = ["design", "--target", "low:1", "--lmax", "4", "--order", "2"]
    calls = [call if "-o" in call else [*call, "--json"] for call in (*NUMBERS.values(), without_graph)]
    code = f"import sys\nfrom cayleygsp.cli import main\nassert not any(map(main, {calls}))\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    for heavy in ("matplotlib", "pygsp", "torch"):
        assert heavy not in loaded, heavy


@pytest.mark.parametrize("name", [*NUMBERS, "report"])
def test_the_laplacian_and_the_components_are_computed_once(tmp_path, monkeypatch, capsys, undrawn, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.txt").write_text("1\n2\n3\n")
    made, labelled = [], []
    make, label = cg.Laplacian.__init__, csgraph.connected_components

    def counting(self, *args, **kwargs):
        made.append(self)
        make(self, *args, **kwargs)

    def labelling(matrix, *args, **kwargs):
        if matrix.shape[0] == 20:
            labelled.append(matrix)
        return label(matrix, *args, **kwargs)

    monkeypatch.setattr(cg.Laplacian, "__init__", counting)
    monkeypatch.setattr(csgraph, "connected_components", labelling)
    call = NUMBERS.get(name, ["report", "@ring:20", "-o", "page.html"])
    assert main(call) == 0
    assert len(made) == 1
    assert len(labelled) <= 1


def test_options_of_several_commands_are_declared_once(capsys):
    helps = []
    for name in ("info", "zoom", "filter", "denoise", "inpaint", "features", "bound", "decay", "explore", "report"):
        assert main([name, "--help"]) == 0
        helps.append(capsys.readouterr().out)
    for option in ("--laplacian", "--symmetrize", "--variable", "--seed", "--output", "--force", "--json", "--quiet"):
        assert all(option in help_ for help_ in helps), option
