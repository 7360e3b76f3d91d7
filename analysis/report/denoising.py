"""A noisy signal before and after the filter."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.colors import Normalize

import cayleygsp as cg
from analysis.report.graph import Spectrum
from cayleygsp import plotting
from cayleygsp._html import Picture, Section, new_figure
from cayleygsp._typing import FloatArray

NOISE = 0.3
TOL = 1e-6


def noisy_signal(graph: cg.Graph, seed: int) -> tuple[int, FloatArray, FloatArray]:
    """Return the largest community, the signal that is 1 on it and 0 elsewhere, and the same with noise everywhere."""
    assert graph.labels is not None
    community = int(np.argmax(np.bincount(graph.labels)))
    clean = (graph.labels == community).astype(np.float64)
    return community, clean, clean + NOISE * np.random.default_rng((seed, 1)).standard_normal(clean.size)


def denoising_section(
    spectrum: Spectrum, polynomial: cg.CayleyPolynomial, community: int, clean: FloatArray, noisy: FloatArray
) -> tuple[Section, dict[str, Any]]:
    """Return the section on what the filter does to a noisy signal, and its numbers."""
    filtered = cg.CayleyFilter(spectrum.laplacian, polynomial, tol=TOL).filter(noisy)
    rms = {name: float(np.sqrt(np.mean((f - clean) ** 2))) for name, f in (("noisy", noisy), ("filtered", filtered))}
    decibels = {name: float(10 * np.log10(np.mean(clean**2) / error**2)) for name, error in rms.items()}
    before, after = rms["noisy"], rms["filtered"]
    change = f"{before / after:.1f} times smaller" if after < before else f"{after / before:.1f} times larger"
    text = (
        f"The signal is 1 on community {community} and 0 elsewhere, with Gaussian noise of standard "
        f"deviation {NOISE} on every vertex. The root mean square error is {before:.3f} before filtering and "
        f"{after:.3f} after, {change}; the signal-to-noise ratio goes from {decibels['noisy']:.1f} dB to "
        f"{decibels['filtered']:.1f} dB."
    )
    figure = new_figure(3.0)
    axes = figure.subplots(1, 3)
    largest = float(np.abs(noisy).max())
    norm = Normalize(-largest, largest)
    style: dict[str, Any] = {"norm": norm, "cmap": "coolwarm", "s": 11}
    for ax, (name, signal) in zip(axes, {"clean": clean, "noisy": noisy, "filtered": filtered}.items(), strict=True):
        plotting.graph(spectrum.graph, signal, ax=ax, colorbar=False, edge_style={"linewidths": 0.3}, **style)
        below = f"RMS error {rms[name]:.3f}" if name in rms else f"1 on community {community}"
        ax.set_title(f"{name}\n{below}", fontsize="medium")
    mapped = axes[-1].collections[-1]
    figure.colorbar(mapped, ax=axes, location="bottom", shrink=0.5, aspect=40, label="value of the signal")
    picture = Picture.from_figure(
        "denoising",
        figure,
        "The graph three times: one community lit, the same under noise, and lit again after filtering.",
        "The signal on the graph: without noise, with it, and filtered; one scale of colours for all three.",
        shrinks=True,
    )
    numbers = {
        "community": community,
        "noise": NOISE,
        **{f"rms_error_{name}": error for name, error in rms.items()},
        **{f"snr_{name}_db": ratio for name, ratio in decibels.items()},
    }
    return Section("Its effect on a noisy signal", [text], [picture]), {"denoising": numbers}
