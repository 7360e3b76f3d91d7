"""The report on a graph, all sections of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cayleygsp import bounds
from cayleygsp._html import Section
from cayleygsp._typing import FloatArray, LaplacianKind
from cayleygsp._validation import check_integer
from cayleygsp.filters import CayleyFilter
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian
from cayleygsp.laplacians import laplacian as make_laplacian
from cayleygsp.localization import decay_curve
from cayleygsp.report.application import application_section, apply_filter
from cayleygsp.report.bound_numbers import MORE_SWEEPS, SWEEPS, bound_rows, kappa_gap, needs
from cayleygsp.report.bounds import bounds_section
from cayleygsp.report.density import density_section
from cayleygsp.report.design import design_section
from cayleygsp.report.design_numbers import LOW_SHARE, compare_fits, fit_numbers, low_pass
from cayleygsp.report.facts import graph_facts, typical_vertex
from cayleygsp.report.frequencies import Frequencies, find_frequencies
from cayleygsp.report.graph import graph_section
from cayleygsp.report.localization import decay_numbers, decay_section
from cayleygsp.report.numbers import finite_numbers
from cayleygsp.report.zoom import zoom_section
from cayleygsp.report.zoom_numbers import ZOOM_SHARES, suggested_zooms
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley

TOLERANCES = (1e-3, 1e-6, 1e-10)

# Stored entries of the Laplacian beyond which measurements with many sweeps are left out.
FEW_ENTRIES = 2_000_000

#: What :func:`report_on` passes to ``step``, in this order.
STEPS = ("graph", "frequencies", "zoom", "design", "bounds", "localization", "application")

Part = tuple[Section, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class GraphReport:
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
    L = _prepared(graph, laplacian)
    step("graph")
    facts = graph_facts(graph, L)
    sections = [graph_section(graph, facts)]
    numbers: dict[str, Any] = {"graph": asdict(facts)}
    if L.lmax == 0:
        no_edges = "There is no edge between two vertices: all frequencies are zero, and every filter is a number."
        return GraphReport((*sections, Section("No frequencies", [no_edges])), finite_numbers(numbers))
    step("frequencies")
    frequencies = find_frequencies(L, generator)
    parts = [_frequencies_part(frequencies)]
    step("zoom")
    parts.append(_zoom_part(frequencies))
    step("design")
    polynomial, part = _design_part(L, frequencies, r)
    parts.append(part)
    signal = generator.standard_normal(L.n_vertices)
    step("bounds")
    parts.append(_bounds_part(L, polynomial, signal))
    step("localization")
    parts.append(_localization_part(L, polynomial))
    step("application")
    parts.append(_application_part(L, polynomial, signal))
    for section, part_numbers in parts:
        sections.append(section)
        numbers |= part_numbers
    return GraphReport(tuple(sections), finite_numbers(numbers))


def _prepared(graph: Graph, given: Laplacian | LaplacianKind) -> Laplacian:
    if not isinstance(given, Laplacian):
        return make_laplacian(graph, given)
    if given.n_vertices != graph.n_vertices:
        raise ValueError(
            f"`laplacian` must be that of `graph`, with {graph.n_vertices} vertices, got one with {given.n_vertices}"
        )
    return given


def _frequencies_part(frequencies: Frequencies) -> Part:
    numbers = {
        "exact": frequencies.density.exact,
        "shares": list(ZOOM_SHARES),
        "up_to": frequencies.at_shares(ZOOM_SHARES).tolist(),
    }
    return density_section(frequencies), {"frequencies": numbers}


def _zoom_part(frequencies: Frequencies) -> Part:
    n_lowest = max(math.ceil(LOW_SHARE * frequencies.n_vertices), 1)
    section, rows = zoom_section(frequencies, suggested_zooms(frequencies), n_lowest)
    return section, {"zoom": [asdict(row) for row in rows]}


def _design_part(L: Laplacian, frequencies: Frequencies, order: int) -> tuple[CayleyPolynomial, Part]:
    target = low_pass(frequencies)
    fits = compare_fits(target, order, L.lmax, frequencies.weight)
    polynomial = as_cayley(fits["Cayley"].polynomial)
    numbers = {name: fit_numbers(fit) for name, fit in fits.items()}
    return polynomial, (design_section(target, fits, frequencies), {"design": numbers})


def _bounds_part(L: Laplacian, polynomial: CayleyPolynomial, signal: FloatArray) -> Part:
    sweeps = SWEEPS + (MORE_SWEEPS if L.matrix.nnz <= FEW_ENTRIES else ())
    rows = bound_rows(L, polynomial, sweeps, signal)
    needed = needs(L, polynomial, 1e-6, SWEEPS[-1])
    numbers = {
        "kappa": bounds.kappa(L, polynomial.zoom),
        "one_minus_kappa": kappa_gap(L, polynomial.zoom),
        "rows": [asdict(row) for row in rows],
    }
    return bounds_section(L, polynomial, rows, needed), {"bounds": numbers, "needs": asdict(needed)}


def _localization_part(L: Laplacian, polynomial: CayleyPolynomial) -> Part:
    vertex = typical_vertex(L)
    curve = decay_curve(CayleyFilter(L, polynomial, tol=1e-10), vertex)
    return decay_section(curve, vertex), {"decay": decay_numbers(curve) | {"vertex": vertex}}


def _application_part(L: Laplacian, polynomial: CayleyPolynomial, signal: FloatArray) -> Part:
    applications = [apply_filter(L, polynomial, signal, tol=tol) for tol in TOLERANCES]
    section = application_section(applications, L.n_vertices)
    return section, {"application": [asdict(one) for one in applications]}
