"""
Heat on the Minnesota roads: PyGSP's order 30 and a tolerance
=============================================================

PyGSP applies every filter by a polynomial of order 30. For heat exp(−tλ) that is enough up to t of about 10 on this
graph, and wrong beyond; the certified filter takes as many terms as its tolerance needs.
"""

import matplotlib.pyplot as plt
import numpy as np
import pygsp
from scipy.sparse.linalg import expm_multiply

import cayleygsp as cg

G = pygsp.graphs.Minnesota()
G.estimate_lmax()
L = cg.laplacian(G)
signal = np.random.default_rng(0).standard_normal(G.N)

times = np.geomspace(1, 1000, 10)
theirs, ours, bounds, products = [], [], [], []
for t in times:
    exact = expm_multiply(-t * L.matrix, signal)
    y = pygsp.filters.Heat(G, t * G.lmax).filter(signal)
    theirs.append(np.linalg.norm(y - exact) / np.linalg.norm(signal))
    y, info = cg.KernelFilter(L, cg.responses.Heat(t), method="chebyshev", tol=1e-6).filter(signal, return_info=True)
    ours.append(np.linalg.norm(y - exact) / np.linalg.norm(signal))
    bounds.append(info.error_bound)
    products.append(info.n_matvecs)

# %%
# The errors are true ones, against scipy's ``expm_multiply``; the dashed line is what the filter proved of itself.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.loglog(times, theirs, "s-", color=cg.plotting.COLORS[1], label="PyGSP, order 30")
left.loglog(times, ours, "o-", color=cg.plotting.COLORS[0], label="cayleygsp, tol=1e-6")
left.loglog(times, bounds, "--", color=cg.plotting.COLORS[0], label="its proved bound")
left.set(xlabel="time t", ylabel="error / ‖signal‖")
left.legend()
right.loglog(times, products, "o-", color=cg.plotting.COLORS[0])
right.axhline(30, color=cg.plotting.COLORS[1])
right.set(xlabel="time t", ylabel="products with the Laplacian")
plt.show()
