"""
What a zoom costs
=================

The sweeps that the paper's Jacobi scheme needs grow with the square of the zoom, for each of the r powers. One
Chebyshev series for the whole filter grows with the square root of the zoom, whatever the order is. Both numbers
are proved before anything is filtered.
"""

import matplotlib.pyplot as plt
import numpy as np

import cayleygsp as cg
from cayleygsp import bounds

L = cg.laplacian(cg.gallery.communities(rng=0))
coeffs = np.r_[0.5, 0.1 * np.ones(8)]
zooms = np.geomspace(0.01, 30, 12)
polynomials = [cg.CayleyPolynomial(coeffs, h) for h in zooms]
series = [bounds.series_degree(L, p, atol=1e-6) for p in polynomials]
jacobi = [(bounds.jacobi_sweeps(L, p, atol=1e-6) + 1) * p.order for p in polynomials]

# %%

fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.loglog(zooms, jacobi, "s-", color=cg.plotting.COLORS[1], label="Jacobi: complex products, r (K + 1)")
ax.loglog(zooms, series, "o-", color=cg.plotting.COLORS[0], label="series: real products")
ax.set(xlabel="zoom h", ylabel="products for an error of 1e-6", title="order 8, 15 communities")
ax.legend()
plt.show()
