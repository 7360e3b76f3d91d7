"""
Nine numbers: Cayley against Chebyshev
======================================

The 15 lowest frequencies of this graph carry its communities. A Cayley polynomial of order 4 has 9 real
coefficients and a zoom. A Chebyshev polynomial with as many coefficients has order 8 and spends them on the whole
spectrum.
"""

import matplotlib.pyplot as plt
import numpy as np

import cayleygsp as cg

L = cg.laplacian(cg.gallery.communities(rng=0))
target = cg.design.LowPass(1.6)
cayley = cg.CayleyFilter.fit(L, target, order=4, norm="minimax", return_info=True)[1]
chebyshev = cg.ChebyshevFilter.fit(L, target, order=8, norm="minimax", return_info=True)[1]
print(f"Cayley, order 4, zoom {cayley.zoom:.2f}: at most {cayley.residual_max:.2f} off at every eigenvalue")
print(f"Chebyshev, order 8: at most {chebyshev.residual_max:.2f} off")

# %%

lam = np.linspace(0, L.lmax, 2000)
fig, (wide, close) = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained", sharey=True)
for ax in (wide, close):
    ax.plot(lam, chebyshev.polynomial(lam), color=cg.plotting.COLORS[1], label="Chebyshev, order 8")
    ax.plot(lam, cayley.polynomial(lam), color=cg.plotting.COLORS[0], label="Cayley, order 4")
    ax.plot(L.eigenvalues, cayley.polynomial(L.eigenvalues), ".", ms=4, color="k", label="frequencies of the graph")
    ax.set(xlabel="frequency λ", ylim=(-0.4, 1.4))
close.set(xlim=(0, 4), title="the low end")
wide.set(ylabel="response", title="the whole spectrum")
wide.legend()
plt.show()
