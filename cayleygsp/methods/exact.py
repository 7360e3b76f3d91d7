"""Exact filtering: the eigenbasis of small graphs, a sparse factorisation of hΔ + iI beyond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import splu

from cayleygsp._memory import available_memory, format_bytes
from cayleygsp._typing import Array, ComplexArray, FloatArray
from cayleygsp.eigenbasis import Eigenbasis, eigenbasis_bytes, eigenbasis_seconds, warn_if_long
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import (
    Applied,
    FilterMethod,
    Response,
    accumulated_error,
    column_norms,
    filter_gain,
    over,
    residual_norms,
    solve_floor,
    sum_powers,
    summation_floor,
    unit_roundoff,
)
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.function import KernelResponse

# Up to this many vertices the eigenbasis is computed; it serves all filters on the graph.
EIGENBASIS_VERTICES = 2000

# Components, largest first, whose separators are looked for one by one.
_COMPONENTS = 20


class EigenbasisMethod(FilterMethod):
    r"""A bank applied as :math:`\Phi\, g_i(\Lambda)\, \Phi^\top f`, with the eigenbasis cached on the Laplacian."""

    name = "exact"
    is_bank = True

    def __init__(self, L: Laplacian, responses: Sequence[Response]) -> None:
        self.basis = L.eigenbasis
        self.responses = responses
        # rounding may have put the eigenvalue 0 below it, where a user's function need not exist
        self.frequencies = np.maximum(self.basis.eigenvalues, 0.0)
        self.multipliers = np.array([response(self.frequencies) for response in responses])
        self.bounds = np.array(
            [self._bound(L, g, response) for g, response in zip(self.multipliers, responses, strict=True)]
        )
        self.gains = np.array([filter_gain(L, response) for response in responses])
        if any(isinstance(response, KernelResponse) for response in responses):
            self.certificate = "sampled"

    def reaches_tolerance(self, tol: float | None) -> bool:
        """Compare the bounds with the tolerance."""
        return tol is None or bool((self.bounds <= tol * self.gains).all())

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter by every response; shape (n_filters, n, m)."""
        Phi = self.basis.eigenvectors
        spectrum = Phi.T @ f
        return Applied(np.stack([Phi @ (g[:, None] * spectrum) for g in self.multipliers]), self.bounds, 0)

    def apply_adjoint(self, f: Array, *, certify: bool) -> Applied:
        """Add up the filters' answers to their own blocks, shape (n_filters, n, m) to (n, m)."""
        Phi = self.basis.eigenvectors
        spectra = (g[:, None] * (Phi.T @ f_i) for g, f_i in zip(self.multipliers, f, strict=True))
        adding = unit_roundoff(np.float64) * len(self.bounds) * np.abs(self.multipliers).max(axis=1)
        return Applied(Phi @ sum(spectra), float(np.linalg.norm(self.bounds + adding)), 0)

    def _bound(self, L: Laplacian, g: FloatArray, response: Response) -> float:
        """Bound the error from the residuals of the basis and the rounding of the two dense products."""
        basis = self.basis
        if isinstance(response, CayleyPolynomial):
            perturbed = response.error_weight() * transform_error(basis, response.zoom)
        else:
            perturbed = steepest_slope(response, self.frequencies, g, basis.residual, L.lmax) * basis.residual
        products = 2 * unit_roundoff(np.float64) * L.n_vertices**1.5
        return perturbed + float(np.abs(g).max()) * (3 * basis.orthogonality + 1.1 * products)


def steepest_slope(response: Response, lam: FloatArray, g: FloatArray, eps: float, lmax: float) -> float:
    r"""Return the Lipschitz constant of a response on all that the spectrum may be.

    In the Frobenius norm :math:`\|g(A) - g(B)\|_F \le \ell \|A - B\|_F`, where only the slopes between points of
    the two spectra count. The true eigenvalues lie within ``eps`` of the computed ones ``lam``: so what counts are the
    slopes from each to its surroundings, and between neighbours.
    """
    if eps == 0:
        return 0.0
    around = np.clip(np.stack([lam - eps, lam - eps / 2, lam + eps / 2, lam + eps]), 0.0, max(lmax, float(lam[-1])))
    local = float(np.abs(response(around) - g).max()) / (eps / 2)
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


