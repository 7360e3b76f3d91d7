"""
Denoise a measurement on a surface
==================================

A quantity that varies smoothly over the Stanford bunny was measured with as much noise as signal. Heat diffusion
along the surface takes the noise away; how long it runs is chosen from the noisy values alone.
"""

import matplotlib.pyplot as plt
import numpy as np
import pygsp

import cayleygsp as cg

bunny = pygsp.graphs.Bunny()
x, y, z = ((bunny.coords - bunny.coords.mean(axis=0)) / np.ptp(bunny.coords, axis=0)).T
truth = np.sin(6 * x) + np.cos(5 * y) * np.sin(4 * z)
noisy = truth + truth.std() * np.random.default_rng(0).standard_normal(bunny.N)

result = cg.tasks.denoise(bunny, noisy, family="heat", select="gcv")
rms = lambda signal: np.sqrt(np.mean((signal - truth) ** 2))
print(f"error {rms(noisy):.2f} noisy, {rms(result.signals):.2f} denoised (root mean square)")

# %%

fig, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained", subplot_kw={"projection": "3d"})
for signal, title, ax in zip((truth, noisy, result.signals), ("truth", "measured", "denoised"), axes):
    ax.scatter(x, z, y, c=signal, s=6, cmap="RdBu_r", vmin=-1.8, vmax=1.8)
    ax.set(title=title, box_aspect=(1, 0.8, 1))
    ax.view_init(elev=5, azim=-75)
    ax.set_axis_off()

# %%
# The time of the diffusion was chosen where the curve of generalized cross-validation is lowest.

fig, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
cg.plotting.criterion(result, ax=ax)
plt.show()
