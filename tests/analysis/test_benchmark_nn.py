"""The benchmark of the layers runs, checks what it times, and writes what it measured; how fast it was is no test."""

import json

import pytest

pytest.importorskip("torch_geometric", reason="the benchmark compares with PyTorch Geometric")
torch = pytest.importorskip("torch")

from analysis import benchmark_nn  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch_geometric.*"),
]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nn")
    arguments = ["--quick", "--repeats", "2", "--results", str(folder / "new"), "--json", str(folder / "out.json")]
    assert benchmark_nn.main(arguments) == 0
    assert (folder / "new" / "benchmark_nn.png").read_bytes().startswith(b"\x89PNG")
    text = (folder / "new" / "benchmark_nn.json").read_text(encoding="utf-8")
    assert text == (folder / "out.json").read_text(encoding="utf-8")
    return json.loads(text), (folder / "new" / "benchmark_nn.md").read_text(encoding="utf-8")


def test_rows_of_the_design_are_there(result):
    document, page = result
    assert [row["target"] for row in document["rows"]] == [10.0, 4.0, 1.1, 1.6, 4.0, 4.0]
    assert {row["peer"]["name"] for row in document["rows"]} >= {
        "PyTorch Geometric",
        "the paper's Jacobi, K=11",
        "ChebNet",
    }
    for row in document["rows"]:
        assert row["work"] in page
        assert 0 < row["value"]["low"] <= row["value"]["median"] <= row["value"]["high"]


def test_what_is_timed_is_right(result):
    for row in result[0]["rows"]:
        assert row["correct"], row["work"]
        if "seconds" in row["ours"]:
            assert 0 < row["ours"]["error"] < 1e-3


def test_growth_is_measured_in_every_size(result):
    series = result[0]["growth"]
    assert [one["name"] for one in series] == ["zoom", "order", "vertices", "channels"]
    for one in series:
        assert [point["at"] for point in one["points"]] == sorted(point["at"] for point in one["points"])
        assert all(point["seconds"]["median"] > 0 for point in one["points"])
    degrees = [point["degree"] for point in series[0]["points"]]
    assert degrees[0] < degrees[-1]


def test_a_wrong_result_is_said_to_be_wrong(monkeypatch):
    monkeypatch.setattr(benchmark_nn, "CHEBYSHEV_LIMIT", 1e-30)
    args = benchmark_nn.parse_arguments(["--quick", "--repeats", "1"])
    rows = benchmark_nn.pyg_rows(benchmark_nn.QUICK, args, lambda name: None)
    assert not any(row["correct"] or row["met"] for row in rows)
    assert all("WRONG" in benchmark_nn.cells(row)[-1] for row in rows)


def test_memory_is_that_of_the_tensors():
    x = torch.ones(1000, requires_grad=True)
    assert benchmark_nn.activation_bytes(lambda: (x * 2).exp()) == 4000
    assert 8000 <= benchmark_nn.peak_bytes(lambda: (x.detach() + 1) + 1) < 9000


def test_bad_arguments_are_refused(capsys):
    with pytest.raises(SystemExit):
        benchmark_nn.main(["--repeats", "0"])
    assert "--repeats must be 1 or more, got 0" in capsys.readouterr().err
