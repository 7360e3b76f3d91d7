r"""Traces and energies of many filters at once, from which a strength is chosen.

For a signal f every form :math:`f^\top p(\Delta) f` of a polynomial p of degree 2K follows from the products
:math:`\langle T_k f, T_k f\rangle` and :math:`\langle T_k f, T_{k-1} f\rangle`, k up to K: one recurrence serves any
number of filters, and nothing of the size of the graph is kept for each of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cayleygsp._format import ShortRepr
from cayleygsp._typing import Array, FloatArray
from cayleygsp.density import EXACT_VERTICES
from cayleygsp.engine.recurrence import recurrence_dots
from cayleygsp.filters import ConvergenceWarning
from cayleygsp.filters.base import GraphFilter
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import column_norms
from cayleygsp.responses.base import Response, series_on_interval
from cayleygsp.responses.series import ChebyshevSeries, chebyshev_coefficients

# Error allowed to the filter that finds the frequencies of the sketch; any sketch gives the right mean.
_SKETCH_TOL = 1e-2


@dataclass(frozen=True, eq=False, repr=False)
class Traces(ShortRepr):
    r"""Traces of filters, :math:`\mathrm{tr}\,g_i(\Delta)`.

    Attributes
    ----------
    values : numpy.ndarray, shape (n_filters,)
        The traces, or unbiased estimates of them.
    standard_errors : numpy.ndarray, shape (n_filters,)
        Of the estimates, with what the series leave out; zero where the eigenvalues are known. The estimates come from
        the same probes: they are off together, and their differences are known better than this.
    exact : bool
        Whether the eigenvalues were used: no probes, and no error beyond rounding.
    n_probes : int
        How many random probes; 0 if exact.
    left_out : float or numpy.ndarray, shape (n_filters,)
        The part of the standard errors that is not chance: what the series leave out.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> result = cg.tasks.denoise(cg.gallery.grid(10), np.random.default_rng(0).standard_normal(100))
    >>> result.traces.exact  # small graphs: from the eigenvalues
    True
    """

    values: FloatArray
    standard_errors: FloatArray
    exact: bool
    n_probes: int
    left_out: float | FloatArray = 0.0

    def __getitem__(self, some: slice) -> Traces:
        """Return some of the traces."""
        left_out = np.broadcast_to(self.left_out, self.values.shape)[some]
        return Traces(self.values[some], self.standard_errors[some], self.exact, self.n_probes, left_out)


@dataclass(frozen=True, eq=False)
class Polynomial:
    r"""A polynomial ``of`` the values of responses, such as :math:`(1 - g)^2`, with the highest power of each."""

    of: Callable[..., FloatArray]
    parts: tuple[Response, ...]
    powers: tuple[int, ...]

    def on_spectrum(self, eigenvalues: FloatArray) -> FloatArray:
        """Return the values at eigenvalues."""
        return self.of(*(g.on_spectrum(eigenvalues) for g in self.parts))

    def coefficients(self, expand: Callable[[Response], ChebyshevSeries]) -> FloatArray:
        """Return the Chebyshev coefficients, from the values of the parts' series at as many points as there are."""
        series = [expand(g) for g in self.parts]
        degree = sum(power * one.degree for power, one in zip(self.powers, series, strict=True))
        return chebyshev_coefficients(self.of(*(one.at_nodes(degree + 1) for one in series)))

    def error(self, series_error: float) -> float:
        """Bound the error for series of responses between 0 and 1 that are off by as much as given."""
        degree = sum(self.powers)
        return degree * series_error * (1 + series_error) ** (degree - 1)


@dataclass(frozen=True, eq=False)
class Forms:
    r"""Forms :math:`f_j^\top p_i(\Delta) f_j`, and how far the responses of each polynomial may be from their series.

    That is the tolerance, or more where they miss it.
    """

    values: FloatArray
    series_errors: FloatArray


def plain(response: Response) -> Polynomial:
    """Return a response as it is."""
    return Polynomial(lambda g: g, (response,), (1,))


def squared_complement(response: Response) -> Polynomial:
    """Return (1 - g)², whose form is the energy of what the filter takes away."""
    return Polynomial(lambda g: (1 - g) ** 2, (response,), (2,))


def uses_eigenbasis(L: Laplacian) -> bool:
    """Return whether the eigenbasis is known or cheap, so that traces and forms are exact."""
    return L.has_eigenbasis or L.n_vertices <= EXACT_VERTICES