class FactorisationMethod(FilterMethod):
    r"""One sparse factorisation of :math:`h\Delta + iI`, used for all powers and signals.

    The matrix is complex symmetric with a positive definite imaginary part, so elimination is stable without
    pivoting, in any order that keeps the factors sparse.
    """

    name = "exact"

    def __init__(self, L: Laplacian, p: CayleyPolynomial) -> None:
        check_factorisation(L)
        self.laplacian = L
        self.polynomial = p
        A = (p.zoom * L.matrix + 1j * sparse.eye_array(L.n_vertices)).tocsc()
        self._factors = splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def reaches_tolerance(self, tol: float | None) -> bool:
        """Compare the rounding that measured residuals will have with half the tolerance."""
        gain = filter_gain(self.laplacian, self.polynomial)
        return tol is None or solve_floor(self.laplacian, self.polynomial) <= 0.5 * tol * gain

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter; one product per power measures the residual of its solve, also without ``certify``."""
        p, L = self.polynomial, self.laplacian
        norms = column_norms(f)
        steps: list[FloatArray] = []

        def next_power(y: ComplexArray, j: int) -> ComplexArray:
            z = self._factors.solve(y)
            steps.append(2 * over(residual_norms(L, p.zoom, z, y), norms))
            return y - 2j * z

        total = sum_powers(p, f, next_power)
        return Applied(total, accumulated_error(p, steps) + summation_floor(p, np.float64), 0)


@dataclass(frozen=True)
class FactorisationCost:
    """What a sparse factorisation is expected to take, on the pessimistic side."""

    seconds: float
    n_bytes: float


def factorisation_cost(L: Laplacian) -> FactorisationCost:
    r"""Predict the cost of factoring :math:`h\Delta + iI` from the size s of a separator.

    Grids and road networks have small separators and factors of about :math:`n \log n` entries; random graphs
    have none, and their factors are nearly dense. The constants were fitted to SuperLU on grids in two and three
    dimensions, nearest-neighbour, random regular, scale-free and community graphs.
    """
    n_entries = float(L.matrix.nnz)
    for size, separator in separators(L):
        n_entries += 4 * size * np.log2(size + 1) + min(40 * separator**2, 0.4 * size**2)
    return FactorisationCost(
        seconds=2e-7 * n_entries + 3e-10 * n_entries**2 / L.n_vertices,
        n_bytes=2.5 * 16 * n_entries,  # a complex value, its index, and room to grow
    )


def separators(L: Laplacian) -> list[tuple[int, float]]:
    """Return the sizes of the components and of their separators, trees that hang on them cut off first."""
    core = _without_trees(L.matrix)
    if core.shape[0] == 0:
        return [(L.n_vertices, 1.0)]
    _, labels = csgraph.connected_components(core, directed=False)
    sizes = np.bincount(labels)
    found = [(L.n_vertices - core.shape[0], 1.0)]
    for label in np.argsort(sizes)[::-1][:_COMPONENTS]:
        members = np.flatnonzero(labels == label)
        found.append((members.size, separator_size(core, int(members[0]))))
    rest = np.sort(sizes)[::-1][_COMPONENTS:]
    return found + [(int(size), size / 3) for size in rest]


def _without_trees(A: sparse.csr_array) -> sparse.csr_array:
    """Cut off leaves again and again: they are eliminated without fill. Long tails are left after some rounds."""
    for _ in range(50):
        degrees = np.diff(A.indptr) - (A.diagonal() != 0)
        inner = degrees > 1
        if inner.all():
            break
        A = A[inner][:, inner]
    return A


def separator_size(A: sparse.csr_array, vertex: int) -> float:
    """Return the width of the narrowest level that halves a search from a far vertex, or a third if none does."""
    order, parent = np.array([vertex]), np.zeros(1)
    for _ in range(3):  # twice more from the far end, for a long and narrow structure
        order, parent = csgraph.breadth_first_order(A, vertex, directed=False)
        vertex = int(order[-1])
    position = np.empty(A.shape[0], dtype=np.int64)
    position[order] = np.arange(order.size)
    parents = position[parent[order[1:]]]  # ascending
    edges = [0, 1]
    while edges[-1] < order.size:
        edges.append(1 + int(np.searchsorted(parents, edges[-1])))
    below, widths = np.array(edges[:-1]), np.diff(edges)
    above = order.size - below - widths
    halves = np.minimum(below, above) >= order.size / 6
    return float(widths[halves].min()) if halves.any() else order.size / 3


def check_factorisation(L: Laplacian) -> None:
    """Refuse a factorisation that would not fit into memory, before it starts.

    Raises
    ------
    MemoryError
        With what it would take and what to use instead.
    """
    cost, available = factorisation_cost(L), available_memory()
    if cost.n_bytes > available:
        raise MemoryError(
            f"method='exact' on {L.n_vertices} vertices is expected to need {format_bytes(cost.n_bytes)} and "
            f"{cost.seconds:.3g} s for a sparse factorisation, and {format_bytes(available)} are available; use "
            "method='chebyshev', or method='multigrid' for a very large zoom"
        )
    warn_if_long(f"method='exact' on {L.n_vertices} vertices", cost.seconds, cost.n_bytes)


def exact_method(L: Laplacian, responses: Sequence[Response]) -> FilterMethod:
    """Choose the eigenbasis for small graphs and for responses without a factorised form."""
    cayley = [response for response in responses if isinstance(response, CayleyPolynomial)]
    if L.has_eigenbasis or L.n_vertices <= EIGENBASIS_VERTICES or len(cayley) < len(responses):
        return EigenbasisMethod(L, responses)
    if len(cayley) == 1:
        return FactorisationMethod(L, cayley[0])
    raise ValueError(
        f"method='exact' for a bank needs the eigenbasis, which is not computed beyond {EIGENBASIS_VERTICES} "
        "vertices unless asked for; use method='chebyshev', or touch `laplacian.eigenvalues` first"
    )


def exact_seconds(L: Laplacian, *, with_factorisation: bool, worth: float = np.inf) -> float:
    """Predict the time of preparing and applying the exact filter once; infinite if it would not fit.

    A factorisation is not looked into if even the sparsest would take more than the time that it is ``worth``.
    """
    n = L.n_vertices
    if L.has_eigenbasis:
        return 1e-5 + 1e-9 * n**2
    if n <= EIGENBASIS_VERTICES or not with_factorisation:
        fits = eigenbasis_bytes(n) < available_memory()
        return eigenbasis_seconds(n) + 1e-9 * n**2 if fits else np.inf
    if 8e-7 * n * np.log2(n) > worth:
        return np.inf
    cost = factorisation_cost(L)
    return cost.seconds if cost.n_bytes < available_memory() else np.inf
