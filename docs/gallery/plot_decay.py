"""
How far a filter reaches
========================

A Cayley filter is nowhere zero, yet little of it is far away. Its mass outside k hops of a vertex: measured, fitted
by an exponential, and bounded by the tail of its series and by Theorem 4 of the paper.
"""

import matplotlib.pyplot as plt
import numpy as np

import cayleygsp as cg

grid = cg.gallery.grid(41)
centre = 20 * 41 + 20
fig, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
for zoom, (top, bottom) in zip((0.1, 1.0, 10.0), axes.T):
    g = cg.CayleyFilter(grid, cg.CayleyPolynomial([0.5, -0.2, 0.1j], zoom), tol=1e-10)
    size = np.log10(np.maximum(np.abs(g.localize(centre)), 1e-8)).reshape(41, 41)
    top.imshow(size, cmap="inferno", vmin=-8, vmax=0)
    top.set_title(f"h = {zoom:g}, sizes from 1e-8 to 1")
    top.set_axis_off()
    cg.plotting.decay(cg.localization.decay_curve(g, centre), ax=bottom, legend=zoom == 0.1)
plt.show()
