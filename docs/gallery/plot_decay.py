"""
How far a filter reaches
========================

A Cayley filter is nowhere zero, yet little of it is far away. Its mass outside k hops of a vertex: measured, fitted
by an exponential, and bounded by the tail of its series and by Theorem 4 of the paper.
"""

import matplotlib.pyplot as plt

import cayleygsp as cg

grid = cg.gallery.grid(41)
centre = 20 * 41 + 20
fig, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
for zoom, (top, bottom) in zip((0.1, 1.0, 10.0), axes.T):
    g = cg.CayleyFilter(grid, cg.CayleyPolynomial([0.5, -0.2, 0.1j], zoom), tol=1e-10)
    cg.plotting.localized(grid, g, centre, ax=top, s=6, colorbar=False)
    top.set_title(f"h = {zoom:g}")
    top.set_axis_off()
    cg.plotting.decay(cg.localization.decay_curve(g, centre), ax=bottom, legend=zoom == 0.1)
plt.show()
