"""Coefficients of series, computed by the core and by torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cayleygsp.nn.ops import series
from cayleygsp.nn.ops.operation import torch_operations
from cayleygsp.responses.basis import power_coefficients, zoom_derivative
from tests.nn.helpers import random_graph


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("lmax", [2.0, 11.0])
def test_differentiable_series_is_the_series_of_the_core(real, lmax):
    log_zoom = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    expected = power_coefficients(4, float(log_zoom.exp().detach()), lmax, tol=1e-12, real=real)
    n = expected.coeffs.shape[1]
    got = series.differentiable_series(log_zoom, 4, lmax, n, 2 * n, real=real)
    np.testing.assert_allclose(got.detach(), expected.coeffs, atol=1e-11)
    assert torch.autograd.gradcheck(
        lambda t: series.differentiable_series(t, 4, lmax, 12, 24, real=real), (log_zoom,), atol=1e-6
    )


def test_degree_can_come_from_a_hint(monkeypatch):
    # what another device does, run here: degree from an upper bound of the zoom, coefficients computed by torch
    L, prepared = random_graph()
    graph = prepared.tensors(torch.float64, own_scale=False)
    log_zoom = torch.tensor(0.2, dtype=torch.float64)
    exact, n_exact = series.FilterBasis("cayley", 7, 1e-9, L.lmax).series(log_zoom, log_zoom.dtype, graph)

    def read(log_zoom):
        raise AssertionError("the device was asked for the zoom")

    monkeypatch.setattr(series, "zoom_of", read)
    with torch_operations():
        a, n_terms = series.FilterBasis("cayley", 7, 1e-9, L.lmax, 1.5 * 1.2214).series(log_zoom, log_zoom.dtype, graph)
    assert n_terms >= n_exact
    np.testing.assert_allclose(a[:, :n_exact], exact, atol=1e-9)
    assert a[:, n_exact:].abs().sum(dim=1).max() < 1e-8


@pytest.mark.parametrize("basis", [series.CAYLEY, series.CAYLEY_REAL])
@pytest.mark.parametrize("order", [1, 2, 5])
def test_slopes_are_the_matrix_of_the_core_times_the_blocks(basis, order):
    S = torch.from_numpy(zoom_derivative(order, real=basis == series.CAYLEY_REAL))
    blocks = torch.randn(3, S.shape[1], 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.testing.assert_close(series.zoom_slopes(blocks, basis), S @ blocks, rtol=1e-14, atol=1e-14)


def test_series_of_many_zooms_are_those_of_each(monkeypatch):
    _, prepared = random_graph()
    graph = prepared.tensors(torch.float64, own_scale=False)
    log_zooms = torch.tensor([-1.0, 0.5, 1.0], dtype=torch.float64)
    monkeypatch.setattr(series, "_SAMPLES", 1)  # one after the other
    a, n_terms = series.FilterBasis("cayley", 5, 1e-9, 2.0).series(log_zooms, log_zooms.dtype, graph)
    for zoom, found in zip(log_zooms, a, strict=True):
        exact = power_coefficients(3, float(zoom.exp()), 2.0, tol=1e-12).coeffs[:, :n_terms]
        np.testing.assert_allclose(found[:, : exact.shape[1]], exact, atol=1e-8)
