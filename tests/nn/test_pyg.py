"""The layers inside PyTorch Geometric: its data, batches, loaders and containers."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from tests.nn.helpers import edges_of, signals

pyg = pytest.importorskip("torch_geometric", reason="the layers are tried inside PyTorch Geometric where it is there")

import cayleygsp.nn.pyg as known_to_pyg  # noqa: E402

# torch says this of its own sparse formats, PyTorch Geometric of its use of TorchScript
pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
]

DOCS = Path(__file__).parents[2] / "docs" / "howto" / "layers.md"


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

KNOWN = {
    "cayley": lambda i, o, **options: known_to_pyg.CayleyConv(i, o, 3, **options),
    "cheb": lambda i, o: known_to_pyg.ChebConv(i, o, 3),
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


def random_edges(n, n_edges, seed, undirected):
    """Return edges with self-loops and repeated pairs, and weights."""
    generator = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(0, n, (2, n_edges), generator=generator)
    weight = torch.rand(n_edges, generator=generator, dtype=torch.float64)
    if undirected:
        edge_index, weight = torch.cat([edge_index, edge_index.flip(0)], dim=1), weight.repeat(2)
    return edge_index, weight


@pytest.mark.parametrize("normalization", ["sym", "rw", None])
@pytest.mark.parametrize("undirected", [True, False])
def test_values_and_gradients_of_cheb_conv_are_those_of_pyg(normalization, undirected):
    for seed, (terms, channels, lambda_max) in enumerate([(1, (2, 3), None), (4, (2, 3), None), (6, (3, 2), 60.0)]):
        edge_index, weight = random_edges(12, 20, seed, undirected)
        theirs = pyg.nn.ChebConv(*channels, terms, normalization).double()
        ours = ChebConv(*channels, terms, normalization).double()
        assert repr(ours) == repr(theirs)
        ours.load_state_dict(theirs.state_dict())
        theirs.load_state_dict(ours.state_dict())
        results = []
        for layer in (ours, theirs):
            x, w = signals(12, channels[0]).requires_grad_(), weight.clone().requires_grad_()
            y = layer(x, edge_index, w, lambda_max=lambda_max)
            y.sin().sum().backward()
            results.append([y, x.grad, *(p.grad for p in layer.parameters()), *([w.grad] if terms > 1 else [])])
            results[-1].append(layer(x, edge_index, lambda_max=lambda_max))
        for got, wanted in zip(*results, strict=True):
            torch.testing.assert_close(got, wanted, atol=1e-11, rtol=1e-11)


@pytest.mark.parametrize("name", KNOWN)
def test_layers_work_in_heterogeneous_models(name):
    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = KNOWN[name](3, 4), KNOWN[name](4, 2)

        def forward(self, x, edge_index):
            return self.second(self.first(x, edge_index).relu(), edge_index)

    data = two_halves(12)
    kind = ("page", "links", "page")
    model = pyg.nn.to_hetero(Plain(), (["page"], [kind]))
    assert model({"page": data.x}, {kind: data.edge_index})["page"].shape == (12, 2)
    both = pyg.nn.HeteroConv({kind: KNOWN[name](3, 2)})
    assert both({"page": data.x}, {kind: data.edge_index})["page"].shape == (12, 2)
    with pytest.raises(ValueError, match="edges between two kinds have no Laplacian"):
        KNOWN[name](3, 2)((data.x, data.x.clone()), data.edge_index)


def test_masks_of_explainers_weigh_the_edges():
    set_masks = pyg.explain.algorithm.utils.set_masks
    for seed, undirected in ((0, True), (1, False)):
        edge_index, weight = random_edges(9, 15, seed, undirected)
        theirs = pyg.nn.ChebConv(2, 3, 4).double()
        ours = known_to_pyg.ChebConv(2, 3, 4).double()
        ours.load_state_dict(theirs.state_dict())
        results = []
        for layer in (ours, theirs):
            mask = signals(edge_index.shape[1]).requires_grad_()
            set_masks(layer, mask, edge_index)
            y = layer(signals(9, 2), edge_index, weight)
            y.sin().sum().backward()
            results.append((y, mask.grad))
            pyg.explain.algorithm.utils.clear_masks(layer)
            assert not torch.allclose(layer(signals(9, 2), edge_index, weight), y)
        for got, wanted in zip(*results, strict=True):
            torch.testing.assert_close(got, wanted, atol=1e-11, rtol=1e-11)
    edge_index, weight = random_edges(9, 15, 0, True)
    for options in ({}, {"shared_filter": True}, {"zoom_per_channel": True}, {"real_coeffs": True}):
        layer = KNOWN["cayley"](2, 3, tol=1e-10, **options).double()
        expected = layer(signals(9, 2), edge_index, weight)
        set_masks(layer, torch.ones(30, dtype=torch.float64), edge_index, apply_sigmoid=False)
        torch.testing.assert_close(layer(signals(9, 2), edge_index, weight), expected, atol=1e-8, rtol=0)


def test_an_explainer_explains():
    data = two_halves(12)
    model = Net(LAYERS["cayley"])
    model(data)
    explainer = pyg.explain.Explainer(
        pyg.nn.Sequential("x, edge_index", [(KNOWN["cayley"](3, 4), "x, edge_index -> x"), torch.nn.Linear(4, 2)]),
        algorithm=pyg.explain.GNNExplainer(epochs=3),
        explanation_type="model",
        node_mask_type="attributes",
        edge_mask_type="object",
        model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
    )
    explanation = explainer(data.x, data.edge_index, index=2)
    assert explanation.edge_mask.shape == (data.edge_index.shape[1],)
    assert float(explanation.edge_mask.std()) > 0


def test_edges_are_dropped_as_pyg_drops_them():
    data = two_halves(20)
    dropped, _ = pyg.utils.dropout_edge(data.edge_index, p=0.5)
    assert torch.isfinite(ChebConv(3, 2, 4)(data.x, dropped)).all()
    with pytest.raises(ValueError, match=r"both directions .* dropout_edge\(force_undirected=True\)"):
        CayleyConv(3, 2, 4)(data.x, dropped)
    dropped, _ = pyg.utils.dropout_edge(data.edge_index, p=0.5, force_undirected=True)
    assert torch.isfinite(CayleyConv(3, 2, 4)(data.x, dropped)).all()


@pytest.mark.parametrize("name", KNOWN)
def test_layers_known_to_pyg_are_those_of_the_package(name):
    known, plain = KNOWN[name](2, 3), LAYERS[name](2, 3)
    known.load_state_dict(plain.state_dict())
    assert isinstance(known, pyg.nn.MessagePassing)
    assert not isinstance(plain, pyg.nn.MessagePassing)
    assert repr(known) == repr(plain)
    edge_index, weight = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), torch.tensor([1.0, 1, 2, 2])
    x = signals(3, 2).float()
    expected = plain(x, edge_index, weight)
    for layer in (known, copy.deepcopy(known), copy.copy(known), pickle.loads(pickle.dumps(known))):
        assert type(layer) is type(known)
        assert torch.equal(layer(x, edge_index, weight), expected)
        assert set(layer.state_dict()) == set(plain.state_dict())


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
