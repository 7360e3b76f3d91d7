"""The sections that every graph has, on the 15-community graph."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import cayleygsp as cg
from analysis.report.methods import DEFAULT_TOL, SWEEPS
from analysis.report.spectrum import N_KEPT, Spectrum
from cayleygsp._html import Section
from cayleygsp._typing import FloatArray
from cayleygsp.design import Fit, LowPass
from cayleygsp.localization import decay_curve
from cayleygsp.report.bound_numbers import bound_rows, kappa_gap, needs
from cayleygsp.report.bounds import bounds_section
from cayleygsp.report.density import density_section
from cayleygsp.report.design import design_section
from cayleygsp.report.design_numbers import fit_numbers
from cayleygsp.report.facts import typical_vertex
from cayleygsp.report.frequencies import find_frequencies
from cayleygsp.report.localization import decay_numbers, decay_section
from cayleygsp.report.zoom import zoom_section
from cayleygsp.responses.cayley import as_cayley

ZOOMS = (0.1, 1.0, 10.0)


def study_graph(spectrum: Spectrum, fits: dict[str, Fit], signal: FloatArray) -> tuple[list[Section], dict[str, Any]]:
    """Return the sections that any graph has, on this one: density, zoom, design, bounds and localization."""
    L, polynomial = spectrum.laplacian, as_cayley(fits["Cayley"].polynomial)
    frequencies = find_frequencies(L)
    zoom, zoom_rows = zoom_section(frequencies, ZOOMS, N_KEPT)
    target = fits["Cayley"].target
    assert isinstance(target, LowPass)
    rows = bound_rows(L, polynomial, SWEEPS, signal)
    needed = needs(L, polynomial, DEFAULT_TOL, SWEEPS[-1])
    vertex = typical_vertex(L)
    curve = decay_curve(cg.CayleyFilter(L, polynomial, tol=1e-10), vertex)
    sections = [
        density_section(frequencies),
        zoom,
        design_section(target, fits, frequencies),
        bounds_section(L, polynomial, rows, needed),
        decay_section(curve, vertex),
    ]
    numbers = {
        "zoom": [asdict(row) for row in zoom_rows],
        "design": {name: fit_numbers(fit) for name, fit in fits.items()},
        "bounds": {
            "kappa": cg.bounds.kappa(L, polynomial.zoom),
            "one_minus_kappa": kappa_gap(L, polynomial.zoom),
            "rows": [asdict(row) for row in rows],
        },
        "needs": asdict(needed),
        "decay": decay_numbers(curve) | {"vertex": vertex},
    }
    return sections, numbers
