"""The layers inside PyTorch Geometric: its data, batches, loaders and containers."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from tests.nn.helpers import edges_of, random_adjacency, signals

pyg = pytest.importorskip("torch_geometric", reason="the layers are tried inside PyTorch Geometric where it is there")

# torch says this of its own sparse formats, PyTorch Geometric of its use of TorchScript
pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
]

DOCS = Path(__file__).parents[2] / "docs" / "nn.md"


def two_halves(n=40, seed=0):
    """Return a graph of two communities as PyG has it, with noisy features that tell them apart."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    W = np.triu(rng.random((n, n)) < np.where(labels[:, None] == labels, 0.4, 0.05), 1).astype(float)
    edge_index, weight = edges_of(W + W.T)
    x = torch.from_numpy(rng.standard_normal((n, 3)) + labels[:, None]).float()
    return pyg.data.Data(x=x, edge_index=edge_index, edge_weight=weight.float(), y=torch.from_numpy(labels))


def train(model, step, n_steps=60, lr=0.02):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for _ in range(n_steps):
        optimizer.zero_grad()
        loss = step(model)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


class Net(torch.nn.Module):
    def __init__(self, make):
        super().__init__()
        self.first, self.second = make(-1, 8), make(8, 2)

    def forward(self, data):
        batch = getattr(data, "batch", None)
        x = self.first(data.x, data.edge_index, data.edge_weight, batch).relu()
        return self.second(x, data.edge_index, data.edge_weight, batch)


LAYERS = {
    "cayley": lambda i, o: CayleyConv(i, o, 3),
    "cayley combinatorial": lambda i, o: CayleyConv(i, o, 2, normalization=None),
    "cayley shared": lambda i, o: CayleyConv(i, o, 2, shared_filter=True),
    "cheb": lambda i, o: ChebConv(i, o, 3),
}


@pytest.mark.parametrize("name", LAYERS)
def test_two_layers_learn_the_vertices_of_a_graph(name):
    torch.manual_seed(0)
    data, model = two_halves(), Net(LAYERS[name])
    model(data)
    losses = train(model, lambda m: torch.nn.functional.cross_entropy(m(data), data.y))
    assert losses[-1] < 0.5 * losses[0]
    assert (model(data).argmax(1) == data.y).float().mean() > 0.9


@pytest.mark.parametrize("name", LAYERS)
def test_a_batch_of_pyg_equals_its_graphs_one_by_one(name):
    torch.manual_seed(0)
    graphs = [two_halves(n, seed=n) for n in (12, 20, 7)]
    model = Net(LAYERS[name])
    model(graphs[0])
    batch = pyg.data.Batch.from_data_list(graphs)
    expected = torch.cat([model(data) for data in graphs])
    torch.testing.assert_close(model(batch), expected, atol=1e-3, rtol=0)  # tol of the series is 1e-4
    prepared = GraphLaplacian.from_data(batch, normalization=model.first.normalization)
    expected = model.first(batch.x, batch.edge_index, batch.edge_weight)
    torch.testing.assert_close(model.first(batch.x, prepared), expected, atol=1e-3, rtol=0)


def test_works_with_a_loader_of_parts_of_a_graph():
    torch.manual_seed(0)
    data, model = two_halves(60), Net(LAYERS["cayley"])
    model(data)
    loader = pyg.loader.RandomNodeLoader(data, num_parts=3)
    before = torch.nn.functional.cross_entropy(model(data), data.y).item()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(10):
        for part in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(part), part.y).backward()
            optimizer.step()
    assert torch.nn.functional.cross_entropy(model(data), data.y).item() < 0.7 * before


def test_works_in_pyg_containers():
    torch.manual_seed(0)
    data = two_halves()
    model = pyg.nn.Sequential(
        "x, edge_index, edge_weight",
        [
            (CayleyConv(3, 8, 2), "x, edge_index, edge_weight -> x"),
            torch.nn.ReLU(),
            (ChebConv(8, 2, 2), "x, edge_index, edge_weight -> x"),
        ],
    )
    losses = train(
        model, lambda m: torch.nn.functional.cross_entropy(m(data.x, data.edge_index, data.edge_weight), data.y)
    )
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("terms", [2, 5])
def test_cheb_conv_gives_what_pyg_gives(terms):
    # no vertex without edges: PyTorch Geometric gives those the eigenvalue 1, the core 0
    edge_index, weight = edges_of(random_adjacency(15, 0, density=0.8))
    x = signals(15, 3)
    theirs = pyg.nn.ChebConv(3, 4, terms).double()
    ours = ChebConv(3, 4, terms).double()
    torch.nn.init.normal_(theirs.bias, generator=torch.Generator().manual_seed(0))
    ours.load_state_dict(theirs.state_dict())
    expected = theirs(x, edge_index, weight, lambda_max=2.0)
    torch.testing.assert_close(ours(x, edge_index, weight), expected, atol=1e-10, rtol=0)
    torch.testing.assert_close(ours(x[None], edge_index, weight)[0], expected, atol=1e-10, rtol=0)


def test_lambda_max_of_the_pyg_transform_is_taken():
    data = pyg.transforms.LaplacianLambdaMax(normalization="sym")(two_halves())
    prepared = GraphLaplacian.from_data(data)
    assert float(prepared.scaling[0]) == pytest.approx(float(data.lambda_max), rel=1e-6)
    L = cg.laplacian(pyg.utils.to_scipy_sparse_matrix(data.edge_index, data.edge_weight), "normalized")
    assert float(prepared.scaling[0]) == pytest.approx(float(L.eigenvalues[-1]), rel=1e-5)


def test_code_of_the_documentation_runs():
    torch.manual_seed(0)
    namespace = {}
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= 6
    for block in blocks:
        exec(compile(block, str(DOCS), "exec"), namespace)
    assert namespace["y"].shape == (64, 200, 8)
    assert namespace["loss"].item() < 0.3
    assert namespace["pooled"].shape == (2, 8)
    assert namespace["out"].shape == (3, 16)
    assert namespace["filtered_signals"].shape == namespace["swept_signals"].shape == (3, 200, 8)
    assert namespace["responses"].shape == (3, 3, 16)
    expected = namespace["g"] @ namespace["data"].x[:, 0].double().numpy()
    np.testing.assert_array_equal(namespace["filtered"], expected)
