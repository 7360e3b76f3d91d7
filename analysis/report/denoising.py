"""A noisy signal before and after the filter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis.report.spectrum import Spectrum
from cayleygsp import plotting
from cayleygsp._html import Picture, Section, new_figure
from cayleygsp._typing import FloatArray

NOISE = 0.3
TOL = 1e-6


@dataclass(frozen=True)
class Denoising:
    """A signal on one community, with noise, and filtered."""

    community: int
    clean: FloatArray
    noisy: FloatArray
    filtered: FloatArray

    def rms_error(self, signal: FloatArray) -> float:
        """Return the root mean square distance to the clean signal."""
        return float(np.sqrt(np.mean((signal - self.clean) ** 2)))

    def snr(self, signal: FloatArray) -> float:
        """Return the ratio of the energies of clean signal and error, in decibels."""
        return float(10 * np.log10(np.sum(self.clean**2) / np.sum((signal - self.clean) ** 2)))


def compute_denoising(spectrum: Spectrum, polynomial: cg.CayleyPolynomial, seed: int) -> Denoising:
    """Filter the indicator of the largest community with noise everywhere."""
    labels = spectrum.graph.labels
    assert labels is not None
    community = int(np.argmax(np.bincount(labels)))
    clean = (labels == community).astype(np.float64)
    noise = NOISE * np.random.default_rng((seed, 1)).standard_normal(clean.size)
    noisy = clean + noise
    filtered = cg.CayleyFilter(spectrum.laplacian, polynomial, tol=TOL).filter(noisy)
    return Denoising(community, clean, noisy, filtered)


def draw_signals(graph: cg.Graph, denoising: Denoising) -> Figure:
    """Draw the clean, the noisy and the filtered signal with one colour scale."""
    figure = new_figure(3.0)
    axes = figure.subplots(1, 3)
    largest = float(np.abs(denoising.noisy).max())
    norm = Normalize(-largest, largest)
    signals = {"clean": denoising.clean, "noisy": denoising.noisy, "filtered": denoising.filtered}
    for ax, (name, signal) in zip(axes, signals.items(), strict=True):
        plotting.graph(
            graph, signal, ax=ax, colorbar=False, norm=norm, cmap="coolwarm", s=11, edge_style={"linewidths": 0.3}
        )
        below = (
            f"1 on community {denoising.community}"
            if name == "clean"
            else f"RMS error {denoising.rms_error(signal):.3f}"
        )
        ax.set_title(f"{name}\n{below}", fontsize="medium")
    figure.colorbar(
        axes[-1].collections[-1], ax=axes, location="bottom", shrink=0.5, aspect=40, label="value of the signal"
    )
    return figure


def denoising_section(spectrum: Spectrum, denoising: Denoising) -> Section:
    """Return the section on what the filter does to a noisy signal."""
    noisy, filtered = denoising.noisy, denoising.filtered
    before, after = denoising.rms_error(noisy), denoising.rms_error(filtered)
    change = f"{before / after:.1f} times smaller" if after < before else f"{after / before:.1f} times larger"
    text = (
        f"The signal is 1 on community {denoising.community} and 0 elsewhere, with Gaussian noise of standard "
        f"deviation {NOISE} on every vertex. The root mean square error is {before:.3f} before filtering and "
        f"{after:.3f} after, {change}; the signal-to-noise ratio goes from {denoising.snr(noisy):.1f} dB to "
        f"{denoising.snr(filtered):.1f} dB."
    )
    picture = Picture.from_figure(
        "denoising",
        draw_signals(spectrum.graph, denoising),
        "The graph three times: one community lit, the same under noise, and lit again after filtering.",
        "The signal on the graph: without noise, with it, and filtered; one scale of colours for all three.",
        shrinks=True,
    )
    return Section("Its effect on a noisy signal", [text], [picture])
