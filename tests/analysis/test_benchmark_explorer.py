"""The benchmark of the explorer, in small."""

from __future__ import annotations

import pytest

from analysis import benchmark_explorer
from tests.analysis.helpers import run
from tests.explorer.browser import MISSING


@pytest.mark.skipif(benchmark_explorer.browser() is None, reason=MISSING)
def test_pages_measure_themselves(tmp_path):
    document, page = run(benchmark_explorer, tmp_path)
    (row,) = document["rows"]
    assert row["rates"][0] > 0
    assert f"{row['bytes'] / 1e6:.2f} MB" in page


def test_without_a_browser_nothing_is_measured(monkeypatch, capsys):
    monkeypatch.setattr(benchmark_explorer.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit):
        benchmark_explorer.main(["--quick"])
    assert "chromium was not found" in capsys.readouterr().err
