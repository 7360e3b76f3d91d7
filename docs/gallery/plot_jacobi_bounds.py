"""
A bound that is broken, and two that hold
=========================================

Proposition 1 of the CayleyNets paper bounds the error of K Jacobi sweeps by 2Mκᴷ. On a ring the scheme's error is
above that. The bound of the proof without its last step ("safe"), and a sharper one that needs no √n, hold.
"""

import matplotlib.pyplot as plt
import numpy as np

import cayleygsp as cg
from cayleygsp import bounds

L, h, r = cg.laplacian(cg.gallery.ring(16)), 0.5, 5
C = cg.cayley_transform(h * L.eigenvalues)
J = h * (2 - L.eigenvalues) / (2 * h + 1j)  # the iteration matrix, diagonal in the eigenbasis

sweeps = np.arange(0, 21)
# the filter 2 Re(c C⁵) with |c| = 1 of the worst phase, on the worst eigenvector
error = [np.abs(2 * (((1 - J ** (K + 1)) * C) ** r - C**r)).max() for K in sweeps]
p = cg.CayleyPolynomial([0] * r + [1.0], h)
curves = {kind: [bounds.jacobi_bound(L, p, int(K), kind).value for K in sweeps] for kind in ("paper", "safe", "sharp")}

# %%

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.semilogy(sweeps, curves["paper"], "--", color=cg.plotting.COLORS[1], label="2Mκᴷ, as printed")
ax.semilogy(sweeps, curves["safe"], "-", color=cg.plotting.COLORS[2], label="safe")
ax.semilogy(sweeps, curves["sharp"], ":", color=cg.plotting.COLORS[0], lw=2.5, label="sharp (equal to safe on a ring)")
ax.semilogy(sweeps, error, "ko", ms=4, label="largest error")
broken = np.array(error) > np.array(curves["paper"])
ax.semilogy(sweeps[broken], np.array(error)[broken], "o", ms=12, mfc="none", mec="r", label="above the printed bound")
ax.set(xlabel="sweeps K", ylabel="error / ‖signal‖")
ax.legend()
print("printed bound broken for K =", sweeps[broken].tolist())
plt.show()
