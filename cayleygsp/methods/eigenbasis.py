"""Exact filtering of small graphs: the dense eigenbasis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import Array, FloatArray
from cayleygsp.eigenbasis import Eigenbasis
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import Applied, FilterMethod, relative, weakest
from cayleygsp.responses.base import Response


class EigenbasisMethod(FilterMethod):
    r"""A bank applied as :math:`\Phi\, g_i(\Lambda)\, \Phi^\top f`, with the eigenbasis cached on the Laplacian."""

    name = "exact"

    def __init__(self, L: Laplacian, responses: Sequence[Response], gains: FloatArray | None = None) -> None:
        self.basis = L.eigenbasis  # before the gains, which look at known eigenvalues
        super().__init__(L, responses, gains)
        lam = self.basis.eigenvalues
        self.multipliers = np.array([response.on_spectrum(lam) for response in responses])
        slopes = [g.lipschitz_bound(L.lmin, L.lmax_bound) for g in responses]
        self.bounds = np.array([self._bound(L, *one) for one in zip(self.multipliers, responses, slopes, strict=True)])
        unknown = any(g.cayley_form is None and slope is None for g, slope in zip(responses, slopes, strict=True))
        sampled = unknown and self.basis.residual > 0
        self.certificate = weakest([*(g.certificate for g in responses), "sampled" if sampled else "proved"])
        if self.certificate == "sampled":
            self.evidence = f"the response was evaluated at all {L.n_vertices} eigenvalues, its slopes beside them"

    def expected_errors(self) -> FloatArray:
        """Return the bounds."""
        return relative(self.bounds, self.gains)

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter by every response."""
        Phi = self.basis.eigenvectors
        spectrum = Phi.T @ f
        return Applied(np.stack([Phi @ (g[:, None] * spectrum) for g in self.multipliers]), self.bounds[:, None], 0)

    def apply_adjoint(self, f: Array, *, certify: bool) -> Applied:
        """Add up the filters' answers to their own blocks."""
        Phi = self.basis.eigenvectors
        spectra = (g[:, None] * (Phi.T @ f_i) for g, f_i in zip(self.multipliers, f, strict=True))
        adding = unit_roundoff(np.float64) * len(self.bounds) * np.abs(self.multipliers).max(axis=1)
        return Applied(Phi @ sum(spectra), float(np.linalg.norm(self.bounds + adding)), 0)

    def _bound(self, L: Laplacian, g: FloatArray, response: Response, slope: float | None) -> float:
        """Bound the error from the residuals of the basis, the rounding of values and that of the dense products."""
        basis = self.basis
        form = response.cayley_form
        if form is not None:
            perturbed = form.error_weight() * transform_error(basis, form.zoom)
        elif slope is not None:
            perturbed = slope * basis.residual if basis.residual else 0.0
        else:
            perturbed = steepest_slope(response, basis.eigenvalues, g, basis.residual, L.lmax_bound) * basis.residual
        products = 2 * unit_roundoff(np.float64) * L.n_vertices**1.5
        values = response.rounding_at(np.maximum(basis.eigenvalues, response.lowest_frequency))
        return perturbed + 1.01 * values + float(np.abs(g).max()) * (3 * basis.orthogonality + 1.1 * products)


def steepest_slope(response: Response, lam: FloatArray, g: FloatArray, eps: float, lmax: float) -> float:
    r"""Return the steepest slope of a response that samples show where the spectrum may be.

    In the Frobenius norm :math:`\|g(A) - g(B)\|_F \le \ell \|A - B\|_F`, where only the slopes between points of
    the two spectra count. The true eigenvalues lie within ``eps`` of the computed ones ``lam``: so what counts are the
    slopes from each to its surroundings, and between neighbours. They are sampled at four points about each, which is
    no proof: a response may be steeper between these.
    """
    if eps == 0:
        return 0.0
    lam = np.maximum(lam, response.lowest_frequency)
    around = np.minimum(np.stack([lam - eps, lam - eps / 2, lam + eps / 2, lam + eps]), max(lmax, float(lam[-1])))
    local = float(np.abs(response.on_spectrum(around) - g).max()) / (eps / 2)
    gaps = np.diff(lam)
    apart = gaps > 4 * eps
    between = np.abs(np.diff(g))[apart] / (gaps[apart] - 2 * eps)
    close = np.abs(np.diff(g))[~apart] / eps
    return max(local, float(between.max(initial=0.0)), float(close.max(initial=0.0)))


def transform_error(basis: Eigenbasis, zoom: float) -> float:
    r"""Bound the distance of :math:`C(h\Delta)` from what the computed eigenbasis gives for it.

    With R the residual of the eigenpairs it is :math:`2 \|(h\Delta + i)^{-1} h R (h\Lambda + i)^{-1}\|`, in which
    every column of R is divided by :math:`|h\lambda_k + i|`; lost orthogonality adds four times itself.
    """
    h, lam = zoom, basis.eigenvalues
    weighted = h * basis.defects / np.abs(h * lam + 1j)
    o = basis.orthogonality
    return 2 * (float(np.linalg.norm(weighted)) + 2 * o) * (1 + o) + 8 * unit_roundoff(np.float64)
