"""The spectral convolution of Bruna et al.: a multiplier for each of the first eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse
from scipy.interpolate import BSpline
from scipy.sparse.linalg import LinearOperator, eigsh, splu
from torch import Tensor, nn

from cayleygsp._memory import available_memory, fits
from cayleygsp._typing import FloatArray, GraphLike
from cayleygsp._validation import check_integer
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES
from cayleygsp.laplacians import Laplacian
from cayleygsp.laplacians import laplacian as as_laplacian
from cayleygsp.methods.fill import factorisation_cost
from cayleygsp.nn.layers.base import check_finite, check_floating

# Beyond this predicted time a factorisation gives way to a Lanczos run that needs none: where factors fill up, as on
# random graphs, the first frequencies are well apart and found without.
_FACTORISATION_SECONDS = 5.0

# Shift, relative to the largest eigenvalue, that makes a Laplacian positive definite; far below what is looked for.
_SHIFT = 1e-10


class SpectralConv(nn.Module):
    r"""A convolution by free multipliers in the eigenbasis of the Laplacian, after Bruna et al. [1]_.

    .. math:: y_o = \sum_i \Phi_k\, \mathrm{diag}(B w_{io})\, \Phi_k^\top x_i + b_o

    :math:`\Phi_k` holds the first k eigenvectors and B interpolates smoothly: column j is a B-spline over the numbers
    1, …, k of the frequencies, cubic with four coefficients or more. What lies beyond the first k frequencies is
    removed.

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of input and output.
    n_eigenvectors : int
        Number k of eigenvectors.
    n_coeffs : int, optional
        Coefficients of each multiplier function, at most k. By default there are k and nothing is interpolated.
    bias : bool
        Whether to add a learnt constant to each output channel.
    laplacian : graph-like, optional
        The graph that the layer is for; its eigenvectors become a buffer, and ``forward`` takes the signals alone.
        Without it, ``forward`` takes a basis made by :meth:`prepare`, which several layers can share.
    device, dtype : optional
        Of parameters and buffers, as for torch's own layers.

    Attributes
    ----------
    weight : torch.nn.Parameter, shape (n_coeffs, in_channels, out_channels)
        The coefficients w.
    eigenvectors : torch.Tensor, shape (n_vertices, n_eigenvectors), or None
        The basis of the graph, if the layer has one.

    Notes
    -----
    The number of parameters does not depend on that of vertices, but what was learnt belongs to the basis: another
    graph has other eigenvectors, and within an eigenspace of several dimensions the result depends on the basis that
    was chosen there. The buffer is in ``state_dict`` for this reason.

    Initial weights are uniform, of a size at which a signal within the first k frequencies keeps its variance.

    Shapes:

    - input: (n_vertices, in_channels) or (batch, n_vertices, in_channels)
    - output: (n_vertices, out_channels) or (batch, n_vertices, out_channels)

    References
    ----------
    .. [1] J. Bruna, W. Zaremba, A. Szlam and Y. LeCun, "Spectral networks and locally connected networks on graphs",
       ICLR 2014.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> import torch
    >>> from cayleygsp.nn.layers.spectral_conv import SpectralConv
    >>> conv = SpectralConv(3, 8, n_eigenvectors=10, n_coeffs=5, laplacian=cg.gallery.grid(6))
    >>> conv
    SpectralConv(3, 8, n_eigenvectors=10, n_coeffs=5, bias=True, n_vertices=36)
    >>> conv(torch.ones(36, 3)).shape
    torch.Size([36, 8])
    >>> shared = SpectralConv.prepare(cg.gallery.grid(6), 10)
    >>> SpectralConv(3, 8, n_eigenvectors=10)(torch.ones(2, 36, 3), shared).shape
    torch.Size([2, 36, 8])
    """

    interpolation: Tensor | None
    eigenvectors: Tensor | None
    bias: nn.Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        n_eigenvectors: int,
        n_coeffs: int | None = None,
        bias: bool = True,
        *,
        laplacian: GraphLike | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_channels = check_integer(in_channels, "in_channels", at_least=1)
        self.out_channels = check_integer(out_channels, "out_channels", at_least=1)
        self.n_eigenvectors = check_integer(n_eigenvectors, "n_eigenvectors", at_least=1)
        self.n_coeffs = self.n_eigenvectors if n_coeffs is None else check_integer(n_coeffs, "n_coeffs", at_least=1)
        if self.n_coeffs > self.n_eigenvectors:
            raise ValueError(f"`n_coeffs` must be at most `n_eigenvectors` {self.n_eigenvectors}, got {self.n_coeffs}")
        dtype = torch.get_default_dtype() if dtype is None else dtype
        splines = None if n_coeffs is None else spline_matrix(self.n_eigenvectors, self.n_coeffs)
        Phi = None if laplacian is None else first_eigenpairs(laplacian, self.n_eigenvectors)[1]
        for name, array in (("interpolation", splines), ("eigenvectors", Phi)):
            self.register_buffer(name, None if array is None else torch.tensor(array, device=device, dtype=dtype))
        # The mean over the frequencies of the squared weights that make up a multiplier.
        self._spread = 1.0 if splines is None else float((splines**2).sum(1).mean())
        shape = (self.n_coeffs, self.in_channels, self.out_channels)
        self.weight = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
        self.register_parameter(
            "bias", nn.Parameter(torch.empty(self.out_channels, device=device, dtype=dtype)) if bias else None
        )
        self.reset_parameters()

    @staticmethod
    def prepare(
        laplacian: GraphLike,
        n_eigenvectors: int,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return the first eigenvalues, shape (k,), and eigenvectors, shape (n_vertices, k), of a graph as tensors.

        Parameters
        ----------
        laplacian : graph-like
            A :class:`~cayleygsp.Laplacian`, or a graph, of which the combinatorial one is taken.
        n_eigenvectors : int
            Number k of eigenpairs, at most n_vertices.
        device, dtype : optional
            Of the tensors; torch's default precision if not given.

        Notes
        -----
        Eigenvalues are ascending on the vertices with edges, then the zeros of the others: a vertex without edges is an
        eigenvector of its own. The fake vertices of a coarsened graph would be the first of all, and say nothing; so
        they are taken only when all others are.

        Small graphs are decomposed densely. On large ones a Lanczos run finds the first eigenpairs to rounding, with
        the inverse of the matrix where its factors are cheap, else without; of an eigenvalue of high multiplicity it
        may miss copies.
        """
        dtype = torch.get_default_dtype() if dtype is None else dtype
        lam, Phi = first_eigenpairs(laplacian, check_integer(n_eigenvectors, "n_eigenvectors", at_least=1))
        return torch.tensor(lam, device=device, dtype=dtype), torch.tensor(Phi, device=device, dtype=dtype)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew and set the bias to zero.

        Parameters
        ----------
        generator : torch.Generator, optional
            Source of randomness; torch's own if not given.
        """
        bound = float(np.sqrt(3 / (self.in_channels * self._spread)))
        nn.init.uniform_(self.weight, -bound, bound, generator=generator)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def responses(self) -> Tensor:
        """Return the multipliers at the first k frequencies, shape (k, in_channels, out_channels)."""
        if self.interpolation is None:
            return self.weight
        return torch.tensordot(self.interpolation, self.weight, dims=1)

    def forward(self, x: Tensor, laplacian: Any = None) -> Tensor:
        """Filter ``x``.

        Parameters
        ----------
        x : torch.Tensor, shape (n_vertices, in_channels) or (batch, n_vertices, in_channels)
            Signals.
        laplacian : (eigenvalues, eigenvectors), optional
            What :meth:`prepare` made, or any object with the tensor ``eigenvectors``; of more than k the first k are
            used, in the precision of the layer. By default the basis that the layer was made with.
        """
        Phi = self._basis(laplacian)
        self._check(x, Phi)
        spectrum = Phi.mT @ x.to(self.weight.dtype)
        y = Phi @ torch.einsum("...ki,kio->...ko", spectrum, self.responses())
        return y if self.bias is None else y + self.bias

    def extra_repr(self) -> str:
        """Return the channels and the sizes, for ``repr``."""
        n_vertices = "" if self.eigenvectors is None else f", n_vertices={self.eigenvectors.shape[0]}"
        return (
            f"{self.in_channels}, {self.out_channels}, n_eigenvectors={self.n_eigenvectors}, "
            f"n_coeffs={self.n_coeffs}, bias={self.bias is not None}{n_vertices}"
        )

    def _basis(self, laplacian: Any) -> Tensor:
        """Return the first k eigenvectors of what was given, or of the layer."""
        if laplacian is None:
            if self.eigenvectors is None:
                raise ValueError("`laplacian` must be given here or when the layer is made, got neither")
            return self.eigenvectors
        Phi = laplacian[1] if isinstance(laplacian, tuple | list) else getattr(laplacian, "eigenvectors", None)
        if isinstance(laplacian, Laplacian) or not isinstance(Phi, Tensor):
            raise TypeError(
                "`laplacian` must be the tensors (eigenvalues, eigenvectors) made by SpectralConv.prepare, "
                f"got {type(laplacian).__name__}"
            )
        if Phi.dim() != 2 or Phi.shape[1] < self.n_eigenvectors:
            raise ValueError(
                f"`laplacian` must have eigenvectors of shape (n_vertices, {self.n_eigenvectors}), or with more "
                f"columns, got {tuple(Phi.shape)}"
            )
        return Phi[:, : self.n_eigenvectors].to(self.weight.dtype)

    def _check(self, x: Tensor, Phi: Tensor) -> None:
        check_floating(x)
        n = Phi.shape[0]
        if x.dim() not in (2, 3) or x.shape[-2:] != (n, self.in_channels):
            raise ValueError(
                f"`x` must have shape ({n}, {self.in_channels}) or (batch, {n}, {self.in_channels}), "
                f"got {tuple(x.shape)}"
            )
        if not x.device == Phi.device == self.weight.device:
            raise ValueError(
                f"`x` must be on the device of the layer and of the eigenvectors, {self.weight.device} and "
                f"{Phi.device}, got {x.device}"
            )
        check_finite(x)


def spline_matrix(n_points: int, n_coeffs: int) -> FloatArray:
    """Return the values of B-splines at equally spaced points of their interval, shape (n_points, n_coeffs).

    The splines are cubic where there are four or more, else of degree n_coeffs − 1; their knots are equally spaced, and
    they add up to one everywhere.
    """
    degree = min(3, n_coeffs - 1)
    inner = np.linspace(0.0, 1.0, n_coeffs - degree + 1)
    knots = np.concatenate([np.zeros(degree), inner, np.ones(degree)])
    points = np.linspace(0.0, 1.0, n_points)
    return BSpline.design_matrix(points, knots, degree).toarray()


def first_eigenpairs(laplacian: GraphLike, k: int) -> tuple[FloatArray, FloatArray]:
    """Return the k smallest eigenvalues and their eigenvectors; vertices without edges come last."""
    L = as_laplacian(laplacian)
    if k > L.n_vertices:
        raise ValueError(f"`n_eigenvectors` must be at most the number of vertices {L.n_vertices}, got {k}")
    joined, alone = np.flatnonzero(L.diagonal), np.flatnonzero(L.diagonal == 0)
    m = min(k, joined.size)
    lam, Phi = np.zeros(k), np.zeros((L.n_vertices, k))
    if m:
        lam[:m], Phi[joined, :m] = _smallest(L, joined, m)
    Phi[alone[: k - m], np.arange(m, k)] = 1.0
    return np.maximum(lam, 0.0), Phi


def _smallest(L: Laplacian, joined: Any, m: int) -> tuple[FloatArray, FloatArray]:
    """Return the m smallest eigenpairs on the vertices that have edges."""
    if joined.size == L.n_vertices and (L.has_eigenbasis or L.n_vertices <= EIGENBASIS_VERTICES):
        return L.eigenvalues[:m], L.eigenvectors[:, :m]
    A = L.matrix[joined][:, joined]
    if A.shape[0] <= EIGENBASIS_VERTICES or m > A.shape[0] // 4:
        lam, Phi = np.linalg.eigh(A.toarray())
        return lam[:m], Phi[:, :m]
    start = np.random.default_rng(0).standard_normal(A.shape[0])
    cost = factorisation_cost(L)
    if cost.seconds < _FACTORISATION_SECONDS and fits(cost.n_bytes, available_memory()):
        shift = _SHIFT * L.lmax
        shifted = (A + shift * sparse.eye_array(A.shape[0])).tocsc()  # positive definite, so no pivoting is needed
        factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        inverse = LinearOperator(A.shape, matvec=factors.solve, dtype=A.dtype)
        return eigsh(A, m, sigma=-shift, OPinv=inverse, v0=start)
    flipped = (L.lmax * sparse.eye_array(A.shape[0]) - A).tocsr()
    lam, Phi = eigsh(flipped, m, which="LA", v0=start, ncv=min(A.shape[0], max(2 * m, 40)), maxiter=10_000)
    return L.lmax - lam[::-1], Phi[:, ::-1]
