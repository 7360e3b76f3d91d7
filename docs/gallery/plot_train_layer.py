"""
A layer that learns where to look
=================================

A ``CayleyConv`` of order 2 and a ``ChebConv`` of as many coefficients learn a filter for a narrow band of low
frequencies from examples. The Cayley layer moves its zoom to the band.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian

torch.manual_seed(0)
graph = cg.gallery.communities(rng=0)
L = cg.laplacian(graph, kind="normalized")
laplacian = GraphLaplacian.from_laplacian(L)
teacher = cg.KernelFilter(L, cg.responses.Gaussian(0.0, 0.1), tol=1e-8)
x = np.random.default_rng(0).standard_normal((graph.n_vertices, 64))
y = torch.from_numpy(teacher @ x).float().T[..., None]
x = torch.from_numpy(x).float().T[..., None]

curves, layers = {}, {"Cayley, order 2": CayleyConv(1, 1, order=2), "Chebyshev, 5 terms": ChebConv(1, 1, K=5)}
for name, layer in layers.items():
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.03)
    curves[name] = []
    for _ in range(300):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(layer(x, laplacian), y)
        loss.backward()
        optimizer.step()
        curves[name].append(loss.item() / y.square().mean().item())
print(f"zoom from 1 to {layers['Cayley, order 2'].zoom.item():.1f}")

# %%

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
for name, losses in curves.items():
    left.semilogy(losses, label=name)
left.set(xlabel="step", ylabel="loss / energy of the target")
left.legend()
learned = layers["Cayley, order 2"].to_filter(L, 0, 0)
curves = {"teacher": teacher.evaluate, "learned": learned.evaluate}
cg.plotting.response(curves, 2.0, eigenvalues=L.eigenvalues, ax=right)
plt.show()
