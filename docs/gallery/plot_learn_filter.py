"""
Which filter was it?
====================

Signals before and after an unknown Cayley filter, with noise, tell its coefficients and its zoom. What is left
unexplained, as a function of the zoom alone, has its minimum at the true one.
"""

import matplotlib.pyplot as plt
import numpy as np

import cayleygsp as cg

graph = cg.gallery.communities(rng=0)
L = cg.laplacian(graph)
rng = np.random.default_rng(0)
unknown = cg.CayleyPolynomial([0.5, -0.3, 0.1j], zoom=2.0)
before = rng.standard_normal((graph.n_vertices, 4))
after = cg.CayleyFilter(L, unknown, tol=1e-10) @ before + 0.001 * rng.standard_normal(before.shape)

learned, info = cg.CayleyFilter.learn(L, before, after, order=2, return_info=True)
print(info.summary)

# %%

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
left.loglog(info.zooms, info.residuals, color=cg.plotting.COLORS[0])
left.axvline(2.0, color="k", ls=":", label="true zoom")
left.plot(info.zoom, info.residual, "o", color=cg.plotting.COLORS[1], label="found")
left.set(xlabel="zoom h", ylabel="unexplained part of the outputs")
left.legend()
cg.plotting.response({"true": unknown, "learned": learned.polynomial}, 10.0, eigenvalues=L.eigenvalues, ax=right)
plt.show()
