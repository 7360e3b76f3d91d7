"""What the tests of the scripts share."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis import _datasets
from analysis._planetoid import load_planetoid

SHARED = Path(__file__).parents[3] / "shared" / "data"


def run(script, folder, *more):
    """Run a script in its small size; return the numbers and the page that it wrote."""
    name = script.__name__.removeprefix("analysis.")
    argv = ["--quick", *more, "--results", str(folder / "new"), "--json", str(folder / "out.json")]
    assert script.main(argv) == 0
    assert {path.name for path in (folder / "new").iterdir()} == {f"{name}.{end}" for end in ("json", "md", "png")}
    assert (folder / "new" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    text = (folder / "new" / f"{name}.json").read_text(encoding="utf-8")
    assert text == (folder / "out.json").read_text(encoding="utf-8")
    document, page = json.loads(text), (folder / "new" / f"{name}.md").read_text(encoding="utf-8")
    assert script.markdown(document) == page
    assert document["command"] in page
    return document, page


def data_file(name):
    """Return the path of a file of a data set, or skip the test: nothing is downloaded."""
    path = _datasets.find_file(name)
    if path is None:
        pytest.skip(f"needs {name} in the folder that CAYLEYGSP_DATA names, or in {_datasets.cache_folder()}")
    return path


def real_cora():
    """Return the citation network, or skip the test: nothing is downloaded."""
    if (SHARED / "cora").is_dir():
        return load_planetoid("cora", SHARED)
    data_file("cora/ind.cora.graph")
    return load_planetoid("cora")
