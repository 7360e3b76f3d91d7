r"""The spectral density of a graph: how many of its eigenvalues lie where, without computing them.

The kernel polynomial method: moments :math:`\mu_m = \frac1n \mathrm{tr}\, T_m(\tilde\Delta)` are estimated by random
probes, damped by Jackson's kernel, and summed to a smooth density.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import fft

from cayleygsp._typing import ArrayLike, FloatArray, GraphLike, LaplacianKind
from cayleygsp._validation import check_choice, check_eigenvalues, check_integer
from cayleygsp.engine.recurrence import recurrence_dots
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.responses.series import chebyshev_nodes

__all__ = ["SpectralDensity", "jackson_kernel", "spectral_density"]

# Graphs up to this size are decomposed, which is quicker than probes.
EXACT_VERTICES = 500

# Numbers in a block of probes that goes through the recurrence at once.
_BLOCK_SIZE = 2**24


@dataclass(frozen=True, eq=False)
class SpectralDensity:
    r"""The distribution of a graph's frequencies on [0, lmax]; make one with :func:`spectral_density`.

    Attributes
    ----------
    probe_moments : numpy.ndarray, shape (n_probes, M + 1)
        What each probe says of the moments :math:`\mu_0 \dots \mu_M`; one row if they are exact.
    lmax : float
        Right end of the interval, the Laplacian's guaranteed bound.
    nodes, weights : numpy.ndarray, shape (N,)
        A quadrature: the mean of any function over the spectrum is about ``weights @ function(nodes)``. Weights are
        not negative and sum to 1. Nodes are the eigenvalues where these are known, else Chebyshev points.
    exact : bool
        Whether eigenvalues were computed.

    Notes
    -----
    The smooth density sees details of about :math:`\pi\sqrt{\lambda(\lambda_{max} - \lambda)}/M`, finer near the ends.
    """

    probe_moments: FloatArray
    lmax: float
    nodes: FloatArray
    weights: FloatArray
    exact: bool

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"n_probes={self.probe_moments.shape[0]}"
        return f"SpectralDensity(n_moments={self.n_moments}, {how}, lmax={self.lmax:.6g})"

    @property
    def n_moments(self) -> int:
        """The highest moment M."""
        return self.probe_moments.shape[1] - 1

    @property
    def moments(self) -> FloatArray:
        """The mean over the probes, shape (M + 1,)."""
        return self.probe_moments.mean(axis=0)

    def pdf(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the smooth density, per unit of frequency; zero outside [0, lmax], infinite at the very ends.

        Parameters
        ----------
        eigenvalues : array_like
            Frequencies, of any shape.
        """
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        inside = (lam >= 0) & (lam <= self.lmax)
        if self.lmax == 0:
            return np.where(inside, np.inf, 0.0)
        phi = self._phase(lam)
        density = self._fold(phi, np.cos, np.ones(self.n_moments))[0]
        with np.errstate(divide="ignore"):
            # dφ/dλ; the kernel is positive, and so is the density but for rounding
            found = np.maximum(density, 0.0) / (np.pi * np.sqrt(np.maximum(lam * (self.lmax - lam), 0.0)))
        return np.where(inside, found, 0.0)

    def cdf(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the share of eigenvalues up to the given frequencies: counted where they are known, else estimated.

        Parameters
        ----------
        eigenvalues : array_like
            Frequencies, of any shape.
        """
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        if self.exact:
            # eigenvalues are known to rounding only: one that is equal but for that counts
            slack = 1e-12 * self.lmax
            return np.searchsorted(self.nodes, lam + slack, side="right") / self.nodes.size
        return np.clip(self._probe_cdf(lam).mean(axis=0), 0.0, 1.0)

    def standard_error(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the standard error of :meth:`cdf` that random probes leave; zero where eigenvalues are known.

        It is the spread of the probes over the root of their number, and falls like that root. The smoothing, which
        no number of probes removes, is not in it.

        Parameters
        ----------
        eigenvalues : array_like
            Frequencies, of any shape.
        """
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        if self.exact:
            return np.zeros(lam.shape)
        by_probe = self._probe_cdf(lam)
        return by_probe.std(axis=0, ddof=1) / np.sqrt(by_probe.shape[0])

    def _phase(self, lam: FloatArray) -> FloatArray:
        """Return φ with λ = lmax (1 + cos φ)/2, accurate at small λ."""
        return 2 * np.arccos(np.sqrt(np.clip(lam / self.lmax, 0.0, 1.0)))

    def _probe_cdf(self, lam: FloatArray) -> FloatArray:
        """Return the integral of each probe's density, shape (n_probes,) followed by that of the frequencies."""
        if self.lmax == 0:
            return np.broadcast_to((lam >= 0).astype(np.float64), (self.probe_moments.shape[0], *lam.shape))
        phi = self._phase(lam)
        terms = self._fold(phi, np.sin, 1 / np.arange(1, self.n_moments + 1), each=True) - 1
        found = 1 - (phi + terms) / np.pi
        return np.where(lam < 0, 0.0, np.where(lam >= self.lmax, 1.0, found))

    def _fold(self, phi: FloatArray, wave: np.ufunc, scale: FloatArray, each: bool = False) -> FloatArray:
        """Return 1 + 2 Σ_m g_m μ_m scale_m wave(mφ), for the mean of the probes or for each."""
        mu = self.probe_moments if each else self.moments[None]
        a = 2 * (jackson_kernel(self.n_moments) * mu)[:, 1:] * scale
        m = np.arange(1, self.n_moments + 1)
        flat = phi.reshape(-1)
        # in pieces, so that the table of waves stays small
        step = max(2**20 // self.n_moments, 1)
        parts = [a @ wave(np.outer(m, flat[k : k + step])) for k in range(0, flat.size, step)]
        total = np.concatenate(parts, axis=1) if parts else np.zeros((mu.shape[0], 0))
        return (1 + total).reshape(mu.shape[0], *phi.shape)


def jackson_kernel(n_moments: int) -> FloatArray:
    """Return Jackson's factors for the moments 0 ... M, which keep the density positive and its edges clean.

    Parameters
    ----------
    n_moments : int
        The highest moment M ≥ 1.

    Examples
    --------
    >>> from cayleygsp.density import jackson_kernel
    >>> jackson_kernel(3).round(3)
    array([1.   , 0.809, 0.447, 0.138])
    """
    M = check_integer(n_moments, "n_moments", at_least=1)
    m, unit = np.arange(M + 1), np.pi / (M + 2)
    return ((M + 2 - m) * np.cos(unit * m) + np.sin(unit * m) / np.tan(unit)) / (M + 2)


def spectral_density(
    graph: GraphLike,
    n_moments: int = 128,
    n_probes: int = 16,
    *,
    method: str = "auto",
    rng: np.random.Generator | int | None = None,
    kind: LaplacianKind | None = None,
) -> SpectralDensity:
    r"""Return the distribution of a graph's eigenvalues.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    n_moments : int
        M ≥ 1, the number of moments beyond the first: how fine the smooth density is.
    n_probes : int
        At least 2 random sign vectors.
    method : {"auto", "kpm", "exact"}
        The kernel polynomial method or the eigenvalues themselves; "auto" takes the eigenvalues of a graph of up to 500
        vertices or where they have been computed before.
    rng : numpy.random.Generator or int, optional
        For the probes.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.

    Returns
    -------
    SpectralDensity
        With ``pdf``, ``cdf``, ``standard_error`` and a quadrature over the spectrum.

    Notes
    -----
    As :math:`T_{2k} = 2T_k^2 - 1` and :math:`T_{2k+1} = 2T_{k+1}T_k - T_1`, M moments take M/2 products with the
    Laplacian for all probes of a block. With p probes the standard error of a moment is at most
    :math:`\sqrt{2/(pn)}`: the larger the graph, the fewer probes are needed.

    References
    ----------
    .. [1] A. Weiße, G. Wellein, A. Alvermann and H. Fehske, "The kernel polynomial method", Reviews of Modern
       Physics 78, 2006.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> found = cg.density.spectral_density(cg.gallery.grid(60), rng=0)
    >>> found
    SpectralDensity(n_moments=128, n_probes=16, lmax=8)
    >>> found.cdf([1.0, 8.0]).round(2)
    array([0.09, 1.  ])
    """
    L = laplacian(graph, kind)
    M = check_integer(n_moments, "n_moments", at_least=1)
    n_probes = check_integer(n_probes, "n_probes", at_least=2)
    check_choice(method, "method", ("auto", "kpm", "exact"))
    generator = np.random.default_rng(rng)
    if method == "exact" or (method == "auto" and (L.has_eigenbasis or L.n_vertices <= EXACT_VERTICES)):
        return _exact_density(L, M)
    return _estimated_density(L, M, n_probes, generator)


def _exact_density(L: Laplacian, M: int) -> SpectralDensity:
    lam = np.clip(L.eigenvalues, 0.0, L.lmax)
    phi = 2 * np.arccos(np.sqrt(lam / L.lmax)) if L.lmax else np.full(lam.shape, np.pi)
    mu = np.array([np.cos(m * phi).mean() for m in range(M + 1)])
    return SpectralDensity(mu[None], L.lmax, lam, np.full(lam.size, 1 / lam.size), exact=True)


def _estimated_density(L: Laplacian, M: int, n_probes: int, rng: np.random.Generator) -> SpectralDensity:
    if L.lmax == 0:
        mu = np.broadcast_to((-1.0) ** np.arange(M + 1), (n_probes, M + 1))
        return SpectralDensity(mu, 0.0, np.zeros(1), np.ones(1), exact=False)
    mu = np.concatenate([_probe_moments(L, M, block, rng) for block in _block_widths(L.n_vertices, n_probes)])
    nodes = chebyshev_nodes(2 * (M + 1), L.lmax)
    damped = np.zeros(nodes.size)
    damped[: M + 1] = jackson_kernel(M) * mu.mean(axis=0)
    weights = np.maximum(fft.dct(damped, type=3) / nodes.size, 0.0)
    # ascending, as eigenvalues are
    return SpectralDensity(mu, L.lmax, nodes[::-1].copy(), weights[::-1] / weights.sum(), exact=False)


def _block_widths(n_vertices: int, n_probes: int) -> Iterator[int]:
    """Cut the probes into blocks of at most 16 that take a bounded memory."""
    width = int(np.clip(_BLOCK_SIZE // n_vertices, 1, 16))
    while n_probes > 0:
        yield min(width, n_probes)
        n_probes -= width


def _probe_moments(L: Laplacian, M: int, n_probes: int, rng: np.random.Generator) -> FloatArray:
    """Return the moments that random signs give, shape (n_probes, M + 1)."""
    n = L.n_vertices
    f = rng.choice([-1.0, 1.0], size=(n, n_probes))
    dots = recurrence_dots(L.kernel_graph(np.float64), L.lmax, (M + 1) // 2, f) / n
    mu = np.empty((M + 1, n_probes))
    mu[0], mu[1] = 1.0, dots[0, 1]
    mu[2::2] = 2 * dots[: M // 2, 0] - 1
    mu[3::2] = 2 * dots[1:, 1] - mu[1]
    return mu.T
