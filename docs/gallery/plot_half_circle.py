"""
Where a zoom puts the frequencies
=================================

A Cayley filter sees a frequency λ as the point (hλ − i)/(hλ + i) of the half circle. The zoom h decides which
frequencies get most of it: here the 15 lowest of a graph with 15 communities, which carry the communities.
"""

import matplotlib.pyplot as plt

import cayleygsp as cg

eigenvalues = cg.laplacian(cg.gallery.communities(rng=0)).eigenvalues

fig, axes = plt.subplots(1, 3, figsize=(11, 3), layout="constrained")
for zoom, ax in zip((0.1, 1.0, 10.0), axes):
    cg.plotting.half_circle(eigenvalues, zoom, ax=ax, legend=ax is axes[0])
    ax.set_title(f"h = {zoom:g}")

# %%
# How well each zoom tells neighbouring frequencies apart is its resolution dθ/dλ. No zoom resolves a frequency λ better
# than h = 1/λ.

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
cg.plotting.resolution([0.1, 1.0, 10.0], eigenvalues[-1], eigenvalues=eigenvalues, ax=ax)
plt.show()
