"""The benchmark of the layers runs, checks what it times, and writes what it measured; how fast it was is no test."""

import pytest

pytest.importorskip("torch_geometric", reason="the benchmark compares with PyTorch Geometric")
torch = pytest.importorskip("torch")

from analysis import benchmark_nn  # noqa: E402
from analysis._comparison import COLUMNS  # noqa: E402
from analysis._networks import mnist_tree  # noqa: E402
from analysis._script import table_of  # noqa: E402
from analysis.benchmark_nn import SCRIPT, layers, networks  # noqa: E402
from analysis.benchmark_nn.problems import QUICK, activation_bytes, peak_bytes  # noqa: E402
from tests.analysis.helpers import run  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch_geometric.*"),
]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return run(benchmark_nn, tmp_path_factory.mktemp("nn"), "--repeats", "1")


def test_rows_of_the_design_are_there(result):
    document, page = result
    targets = [10.0, 4.0, 1.1, 1.4, 1.4, 4.0, 0.5, 4.0, 4.0, 3.0, 1.0, 1.2, 4.0, 1.0, 1.0, 3.0, 3.0, 1.5, 1.5]
    assert [row["target"] for row in document["rows"]] == targets
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


def test_chebnets_with_both_kinds_of_layers_learn_alike():
    tree = mnist_tree(QUICK.side, 0)
    x, labels = torch.rand(12, tree.n_vertices, 1), torch.arange(12) % 10
    steps = [networks.descent_step(network, x, labels) for network in networks.chebnet_pair(tree, QUICK, 0)]
    losses = [[float(step()[0]) for _ in range(8)] for step in steps]
    assert losses[0][-1] < losses[0][0]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def test_growth_is_measured_in_every_size(result):
    series = result[0]["growth"]
    assert [one["name"] for one in series] == ["zoom", "order", "vertices", "channels"]
    for one in series:
        assert [point["at"] for point in one["points"]] == sorted(point["at"] for point in one["points"])
        assert all(point["seconds"]["median"] > 0 for point in one["points"])
    degrees = [point["degree"] for point in series[0]["points"]]
    assert degrees[0] < degrees[-1]


def test_a_wrong_result_is_said_to_be_wrong(monkeypatch):
    monkeypatch.setattr(layers, "CHEBYSHEV_LIMIT", 1e-30)
    args = SCRIPT.parse(["--quick", "--repeats", "1"])
    rows = layers.pyg_rows(QUICK, args, lambda name: None)
    assert not any(row["correct"] or row["met"] for row in rows)
    assert all(cells[-1].endswith("WRONG") for cells in table_of("", COLUMNS, rows).rows)


def test_memory_is_that_of_the_tensors():
    x = torch.ones(1000, requires_grad=True)
    assert activation_bytes(lambda: (x * 2).exp()) == 4000
    assert 8000 <= peak_bytes(lambda: (x.detach() + 1) + 1) < 9000
