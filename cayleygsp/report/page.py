"""The report on a graph, all sections of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cayleygsp import bounds
from cayleygsp._html import Section
from cayleygsp._typing import LaplacianKind
from cayleygsp._validation import check_integer
from cayleygsp.filters import CayleyFilter
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.localization import decay_curve
from cayleygsp.report.application import application_section, apply_filter
from cayleygsp.report.bound_numbers import MORE_SWEEPS, SWEEPS, bound_rows, needs
from cayleygsp.report.bounds import bounds_section
from cayleygsp.report.density import density_section
from cayleygsp.report.design import LOW_SHARE, compare_fits, design_section, fit_numbers, low_pass
from cayleygsp.report.facts import graph_facts, typical_vertex
from cayleygsp.report.frequencies import find_frequencies
from cayleygsp.report.graph import graph_section
from cayleygsp.report.localization import decay_numbers, decay_section
from cayleygsp.report.zoom import zoom_section
from cayleygsp.report.zoom_numbers import ZOOM_SHARES, suggested_zooms
from cayleygsp.responses.cayley import CayleyPolynomial

TOLERANCES = (1e-3, 1e-6, 1e-10)


# Stored entries of the Laplacian beyond which measurements with many sweeps are left out.
FEW_ENTRIES = 2_000_000


@dataclass(frozen=True, eq=False)
class GraphReport:
    """All of it.

    Attributes
    ----------
    sections : tuple of Section
        For :func:`cayleygsp._html.render_page`.
    numbers : dict
        What they say as numbers, ready for JSON: what is infinite is None.
    """

    sections: tuple[Section, ...]
    numbers: dict[str, Any]


#: What :func:`report_on` tells ``step``, in this order.
STEPS = ("graph", "frequencies", "zoom", "design", "bounds", "localization", "application")


def report_on(
    graph: Graph,
    kind: LaplacianKind | Laplacian = "combinatorial",
    *,
    order: int = 4,
    rng: np.random.Generator | int | None = None,
    step: Callable[[str], None] = lambda name: None,
) -> GraphReport:
    """Look at everything and say it.

    Parameters
    ----------
    graph : Graph
        The graph.
    kind : {"combinatorial", "normalized"} or Laplacian
        Which Laplacian, or that of the graph.
    order : int
        Order of the Cayley polynomial that is designed, ≥ 1.
    rng : numpy.random.Generator or int, optional
        For probes and signals.
    step : callable
        Told the name of each of ``STEPS`` when it begins.

    Returns
    -------
    GraphReport
        Sections and numbers. A graph without edges, whose frequencies are all zero, has only the first section.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.report.page import report_on
    >>> found = report_on(cg.gallery.ring(24), rng=0)
    >>> [section.title for section in found.sections][:3]
    ['The graph', 'Where its frequencies lie', 'Spectral zoom']
    """
    r = check_integer(order, "order", at_least=1)
    generator = np.random.default_rng(rng)
    step("graph")
    L = kind if isinstance(kind, Laplacian) else laplacian(graph, kind)
    facts = graph_facts(graph, L)
    sections = [graph_section(graph, facts)]
    numbers: dict[str, Any] = {"graph": asdict(facts)}
    if L.lmax == 0:
        no_edges = "There is no edge between two vertices: all frequencies are zero, and every filter is a number."
        return GraphReport((*sections, Section("No frequencies", [no_edges])), finite_numbers(numbers))
    step("frequencies")
    frequencies = find_frequencies(L, generator)
    sections.append(density_section(frequencies))
    step("zoom")
    n_lowest = max(math.ceil(LOW_SHARE * L.n_vertices), 1)
    section, zooms = zoom_section(frequencies, suggested_zooms(frequencies), n_lowest)
    sections.append(section)
    step("design")
    target = low_pass(frequencies)
    fits = compare_fits(target, r, L.lmax, frequencies.weight)
    sections.append(design_section(target, fits, frequencies))
    polynomial = fits["Cayley"].polynomial
    assert isinstance(polynomial, CayleyPolynomial)
    step("bounds")
    signal = generator.standard_normal(L.n_vertices)
    sweeps = SWEEPS + (MORE_SWEEPS if L.matrix.nnz <= FEW_ENTRIES else ())
    rows = bound_rows(L, polynomial, sweeps, signal)
    needed = needs(L, polynomial, 1e-6, SWEEPS[-1])
    sections.append(bounds_section(L, polynomial, rows, needed))
    step("localization")
    vertex = typical_vertex(L)
    curve = decay_curve(CayleyFilter(L, polynomial, tol=1e-10), vertex)
    sections.append(decay_section(curve, vertex))
    step("application")
    applications = [apply_filter(L, polynomial, signal, tol) for tol in TOLERANCES]
    sections.append(application_section(applications, L.n_vertices))
    numbers |= {
        "frequencies": {
            "exact": frequencies.density.exact,
            "shares": list(ZOOM_SHARES),
            "up_to": frequencies.at_shares(ZOOM_SHARES).tolist(),
        },
        "zoom": [asdict(row) for row in zooms],
        "design": {name: fit_numbers(fit) for name, fit in fits.items()},
        "bounds": {"kappa": bounds.kappa(L, polynomial.zoom), "rows": [asdict(row) for row in rows]},
        "needs": asdict(needed),
        "decay": decay_numbers(curve) | {"vertex": vertex},
        "application": [asdict(one) for one in applications],
    }
    return GraphReport(tuple(sections), finite_numbers(numbers))


def finite_numbers(value: Any) -> Any:
    """Return numbers ready for JSON, with None for what it has no number for.

    Examples
    --------
    >>> from cayleygsp.report.page import finite_numbers
    >>> finite_numbers({"a": [1.0, float("inf")], "b": True})
    {'a': [1.0, None], 'b': True}
    """
    if isinstance(value, Mapping):
        return {key: finite_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_numbers(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
