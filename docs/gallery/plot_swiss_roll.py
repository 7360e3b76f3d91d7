"""
Unroll a spiral
===============

Points on a rolled-up sheet are joined to their nearest neighbours. The lowest frequencies of that graph know the
sheet and not the room around it: two of its waves are coordinates on the sheet.
"""

import matplotlib.pyplot as plt
import numpy as np
import pygsp

import cayleygsp as cg

rng = np.random.default_rng(1)
angle, height = 1.5 * np.pi * (1 + 2 * rng.random(1500)), 21 * rng.random(1500)
points = np.c_[angle * np.cos(angle), height, angle * np.sin(angle)]
G = pygsp.graphs.NNGraph(points, k=10, rescale=False, center=False)
L = cg.laplacian(G)

fig = plt.figure(figsize=(11, 4), layout="constrained")
for k in (1, 2):
    ax = fig.add_subplot(1, 3, k, projection="3d")
    ax.scatter(*points.T, c=L.eigenvectors[:, k], s=6, cmap="RdBu_r")
    ax.set_title(f"wave {k + 1}, λ = {L.eigenvalues[k]:.3f}")
    ax.view_init(elev=8, azim=-72)
    ax.set_axis_off()
ax = fig.add_subplot(1, 3, 3)
ax.scatter(L.eigenvectors[:, 1], angle, s=6, c=height)
ax.set(xlabel="wave 2", ylabel="position along the sheet")
plt.show()
