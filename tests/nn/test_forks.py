"""Layers in processes that were forked, as the workers of a DataLoader are."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import torch
import cayleygsp as cg
from cayleygsp.engine import threads
from cayleygsp.nn import CayleyConv, GraphLaplacian
from torch.utils.data import DataLoader, Dataset

threads._NUMBERS_PER_THREAD = threads._NUMBERS_TO_SHARE = 1  # so that this small work is shared
torch.set_num_threads(2)
graph = cg.gallery.ring(200)
laplacian = GraphLaplacian.from_laplacian(cg.laplacian(graph, "normalized"))
row, col = graph.W.nonzero()
edge_index = torch.stack([torch.from_numpy(row), torch.from_numpy(col)]).long()
edge_weight = torch.ones(edge_index.shape[1], dtype=torch.float64, requires_grad=True)
layer = CayleyConv(1, 2, 3).double()
g = cg.CayleyFilter(graph, layer.polynomial(0, 1), tol=1e-8)
x = torch.randn(4, 200, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def work(k):
    layer(x[k], laplacian).sum().backward()
    layer(x[k], edge_index, edge_weight).sum().backward()
    return torch.from_numpy(g @ x[k, :, 0].numpy()), layer(x[k], laplacian).detach(), edge_weight.grad.clone()


class Signals(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, k):
        edge_weight.grad = None
        return work(k)


if __name__ == "__main__":
    expected = [Signals()[k] for k in range(4)]  # here the threads are started
    loader = DataLoader(Signals(), batch_size=1, num_workers=1, multiprocessing_context="fork", timeout=60)
    for got, wanted in zip(loader, expected):
        for a, b in zip(got, wanted):
            torch.testing.assert_close(a[0], b, rtol=1e-12, atol=1e-12)
    print("all workers filtered")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_layers_and_filters_work_in_forked_workers(tmp_path):
    script = tmp_path / "workers.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "all workers filtered" in done.stdout
