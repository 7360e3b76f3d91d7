"""
Smooth a scanned surface
========================

The coordinates of a scanned shape are three signals on its graph. Noise of the scanner is taken away by
``denoise``, which chooses how much to smooth from the noisy coordinates alone.
"""

import matplotlib.pyplot as plt
import numpy as np
import pygsp

import cayleygsp as cg

bunny = pygsp.graphs.Bunny()
clean = bunny.coords
noisy = clean + 0.02 * np.random.default_rng(0).standard_normal(clean.shape)

result = cg.tasks.denoise(bunny, noisy, family="tikhonov", select="gcv", shared=True)
rms = lambda coords: np.sqrt(np.mean((coords - clean) ** 2))
print(f"root mean square error: {rms(noisy):.4f} noisy, {rms(result.signals):.4f} denoised")

# %%

fig, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained", subplot_kw={"projection": "3d"})
for coords, title, ax in zip((clean, noisy, result.signals), ("clean", "noisy", "denoised"), axes):
    x, y, z = coords.T
    ax.scatter(x, z, y, c=z, s=4, cmap="cividis")
    ax.set(title=title, box_aspect=(np.ptp(x), np.ptp(z), np.ptp(y)))
    ax.view_init(elev=5, azim=-75)
    ax.set_axis_off()

# %%
# The strength was chosen by generalized cross-validation, shared by the three coordinates.

fig, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
cg.plotting.criterion(result, ax=ax)
plt.show()
