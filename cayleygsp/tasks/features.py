"""Features for a classifier: signals split into bands of frequency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from cayleygsp._format import ShortRepr, counted, format_bound
from cayleygsp._typing import Array, ArrayLike, FloatArray, GraphLike, Kernel, LaplacianKind, Method
from cayleygsp._validation import check_coefficients, check_integer, check_positive, check_signals
from cayleygsp.filters import FilterInfo
from cayleygsp.filters.bank import FilterBank
from cayleygsp.laplacians import Laplacian, laplacian
from cayleygsp.responses.base import Response
from cayleygsp.responses.function import as_response
from cayleygsp.responses.steps import DEFAULT_TRANSITION, HighPass, LowPass
from cayleygsp.tasks.denoising import check_has_edges


@dataclass(frozen=True, eq=False, repr=False)
class Features(ShortRepr):
    r"""Signals in bands of frequency; :func:`smooth_features` makes it, and ``numpy.asarray`` takes it.

    Attributes
    ----------
    values : numpy.ndarray, shape (n_vertices, n_signals * n_bands)
        The features. All bands of the first signal come first, from low to high frequencies, then those of the second:
        column ``j * n_bands + b`` is band b of signal j, so that ``values.reshape(n, n_signals, n_bands)`` takes
        them apart.
    names : tuple of str
        Of the columns, such as "signal 0, below 0.5".
    bands : tuple of Response
        The responses.
    edges : numpy.ndarray or None
        Where the bands meet; None if responses were given.
    info : FilterInfo
        What is known of the filtering; error bounds are relative to the norms of the signals, one per band.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> features = cg.tasks.smooth_features(cg.gallery.grid(6), np.ones(36), bands=2)
    >>> features.values.shape, len(features.names)
    ((36, 2), 2)
    """

    values: Array
    names: tuple[str, ...]
    bands: tuple[Response, ...]
    edges: FloatArray | None
    info: FilterInfo

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def summary(self) -> str:
        """Return a summary in two lines: the bands and the error bound."""
        n_bands = len(self.bands)
        where = (
            "of given responses" if self.edges is None else "that meet at " + ", ".join(f"{e:.3g}" for e in self.edges)
        )
        bound = format_bound(float(np.max(self.info.error_bound)))
        signals = counted(self.values.shape[1] // n_bands, "signal")
        return (
            f"{self.values.shape[1]} features: {n_bands} bands {where}, of {signals}\n"
            f"filtered by {self.info.method}, each band off by at most {bound} of the signal's norm "
            f"({self.info.certificate})"
        )


def smooth_features(
    graph: GraphLike,
    X: ArrayLike,
    bands: int | Sequence[float] | Sequence[Response | Kernel] = 4,
    *,
    transition: float = DEFAULT_TRANSITION,
    method: Method = "auto",
    tol: float = 1e-6,
    kind: LaplacianKind | None = None,
) -> Features:
    r"""Split signals into bands of frequency, all in one pass.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    X : array_like, shape (n_vertices,) or (n_vertices, n_signals)
        Features of the vertices, real or complex.
    bands : int or sequence
        How many bands, which then meet at :math:`\lambda_{max}/2, \lambda_{max}/4, \lambda_{max}/8, \dots`; or the
        frequencies at which they meet, one less than there are bands and all below :math:`\lambda_{max}`; or responses
        and functions of frequency, taken as they are.
    transition : float
        Width of the smooth step between two bands, relative to the frequency at which they meet; at most 2.
    method, tol
        As for :class:`FilterBank`.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.

    Returns
    -------
    Features
        Whose ``values`` have one column per signal and band.

    Notes
    -----
    With :math:`s_c` a smooth step down at c, the bands are :math:`s_{c_1}`, :math:`s_{c_2} - s_{c_1}`, …,
    :math:`1 - s_{c_K}`: none is negative, and they add up to 1 at every frequency, so that the features of a signal add
    up to the signal within the errors of the bands.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> X = np.random.default_rng(0).standard_normal((400, 3))
    >>> features = cg.tasks.smooth_features(cg.gallery.grid(20), X, bands=4)
    >>> features.values.shape, features.names[:2]
    ((400, 12), ('signal 0, below 1', 'signal 0, 1 to 2'))
    >>> bool(np.allclose(features.values.reshape(400, 3, 4).sum(axis=2), X, atol=1e-4))
    True
    """
    L = laplacian(graph, kind)
    f = check_signals(X, L.n_vertices, "X")
    if f.size == 0:
        raise ValueError(f"`X` must hold at least one signal, got shape {f.shape}")
    transition = check_positive(transition, "transition")
    if transition > 2:
        raise ValueError(f"`transition` must be at most 2, got {transition:g}")
    responses, labels, edges = _bands(L, bands, transition)
    filtered, info = FilterBank(L, responses, method=method, tol=tol).filter(f, return_info=True)
    n_signals = 1 if f.ndim == 1 else f.shape[1]
    names = tuple(f"signal {j}, {label}" for j in range(n_signals) for label in labels)
    return Features(filtered.reshape(L.n_vertices, -1), names, tuple(responses), edges, info)


def _bands(L: Laplacian, bands: Any, transition: float) -> tuple[list[Response], list[str], FloatArray | None]:
    """Return the responses, what they are called, and where they meet; between frequencies they add up to 1."""
    if np.ndim(bands) == 0 and not callable(bands):
        n_bands = check_integer(bands, "bands", at_least=2)
        check_has_edges(L)
        edges = L.lmax * 2.0 ** np.arange(1 - n_bands, 0)
        if not edges[0] > 0:
            raise ValueError(f"`bands` must be fewer, as the lowest would end at 0, got {n_bands}")
    else:
        given = [bands] if callable(bands) else list(bands)
        if not given:
            raise ValueError("`bands` must hold at least one frequency or response, got none")
        if any(map(callable, given)):
            if not all(map(callable, given)):
                raise TypeError("`bands` must be frequencies or responses, and not some of both")
            return [as_response(g) for g in given], [f"band {b}" for b in range(len(given))], None
        edges = check_coefficients(given, "bands")
        if edges.dtype.kind == "c" or not ((edges > 0).all() and (np.diff(edges) > 0).all()):
            raise ValueError(f"`bands` must be positive frequencies that increase, got {edges.tolist()}")
        check_has_edges(L)
        if edges[-1] >= L.lmax:
            raise ValueError(
                f"`bands` must meet below the end of the spectrum, {L.lmax:.6g}, got {edges[-1]:g}: nothing is above it"
            )
    cuts = [float(edge) for edge in edges]
    steps = [LowPass(c, transition * c) for c in cuts]
    middle = [above - below for below, above in pairwise(steps)]
    labels = [f"below {cuts[0]:.3g}", *(f"{a:.3g} to {b:.3g}" for a, b in pairwise(cuts)), f"above {cuts[-1]:.3g}"]
    return [steps[0], *middle, HighPass(cuts[-1], transition * cuts[-1])], labels, edges
