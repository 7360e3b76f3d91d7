"""The sections that every graph has, on the 15-community graph."""

from __future__ import annotations

from typing import Any

from analysis.report.methods import SWEEPS
from analysis.report.spectrum import N_KEPT, Spectrum
from cayleygsp._html import Section
from cayleygsp._typing import FloatArray
from cayleygsp.design import Fit, LowPass
from cayleygsp.report.bounds import bounds_section
from cayleygsp.report.design import design_section
from cayleygsp.report.frequencies import density_section, find_frequencies
from cayleygsp.report.localization import decay_section
from cayleygsp.report.zoom import zoom_section
from cayleygsp.responses.cayley import as_cayley

ZOOMS = (0.1, 1.0, 10.0)


def study_graph(spectrum: Spectrum, fits: dict[str, Fit], signal: FloatArray) -> tuple[list[Section], dict[str, Any]]:
    """Return the sections that any graph has, on this one: density, zoom, design, bounds and localization."""
    L, polynomial = spectrum.laplacian, as_cayley(fits["Cayley"].polynomial)
    frequencies = find_frequencies(L)
    target = fits["Cayley"].target
    assert isinstance(target, LowPass)
    parts = [
        density_section(frequencies),
        zoom_section(frequencies, ZOOMS, N_KEPT),
        design_section(target, fits, frequencies),
        bounds_section(L, polynomial, signal, SWEEPS, SWEEPS[-1]),
        decay_section(L, polynomial),
    ]
    return [section for section, _ in parts], {name: value for _, some in parts for name, value in some.items()}
