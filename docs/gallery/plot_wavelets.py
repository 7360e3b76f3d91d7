"""
Wavelets on the Minnesota roads
===============================

A Meyer frame of six filters: responses whose squares add up to one, wavelets of one crossing from fine to coarse,
and the signal put together again from its coefficients.
"""

import matplotlib.pyplot as plt
import numpy as np
import pygsp

import cayleygsp as cg

G = pygsp.graphs.Minnesota(connected=True)
graph = cg.Graph(G.W, coords=G.coords)
L = cg.laplacian(graph)
bank = cg.FilterBank.tight(L, "meyer", n_filters=6)

lam = np.linspace(0, L.lmax, 1000)
fig, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
ax.plot(lam, bank.evaluate(lam).T)
ax.plot(lam, (bank.evaluate(lam) ** 2).sum(axis=0), "k--", label="sum of squares")
ax.set(xlabel="frequency λ", ylabel="response")
ax.legend()

# %%

vertex = 1300
x, y = graph.coords[vertex][:, None]
wavelets = bank.filter(np.eye(1, graph.n_vertices, vertex)[0])
fig, axes = plt.subplots(1, 4, figsize=(13, 3.8), layout="constrained")
for k, ax in zip((3, 2, 1, 0), axes):
    top = np.abs(wavelets[:, k]).max() / 3
    cg.plotting.graph(graph, ax=ax, s=0, edge_style={"linewidths": 0.3})
    ax.scatter(*graph.coords.T, c=wavelets[:, k], s=30, cmap="RdBu_r", vmin=-top, vmax=top, zorder=3)
    ax.set(title="scaling function" if k == 0 else f"wavelet {k}", xlim=x + [-0.7, 0.7], ylim=y + [-0.5, 0.5])
    ax.set_axis_off()

# %%

f = np.random.default_rng(0).standard_normal(graph.n_vertices)
back, info = bank.reconstruct(bank.filter(f), tol=1e-6, return_info=True)
print(f"reconstructed to {np.linalg.norm(back - f) / np.linalg.norm(f):.0e}, bound {info.certificate}")
plt.show()
