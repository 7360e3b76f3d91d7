"""Fits in tables and texts: they say where the distance holds, and what is an estimate."""

from __future__ import annotations

import pytest

import cayleygsp as cg
from cayleygsp.report.design import design_section
from cayleygsp.report.design_numbers import compare_fits, low_pass
from cayleygsp.report.design_text import fit_table
from cayleygsp.report.frequencies import find_frequencies


@pytest.mark.parametrize(("graph", "estimated"), [(cg.gallery.grid(12), False), (cg.gallery.grid(34), True)])
def test_the_section_says_where_the_distance_holds(graph, estimated):
    L = cg.laplacian(graph)
    frequencies = find_frequencies(L, rng=0)
    target = low_pass(frequencies)
    fits = compare_fits(target, 3, L.lmax, frequencies.weight)
    assert ("distance, rms (estimated)" in fit_table(fits).header) == estimated
    section = design_section(target, fits, frequencies)
    assert fits["Cayley"].where in section.text[0]
