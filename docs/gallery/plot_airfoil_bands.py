"""
A random signal on the airfoil, band by band
============================================

White noise holds all frequencies alike. A bank of smooth steps splits it into octaves; what is left in each is a
texture of one scale. The bands add up to the signal again.
"""

import matplotlib.pyplot as plt
import numpy as np
import pygsp

import cayleygsp as cg

airfoil = pygsp.graphs.Airfoil()
graph = cg.Graph(airfoil.W, coords=airfoil.coords)
noise = np.random.default_rng(0).standard_normal(graph.n_vertices)

features = cg.tasks.smooth_features(graph, noise, bands=[0.02, 0.1, 0.5, 2.5])
print("bands add up to the signal:", np.allclose(features.values.sum(axis=1), noise, atol=1e-4))

# %%

fig, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
for band, name, ax in zip(features.values.T, features.names, axes):
    top = np.quantile(np.abs(band), 0.98)
    ax.scatter(*graph.coords.T, c=band, s=7, cmap="RdBu_r", vmin=-top, vmax=top)
    ax.set(title=name.partition(", ")[2], aspect="equal")
    ax.set_axis_off()
plt.show()
