"""
Whom a character is near to
===========================

Personalised PageRank is a filter: (1 − α)(I − αP)⁻¹ on the normalized Laplacian is Tikhonov smoothing of strength
α/(1 − α). Applied to an impulse at a character of *Les Misérables*, it says who is near, through all paths of
common chapters.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import cayleygsp as cg

novel = nx.les_miserables_graph()
names = list(novel)
position = nx.kamada_kawai_layout(novel, weight=None)
graph = cg.Graph(nx.to_scipy_sparse_array(novel), coords=np.array([position[name] for name in names]))
L = cg.laplacian(graph, kind="normalized")
g = cg.KernelFilter(L, cg.responses.page_rank(0.85), tol=1e-10)

fig, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
for who, ax in zip(("Marius", "Fantine"), axes):
    near = np.sqrt(L.degrees) * g.localize(names.index(who)) / np.sqrt(L.degrees[names.index(who)])
    cg.plotting.graph(graph, np.log10(near), ax=ax, s=60, cmap="viridis", colorbar=False)
    for k in np.argsort(near)[-5:]:
        ax.text(*graph.coords[k], names[k], fontsize=10, ha="center", bbox={"fc": "w", "alpha": 0.8, "pad": 1, "lw": 0})
    ax.set_title(f"near {who}")
    ax.set_axis_off()
    print(who, "is near", ", ".join(names[k] for k in np.argsort(near)[-2:-7:-1]))
plt.show()
