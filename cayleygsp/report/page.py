"""The report on a graph, all sections of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cayleygsp._format import finite_numbers
from cayleygsp._html import Section
from cayleygsp._typing import LaplacianKind
from cayleygsp._validation import check_integer
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian
from cayleygsp.laplacians import laplacian as make_laplacian
from cayleygsp.report.application import application_section
from cayleygsp.report.bounds import MORE_SWEEPS, SWEEPS, bounds_section
from cayleygsp.report.design import LOW_SHARE, compare_fits, design_section, low_pass
from cayleygsp.report.frequencies import density_section, find_frequencies
from cayleygsp.report.graph import graph_section
from cayleygsp.report.localization import decay_section
from cayleygsp.report.zoom import suggested_zooms, zoom_section
from cayleygsp.responses.cayley import as_cayley

TOLERANCES = (1e-3, 1e-6, 1e-10)

# Stored entries of the Laplacian beyond which measurements with many sweeps are left out.
FEW_ENTRIES = 2_000_000

#: What :func:`report_on` passes to ``step``, in this order.
STEPS = ("graph", "frequencies", "zoom", "design", "bounds", "localization", "application")


class GraphReport(NamedTuple):
    """The sections of a report and their numbers.

    Attributes
    ----------
    sections : tuple of Section
        For :func:`cayleygsp._html.render_page`.
    numbers : dict
        What they say as numbers, ready for JSON: what is infinite is None.
    """

    sections: tuple[Section, ...]
    numbers: dict[str, Any]


def report_on(
    graph: Graph,
    laplacian: Laplacian | LaplacianKind = "combinatorial",
    *,
    order: int = 4,
    rng: np.random.Generator | int | None = None,
    step: Callable[[str], None] = lambda name: None,
) -> GraphReport:
    """Return a report on a graph: size, spectrum, zoom, a filter for it, its error, its reach and its cost.

    Parameters
    ----------
    graph : Graph
        The graph.
    laplacian : Laplacian or {"combinatorial", "normalized"}
        Its Laplacian, or which one to make.
    order : int
        Order of the Cayley polynomial that is designed, ≥ 1.
    rng : numpy.random.Generator or int, optional
        For probes and signals.
    step : callable
        Called with the name of each of ``STEPS`` when it begins.

    Returns
    -------
    GraphReport
        Sections and numbers. A graph without edges, whose frequencies are all zero, has only the first section and a
        sentence that says so.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.report.page import report_on
    >>> ring = cg.gallery.ring(24)
    >>> report = report_on(ring, cg.laplacian(ring), rng=0)
    >>> [section.title for section in report.sections][:3]
    ['The graph', 'Where its frequencies lie', 'Spectral zoom']
    """
    r = check_integer(order, "order", at_least=1)
    generator = np.random.default_rng(rng)
    L = laplacian if isinstance(laplacian, Laplacian) else make_laplacian(graph, laplacian)
    if L.n_vertices != graph.n_vertices:
        raise ValueError(
            f"`laplacian` must be that of `graph`, with {graph.n_vertices} vertices, got one with {L.n_vertices}"
        )
    step("graph")
    parts = [graph_section(graph, L)]
    if L.lmax == 0:
        no_edges = "No edge joins two vertices: all frequencies are zero, and every filter multiplies by a number."
        parts.append((Section("No frequencies", [no_edges]), {}))
        return joined(parts)
    step("frequencies")
    frequencies = find_frequencies(L, generator)
    parts.append(density_section(frequencies))
    step("zoom")
    n_lowest = max(math.ceil(LOW_SHARE * L.n_vertices), 1)
    parts.append(zoom_section(frequencies, suggested_zooms(frequencies), n_lowest))
    step("design")
    target = low_pass(frequencies)
    fits = compare_fits(target, r, L.lmax, frequencies.density)
    parts.append(design_section(fits, frequencies))
    polynomial = as_cayley(fits["Cayley"].polynomial)
    signal = generator.standard_normal(L.n_vertices)
    step("bounds")
    sweeps = SWEEPS + (MORE_SWEEPS if L.matrix.nnz <= FEW_ENTRIES else ())
    parts.append(bounds_section(L, polynomial, signal, sweeps, SWEEPS[-1]))
    step("localization")
    parts.append(decay_section(L, polynomial))
    step("application")
    parts.append(application_section(L, polynomial, signal, TOLERANCES))
    return joined(parts)


def joined(parts: Sequence[tuple[Section, dict[str, Any]]]) -> GraphReport:
    """Return sections and all of their numbers."""
    numbers = {name: value for _, of_section in parts for name, value in of_section.items()}
    return GraphReport(tuple(section for section, _ in parts), finite_numbers(numbers))
