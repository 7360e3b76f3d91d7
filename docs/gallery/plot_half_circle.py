"""
Where a zoom puts the frequencies
=================================

A Cayley filter sees a frequency λ as the point (hλ − i)/(hλ + i) of the half circle.
"""

import matplotlib.pyplot as plt

import cayleygsp as cg

eigenvalues = cg.laplacian(cg.gallery.communities(rng=0)).eigenvalues

fig, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for zoom, ax in zip((0.1, 1.0, 10.0), axes, strict=True):
    cg.plotting.half_circle(eigenvalues, zoom, ax=ax)
