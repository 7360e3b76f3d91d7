"""
How sharp a step may be
=======================

A step of the response that falls within a width w needs a series of about λ_max/w terms. The degree is known, with
a proof, before the graph is touched.
"""

import matplotlib.pyplot as plt
import numpy as np

import cayleygsp as cg
from cayleygsp import bounds

L = cg.laplacian(cg.gallery.grid(64))
widths = [2.0, 0.5, 0.1, 0.02]
steps = {w: cg.responses.LowPass(1.0, transition=w) for w in widths}
degrees = {w: bounds.series_degree(L, step, atol=1e-6) for w, step in steps.items()}

# %%

lam = np.linspace(0, 2.5, 2000)
fig, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
for w, step in steps.items():
    ax.plot(lam, step(lam), label=f"w = {w:g}: {degrees[w]} terms")
ax.set(xlabel="frequency λ", ylabel="response", title="steps at λ = 1, error 1e-6")
ax.legend()

# %%
# A step whose width is a share of its cutoff needs only about 1/√cutoff terms: Chebyshev series see more near 0.

fig, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
cutoffs = np.geomspace(0.02, 4, 12)
for ratio in (1.0, 0.2):
    needed = [bounds.series_degree(L, cg.responses.LowPass(c, transition=ratio * c), atol=1e-6) for c in cutoffs]
    ax.loglog(cutoffs, needed, "o-", label=f"width {ratio:g} × cutoff")
ax.set(xlabel="cutoff", ylabel="terms", title="steps as wide as their cutoff")
ax.legend()
plt.show()
