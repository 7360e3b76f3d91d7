r"""How the eigenvalues of a graph are distributed, without computing them all, and the lowest of them.

The kernel polynomial method: moments :math:`\mu_m = \frac1n \mathrm{tr}\, T_m(\tilde\Delta)` are estimated by random
probes, damped by Jackson's kernel, and summed to a smooth density. The eigenvalue 0 is there once for each component of
the graph; it is counted, not estimated, and kept apart from the smooth part.

The lowest positive eigenvalues come from a block of vectors that is improved by conjugate gradients behind a multigrid
cycle (LOBPCG). By Courant and Fischer the k-th eigenvalue is at most the k-th Ritz value of any block; and as many
eigenvalues as there are Ritz values lie within the norm of the block's residual of them. That no lower one was missed
is not proved.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import fft, linalg, sparse

from cayleygsp._typing import ArrayLike, FloatArray, GraphLike, LaplacianKind
from cayleygsp._validation import check_choice, check_eigenvalues, check_integer
from cayleygsp.engine.recurrence import recurrence_dots
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.responses.series import chebyshev_nodes

__all__ = ["SpectralDensity", "lowest_frequencies", "spectral_density"]

# Graphs up to this size are decomposed, which is quicker than probes.
EXACT_VERTICES = 500

# Numbers in a block of probes that goes through the recurrence at once.
_BLOCK_SIZE = 2**24

# Vectors beyond the lowest frequencies asked for, which make the last of them converge, and the most rounds.
_GUARD, _ROUNDS = 4, 40


@dataclass(frozen=True, eq=False)
class SpectralDensity:
    r"""The distribution of a graph's frequencies on [0, lmax]; make one with :func:`spectral_density`.

    Attributes
    ----------
    probe_moments : numpy.ndarray, shape (n_probes, M + 1)
        What each probe says of the moments :math:`\mu_0 \dots \mu_M`; one row if they are exact.
    probe_zeros : numpy.ndarray, shape (n_probes,)
        The share of each probe, as a signal, at frequency 0.
    lmax : float
        Right end of the interval, the Laplacian's guaranteed bound.
    nodes, weights : numpy.ndarray, shape (N,)
        A quadrature: the mean of any function over the spectrum is about ``weights @ function(nodes)``. Weights are
        not negative and sum to 1. Nodes are the eigenvalues where these are known, else 0 and Chebyshev points.
    exact : bool
        Whether eigenvalues were computed.
    n_vertices, n_zero : int
        How many eigenvalues there are, and how many of them are 0: one for each component.
    uncertainty : float
        How far computed eigenvalues may be from the true ones, those at 0 excepted; 0 if there are none.

    Notes
    -----
    The smooth density sees details of about :math:`\pi\sqrt{\lambda(\lambda_{max} - \lambda)}/M`, finer near the ends.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> density = cg.density.spectral_density(cg.gallery.grid(30), rng=0)
    >>> bool(abs(density.weights @ density.nodes - 3.87) < 0.1)  # the mean frequency is about the mean degree
    True
    """

    probe_moments: FloatArray
    probe_zeros: FloatArray
    lmax: float
    nodes: FloatArray
    weights: FloatArray
    exact: bool
    n_vertices: int
    n_zero: int
    uncertainty: float

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"n_probes={self.probe_moments.shape[0]}"
        return f"SpectralDensity(n_moments={self.n_moments}, {how}, lmax={self.lmax:.6g})"

    @property
    def n_moments(self) -> int:
        """The highest moment M."""
        return self.probe_moments.shape[1] - 1

    @property
    def zero_share(self) -> float:
        """The share of eigenvalues that are 0, exactly."""
        return self.n_zero / self.n_vertices

    def pdf(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the smooth density of the positive frequencies, per unit; the share of zeros is not in it.

        Frequencies may have any shape, here and below. It is zero outside [0, lmax] and infinite at the very ends.
        """
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        inside = (lam >= 0) & (lam <= self.lmax)
        if self.lmax == 0:
            return np.where(inside, np.inf, 0.0)
        phi = self._phase(lam)
        mu = self._positive_moments().mean(axis=0)
        density = self._fold(mu[None], phi, np.cos, np.ones(self.n_moments))[0]
        with np.errstate(divide="ignore"):
            # dφ/dλ; the kernel is positive, and so is the density but for rounding
            per_unit = np.maximum(density, 0.0) / (np.pi * np.sqrt(np.maximum(lam * (self.lmax - lam), 0.0)))
        return np.where(inside, per_unit, 0.0)

    def cdf(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the share of eigenvalues up to the given frequencies, NaN where these are NaN.

        Counted where they are known. Else the zeros are counted, and the share of the positive ones is estimated, see
        :meth:`standard_error`.
        """
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        if self.exact:
            # eigenvalues are known to rounding only: one that is equal but for that counts
            slack = 1e-12 * self.lmax
            share = np.searchsorted(self.nodes, lam + slack, side="right") / self.nodes.size
            return np.where(np.isnan(lam), np.nan, share)[()]
        share = self.zero_share + self._probe_cdf(lam).mean(axis=0)
        return np.where(lam < 0, 0.0, np.where(lam >= self.lmax, 1.0, np.clip(share, self.zero_share, 1.0)))

    def standard_error(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the standard error of :meth:`cdf` that random probes leave; zero where eigenvalues are known.

        It is the spread of the probes over the root of their number, and falls like that root. The smoothing, which
        no number of probes removes, is not in it.
        """
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        if self.exact:
            return np.zeros(lam.shape)
        by_probe = self._probe_cdf(lam)
        whole = self._positive_moments()[:, 0]
        if not whole.any():
            return np.zeros(lam.shape)
        # the probes' shares are scaled by their mean to what is known of the whole: the ratio's error is that of this
        rest = by_probe - np.multiply.outer(whole / whole.mean(), by_probe.mean(axis=0))
        return rest.std(axis=0, ddof=1) / np.sqrt(rest.shape[0])

    def _phase(self, lam: FloatArray) -> FloatArray:
        """Return φ with λ = lmax (1 + cos φ)/2, accurate at small λ."""
        return 2 * np.arccos(np.sqrt(np.clip(lam / self.lmax, 0.0, 1.0)))

    def _positive_moments(self) -> FloatArray:
        return _without_zeros(self.probe_moments, self.probe_zeros, self.zero_share)

    def _probe_cdf(self, lam: FloatArray) -> FloatArray:
        """Return the share of positive eigenvalues up to λ by each probe, the first axis of the result."""
        mu = self._positive_moments()
        if self.lmax == 0:
            return np.zeros((mu.shape[0], *lam.shape))
        phi = self._phase(lam)
        # the integral of μ_0 + 2 Σ μ_m cos mφ from φ to π
        whole = mu[:, 0].reshape(-1, *(1 for _ in lam.shape))
        terms = self._fold(mu, phi, np.sin, 1 / np.arange(1, self.n_moments + 1)) - whole
        return whole - (whole * phi + terms) / np.pi

    def _fold(self, mu: FloatArray, phi: FloatArray, wave: np.ufunc, scale: FloatArray) -> FloatArray:
        """Return μ_0 + 2 Σ_m g_m μ_m scale_m wave(mφ) for each row of moments."""
        a = 2 * (jackson_kernel(self.n_moments) * mu)[:, 1:] * scale
        m = np.arange(1, self.n_moments + 1)
        flat = phi.reshape(-1)
        # in pieces, so that the table of waves stays small
        step = max(2**20 // self.n_moments, 1)
        parts = [a @ wave(np.outer(m, flat[k : k + step])) for k in range(0, flat.size, step)]
        total = np.concatenate(parts, axis=1) if parts else np.zeros((mu.shape[0], 0))
        return (mu[:, :1] + total).reshape(mu.shape[0], *phi.shape)


def jackson_kernel(n_moments: int) -> FloatArray:
    """Return Jackson's factors for moments 0 … M ≥ 1, which keep the density positive and its edges clean."""
    M = n_moments
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
    >>> density = cg.density.spectral_density(cg.gallery.grid(60), rng=0)
    >>> density
    SpectralDensity(n_moments=128, n_probes=16, lmax=8)
    >>> density.cdf([1.0, 8.0]).round(2)
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


def count_zeros(L: Laplacian) -> int:
    """Return the multiplicity of the eigenvalue 0, one for each component.

    A normalized Laplacian that was given as a matrix does not tell the degrees behind it: if its null vectors are not
    known, 0 is returned, and nothing is claimed.
    """
    v = _null_vector(L)
    return L.n_components if np.abs(L.matrix @ v).max() <= 1e-10 * L.lmax * v.max() else 0


def _null_vector(L: Laplacian) -> FloatArray:
    """Return the positive vector whose parts on the components span the null space."""
    if L.kind == "combinatorial":
        return np.ones(L.n_vertices)
    return np.sqrt(np.where(L.degrees > 0, L.degrees, 1.0))


def _exact_density(L: Laplacian, M: int) -> SpectralDensity:
    n_zero = count_zeros(L)
    lam = np.clip(L.eigenvalues, 0.0, L.lmax)
    lam[:n_zero] = 0.0
    phi = 2 * np.arccos(np.sqrt(lam / L.lmax)) if L.lmax else np.full(lam.shape, np.pi)
    mu = np.array([np.cos(m * phi).mean() for m in range(M + 1)])
    return SpectralDensity(
        probe_moments=mu[None],
        probe_zeros=np.array([n_zero / lam.size]),
        lmax=L.lmax,
        nodes=lam,
        weights=np.full(lam.size, 1 / lam.size),
        exact=True,
        n_vertices=lam.size,
        n_zero=n_zero,
        uncertainty=L.eigenbasis.residual,
    )


def _estimated_density(L: Laplacian, M: int, n_probes: int, rng: np.random.Generator) -> SpectralDensity:
    n_zero = count_zeros(L)
    if L.lmax == 0:
        mu, zeros = np.tile((-1.0) ** np.arange(M + 1), (n_probes, 1)), np.ones(n_probes)
        return SpectralDensity(mu, zeros, L.lmax, np.zeros(1), np.ones(1), False, L.n_vertices, n_zero, 0.0)
    v = _null_vector(L)
    sizes = np.bincount(L.components, weights=v**2)
    moments, zero_shares = [], []
    for width in block_widths(L.n_vertices, n_probes):
        f = rng.choice([-1.0, 1.0], size=(L.n_vertices, width))
        moments.append(_probe_moments(L, M, f))
        inner = np.stack([np.bincount(L.components, weights=v * column) for column in f.T])
        zero_shares.append((inner**2 / sizes).sum(axis=1) / L.n_vertices if n_zero else np.zeros(width))
    mu, zeros = np.concatenate(moments), np.concatenate(zero_shares)
    # zeros apart, the quadrature has Chebyshev points with the smooth density
    nodes, share = chebyshev_nodes(2 * (M + 1), L.lmax), n_zero / L.n_vertices
    damped = np.zeros(nodes.size)
    damped[: M + 1] = jackson_kernel(M) * _without_zeros(mu, zeros, share).mean(axis=0)
    weights = np.maximum(fft.dct(damped, type=3) / nodes.size, 0.0)
    total = weights.sum()
    weights *= (1 - share) / total if total > 0 else 0.0
    nodes, weights = np.append(0.0, nodes[::-1]), np.append(share, weights[::-1])
    return SpectralDensity(mu, zeros, L.lmax, nodes, weights, False, L.n_vertices, n_zero, 0.0)


def _without_zeros(mu: FloatArray, zeros: FloatArray, zero_share: float) -> FloatArray:
    """Return each probe's moments without what it has at zero, scaled to the share of positive eigenvalues."""
    mu = mu - np.outer(zeros, (-1.0) ** np.arange(mu.shape[1]))
    whole = float(mu[:, 0].mean())
    if whole <= 1e-12:  # nothing is known of them, if there are any
        mu = np.zeros(mu.shape)
        mu[:, 0] = whole = 1.0
    return mu * ((1 - zero_share) / whole)


def block_widths(n_vertices: int, n_probes: int) -> Iterator[int]:
    """Cut the probes into blocks of at most 16 that take a bounded memory."""
    width = int(np.clip(_BLOCK_SIZE // n_vertices, 1, 16))
    while n_probes > 0:
        yield min(width, n_probes)
        n_probes -= width


def _probe_moments(L: Laplacian, M: int, f: FloatArray) -> FloatArray:
    """Return the moments that probes of random signs give, shape (n_probes, M + 1)."""
    n, n_probes = f.shape
    dots = recurrence_dots(L.kernel_graph(np.float64), L.lmax, (M + 1) // 2, f) / n
    mu = np.empty((M + 1, n_probes))
    mu[0], mu[1] = 1.0, dots[0, 1]
    mu[2::2] = 2 * dots[: M // 2, 0] - 1
    mu[3::2] = 2 * dots[1:, 1] - mu[1]
    return mu.T


def lowest_frequencies(
    L: Laplacian, n_lowest: int, rng: np.random.Generator | int | None = None
) -> tuple[FloatArray, float, Literal["exact", "at most"]]:
    """Return the lowest eigenvalues, without an eigendecomposition if the graph is large.

    Parameters
    ----------
    L : Laplacian
        The graph.
    n_lowest : int
        From 1 to the number of vertices; some hundred at most if the eigenbasis has not been computed.
    rng : numpy.random.Generator or int, optional
        For the vectors to start from.

    Returns
    -------
    values : numpy.ndarray, shape (n_lowest,)
        Ascending; zeros are counted.
    residual : float
        There are as many eigenvalues within this of the values.
    certificate : {"exact", "at most"}
        Whether these are the lowest eigenvalues to within the residual, or the k-th lowest is proved not to be above
        the k-th value and nothing more.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> values, _, certificate = cg.density.lowest_frequencies(cg.laplacian(cg.gallery.grid(40)), 4, rng=0)
    >>> values.round(4), certificate
    (array([0.    , 0.0062, 0.0062, 0.0123]), 'at most')
    """
    m = check_integer(n_lowest, "n_lowest", at_least=1)
    if m > L.n_vertices:
        raise ValueError(f"`n_lowest` must be at most the number of vertices {L.n_vertices}, got {m}")
    n_zero = count_zeros(L)
    if m <= n_zero:
        return np.zeros(m), 0.0, "exact"
    if L.has_eigenbasis or L.n_vertices < 5 * (m + _GUARD):
        lam = np.clip(L.eigenvalues[:m], 0.0, None)
        lam[:n_zero] = 0.0
        return lam, L.eigenbasis.residual, "exact"
    Y = np.zeros((L.n_vertices, n_zero))  # an orthonormal basis of the null space
    if n_zero:
        Y[np.arange(L.n_vertices), L.components] = _null_vector(L)
        Y /= np.linalg.norm(Y, axis=0)
    theta, residual = _ritz(L, m - n_zero, Y, np.random.default_rng(rng))
    return np.append(np.zeros(n_zero), theta), residual, "at most"


def _ritz(L: Laplacian, k: int, Y: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Return k Ritz values on the complement of Y, never below the eigenvalues, and the norm of their residual."""
    from pyamg import smoothed_aggregation_solver  # slow to load
    from scipy.sparse.linalg import lobpcg

    width = min(k + _GUARD, L.n_vertices - Y.shape[1])
    X = rng.standard_normal((L.n_vertices, width))
    shift = 1e-3 * float(L.diagonal[L.diagonal > 0].min())
    # A is as good a preconditioner as L, and not singular
    A = sparse.csr_matrix(L.matrix + shift * sparse.eye_array(L.n_vertices))
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    # plain aggregation stays sparse on random graphs, and needs no random vectors: the same seed gives the same numbers
    sweep = ("gauss_seidel", {"sweep": "symmetric"})
    hierarchy = smoothed_aggregation_solver(
        A, symmetry="symmetric", smooth=None, presmoother=sweep, postsmoother=sweep, max_coarse=200
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge is seen by the residual
        _, X = lobpcg(
            L.matrix,
            X,
            M=hierarchy.aspreconditioner(),
            Y=Y if Y.size else None,
            tol=1e-6 * L.lmax,
            maxiter=_ROUNDS,
            largest=False,
        )
    X = np.asarray(X) - Y @ (Y.T @ X)
    X = linalg.qr(X, mode="economic", check_finite=False)[0]
    LX = L.matrix @ X
    H = X.T @ LX
    theta, S = linalg.eigh((H + H.T) / 2, check_finite=False)
    theta, S = theta[:k], S[:, :k]
    residual = float(np.linalg.norm(LX @ S - (X @ S) * theta))
    rounding = 8 * float(np.finfo(np.float64).eps) * (L.rounding_norm + L.n_vertices**0.5 * L.lmax)
    return theta + rounding, residual + rounding
