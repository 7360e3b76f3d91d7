"""
A map from a few measurements
=============================

A quantity that varies slowly over Minnesota is known at one crossing in twenty. Tikhonov regression fills in the
rest, and every value that it returns is proved to be within ``largest_error`` of the exact minimizer.
"""

import matplotlib.pyplot as plt
import numpy as np
import pygsp

import cayleygsp as cg

G = pygsp.graphs.Minnesota(connected=True)
graph = cg.Graph(G.W, coords=G.coords)
x, y = ((graph.coords - graph.coords.min(axis=0)) / np.ptp(graph.coords, axis=0)).T
truth = np.sin(5 * x) + np.cos(4 * y)

rng = np.random.default_rng(0)
known = rng.random(graph.n_vertices) < 0.05
measured = np.where(known, truth + 0.1 * rng.standard_normal(graph.n_vertices), np.nan)
result = cg.tasks.inpaint(graph, measured, strength=0.1)  # NaN: not known
print(f"{known.sum()} measurements, error {np.sqrt(np.mean((result.signals - truth) ** 2)):.2f} (root mean square)")
print(f"solved to {result.largest_error:.1e} at every vertex, {result.certificate}")

# %%

fig, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for signal, title, ax in zip((truth, measured, result.signals), ("truth", "measured", "filled in"), axes):
    cg.plotting.graph(graph, ax=ax, s=0)
    points = ax.scatter(*graph.coords.T, c=signal, s=9, cmap="RdBu_r", vmin=-2, vmax=2, zorder=3)
    ax.set_title(title)
    ax.set_axis_off()
fig.colorbar(points, ax=axes, shrink=0.7)
plt.show()