def estimate_traces(
    L: Laplacian,
    polynomials: Sequence[Polynomial],
    sketch: Response,
    n_probes: int,
    rng: np.random.Generator,
    *,
    tol: float,
) -> Traces:
    r"""Return the traces of polynomials of filters, exactly from the eigenvalues or by Hutch++.

    ``sketch`` is a filter that passes the frequencies at which the polynomials are large; ``n_probes``, at least 2, are
    the columns of the sketch, and the probes of what it misses. ``tol`` is the largest distance of a response from its
    series, times the root of the number of vertices.

    Notes
    -----
    With Q an orthonormal basis of what the sketching filter leaves of random signs,
    :math:`\mathrm{tr}\,G = \mathrm{tr}\,Q^\top G Q + \mathrm{tr}\,(I - QQ^\top) G (I - QQ^\top)`: the first is
    computed, the second is the mean of :math:`z^\top G z` over random signs projected off Q. This holds for every Q,
    so that one basis serves all filters. A multiple of the identity, whose trace is known, is taken off G before: a
    weak filter is hardly anything else.

    References
    ----------
    .. [1] R. A. Meyer, C. Musco, C. Musco and D. P. Woodruff, "Hutch++: optimal stochastic trace estimation", Symposium
       on Simplicity in Algorithms, 2021.
    """
    n = L.n_vertices
    if uses_eigenbasis(L) or 2 * n_probes > n:
        values = np.array([p.on_spectrum(L.eigenvalues).sum() for p in polynomials])
        return Traces(values, np.zeros(len(polynomials)), True, 0)
    signs = rng.choice([-1.0, 1.0], size=(n, 2 * n_probes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        Q, _ = np.linalg.qr(GraphFilter(L, sketch, method="chebyshev", tol=_SKETCH_TOL).filter(signs[:, :n_probes]))
    z = signs[:, n_probes:]
    for _ in range(2):  # once more for what rounding left of the first time
        z = z - Q @ (Q.T @ z)
    # errors of the series count n times, chance about √n times
    tol = tol / np.sqrt(n)
    forms = quadratic_forms(L, polynomials, np.hstack([Q, z]), tol=tol)
    # the trace of the identity is known: only what differs from the value at the mean frequency is left to chance
    middle = np.array([p.on_spectrum(np.array([L.diagonal.mean()]))[0] for p in polynomials])
    rest = forms.values[:, n_probes:] - middle[:, None] * column_norms(z) ** 2
    values = forms.values[:, :n_probes].sum(axis=1) + middle * (n - n_probes) + rest.mean(axis=1)
    left_out = n * np.array([p.error(e) for p, e in zip(polynomials, forms.series_errors, strict=True)])
    return Traces(values, rest.std(axis=1, ddof=1) / np.sqrt(n_probes) + left_out, False, n_probes, left_out)


def quadratic_forms(L: Laplacian, polynomials: Sequence[Polynomial], f: Array, *, tol: float) -> Forms:
    r"""Return :math:`f_j^\top p_i(\Delta) f_j` for all polynomials and signals, in one recurrence of half the degree.

    ``tol`` is the largest distance of a response from its series, if that can be reached. A form of a response is off
    by that times the energy of the signal, and the root of a form of :math:`(1 - g)^2` by that times the signal's norm.
    """
    if uses_eigenbasis(L):
        energies = (L.eigenvectors.T @ f) ** 2
        values = np.array([p.on_spectrum(L.eigenvalues) for p in polynomials]) @ energies
        return Forms(values, np.full(len(polynomials), tol))
    series: dict[int, ChebyshevSeries] = {}

    def expand(g: Response) -> ChebyshevSeries:
        if id(g) not in series:
            series[id(g)] = series_on_interval(g, L.lmax_bound, tol, L.lmin)
        return series[id(g)]

    rows = [p.coefficients(expand) for p in polynomials]
    coeffs = np.zeros((len(rows), max(max(row.size for row in rows), 3)))
    for place, row in zip(coeffs, rows, strict=True):
        place[: row.size] = row
    errors = np.array([max(tol, *(expand(g).error for g in p.parts)) for p in polynomials])
    return Forms(coeffs @ _moments(L, coeffs.shape[1] - 1, f), errors)


def _moments(L: Laplacian, degree: int, f: Array) -> FloatArray:
    """Return the forms of the Chebyshev polynomials of degrees 0 ... K, shape (K + 1, m)."""
    dots = recurrence_dots(L.shifted().kernel_graph(np.float64), L.lmax_bound - L.lmin, (degree + 1) // 2, f)
    mu = np.empty((degree + 1, f.shape[1]))
    mu[0], mu[1] = np.einsum("ij,ij->j", f, f), dots[0, 1]
    mu[2::2] = 2 * dots[: degree // 2, 0] - mu[0]
    mu[3::2] = 2 * dots[1:, 1] - mu[1]
    return mu
