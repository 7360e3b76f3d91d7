"""
The frequencies of five graphs, without eigenvalues
===================================================

The distribution of the frequencies of a graph is estimated by random probes and the kernel polynomial method, at
the price of some hundred products with the normalized Laplacian. Roads look like nothing else: frequencies near 0
and near 2 are as common as those between.
"""

import matplotlib.pyplot as plt
import pygsp

import cayleygsp as cg

graphs = {
    "Minnesota roads": pygsp.graphs.Minnesota(),
    "airfoil mesh": pygsp.graphs.Airfoil(),
    "grid, 200 × 200": cg.gallery.grid(200),
    "communities": cg.gallery.communities(60, rng=0),
    "collaboration": cg.gallery.collaboration(5000, rng=0),
}

fig, axes = plt.subplots(1, 5, figsize=(14, 2.8), layout="constrained")
for (name, graph), ax in zip(graphs.items(), axes):
    density = cg.density.spectral_density(graph, n_moments=100, n_probes=8, method="kpm", rng=0, kind="normalized")
    cg.plotting.density(density, ax=ax)
    ax.get_legend().remove()
    ax.set_title(name)
    ax.label_outer()
plt.show()
