"""Fits in tables and texts: they say where the distance holds, and what is an estimate."""

from __future__ import annotations

import json

import pytest

import cayleygsp as cg
from cayleygsp.report.design import compare_fits, design_section, fit_numbers, fit_table, low_pass
from cayleygsp.report.frequencies import find_frequencies


@pytest.mark.parametrize(("graph", "estimated"), [(cg.gallery.grid(12), False), (cg.gallery.grid(34), True)])
def test_the_section_says_where_the_distance_holds(graph, estimated):
    L = cg.laplacian(graph)
    frequencies = find_frequencies(L, rng=0)
    target = low_pass(frequencies)
    fits = compare_fits(target, 3, L.lmax, frequencies.density)
    assert ("distance, rms (estimated)" in fit_table(fits).header) == estimated
    section, _ = design_section(fits, frequencies)
    assert fits["Cayley"].where in section.text[0]


@pytest.mark.parametrize(("graph", "over"), [(cg.gallery.grid(12), "eigenvalues"), (cg.gallery.grid(34), "interval")])
def test_fits_say_where_their_distance_holds(graph, over):
    L = cg.laplacian(graph)
    frequencies = find_frequencies(L, rng=0)
    fits = compare_fits(low_pass(frequencies), 3, L.lmax, frequencies.density)
    for fit in fits.values():
        numbers = fit_numbers(fit)
        json.dumps(numbers, allow_nan=False)
        assert (numbers["residual_max_over"], numbers["certificate"]) == (over, "proved")
        assert numbers["rms_is_estimated"] == (over == "interval")
        assert numbers["residual_max_where"] == fit.where
