"""
Heat on the Stanford bunny
==========================

Heat spreads over the surface from one point of the ear. Varadhan's formula makes a distance of it: −t log of the
heat at a short time t is nearly the square of the distance along the surface.
"""

import matplotlib.pyplot as plt
import numpy as np
import pygsp

import cayleygsp as cg

bunny = pygsp.graphs.Bunny()
source = int(np.argmax(bunny.coords[:, 1]))
impulse = np.zeros(bunny.N)
impulse[source] = 1

bank = cg.FilterBank(bunny, [cg.responses.Heat(t) for t in (0.05, 0.5, 5.0)], tol=1e-10)
heat, info = bank.filter(impulse, return_info=True)
print(info.certificate, f"bound {np.max(info.error_bound):.1e}")

# %%

x, y, z = bunny.coords.T
fig, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained", subplot_kw={"projection": "3d"})
for values, t, ax in zip(heat.T, (0.05, 0.5, 5.0), axes):
    log = np.log10(np.maximum(values, 1e-9))
    ax.scatter(x, z, y, c=log, s=4, cmap="inferno", vmin=-9, vmax=0)
    ax.set(title=f"t = {t:g}", box_aspect=(np.ptp(x), np.ptp(z), np.ptp(y)))
    ax.view_init(elev=5, azim=-75)
    ax.set_axis_off()
plt.show()
