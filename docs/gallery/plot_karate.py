"""
Two leaders of a karate club
============================

Zachary's karate club split in two. Of its 34 members only the two leaders are known to belong to a side; the
smoothest signal that agrees with them says where all others went.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import cayleygsp as cg

club = nx.karate_club_graph()
side = np.array([1.0 if club.nodes[v]["club"] == "Mr. Hi" else -1.0 for v in club])
coords = np.array([position for _, position in sorted(nx.spring_layout(club, seed=3).items())])
graph = cg.Graph(nx.to_scipy_sparse_array(club, weight=None), coords=coords)

known = np.zeros(34, bool)
known[[0, 33]] = True
result = cg.tasks.inpaint(graph, side, known, strength=0.0)
guess = np.sign(result.signals)
print(f"{int(np.sum(guess == side))} of 34 members are on the right side")
print(f"every value is proved to {result.largest_error:.1e}")

# %%

fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for signal, title, ax in zip((side, result.signals), ("the sides they took", "from the two leaders alone"), axes):
    cg.plotting.graph(graph, signal, ax=ax, s=160, cmap="RdBu_r", colorbar=False, vmin=-1, vmax=1, edgecolors="k")
    ax.plot(*coords[known].T, "o", ms=20, mfc="none", mec="k", mew=2)
    ax.set_title(title)
    ax.set_axis_off()
plt.show()
