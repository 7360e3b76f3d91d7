"""The content of a page: the graph, its frequencies, filters to start from, and the state at the start."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from cayleygsp._text import printable
from cayleygsp._typing import Array, ArrayLike, ComplexArray, FloatArray
from cayleygsp._validation import check_integer, check_positive, check_vertex
from cayleygsp.bounds.contraction import row_rounding
from cayleygsp.density import lowest_frequencies
from cayleygsp.explorer.layout import force_layout
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian
from cayleygsp.report.frequencies import find_frequencies
from cayleygsp.responses.basis import basis_coefficients, power_basis
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley

# What a page of at most five megabytes, and a browser that redraws it many times per second, can carry.
MOST_VERTICES, MOST_EDGES = 20_000, 250_000

# Orders that a preset can have on the page, and the largest of any filter.
PRESET_ORDERS, MOST_ORDER = 16, 64

# The zooms that the slider goes between, times λ_max, and how far a zoom that is given can stretch it.
ZOOM_RANGE, MOST_ZOOM = (0.1, 1e4), 1e6

# Characters of a label that are kept, and of all labels together.
_LABEL_LENGTH, _LABELS_LENGTH = 40, 400_000

# All frequencies of graphs up to this size are computed, in time that grows with its cube: some seconds.
MOST_DENSE = 3000

# How many of the lowest frequencies stand out on the page; the first is zero.
_MARKED = 15

# Of others, so many of the lowest, and points for equal shares of the rest.
_LOWEST, _POINTS = 40, 960

# What each preset is, in the order in which they are shown.
PRESETS = {
    "low": "low pass, below λ = 1/h",
    "band": "band pass, around λ = 1/h",
    "high": "high pass, above λ = 1/h",
    "heat": "heat, exp(−hλ)",
}

# Where the ideal low, band and high pass are 1, as angles.
_PASSES = {"low": (0.0, np.pi / 2), "band": (np.pi / 3, 2 * np.pi / 3), "high": (np.pi / 2, np.pi)}

# Points of the half circle at which heat is fitted, and the weight of the coefficients' own size: over half a circle
# the functions are nearly dependent.
_FITTED_POINTS, _RIDGE = 512, 1e-3


@dataclass(frozen=True)
class NamedFilter:
    """A filter with a name, which the page offers beside the presets.

    Attributes
    ----------
    name : str
        What it is called.
    polynomial : CayleyPolynomial
        Coefficients, and the zoom that the page sets when the filter is chosen.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.explorer.NamedFilter("mine", cg.CayleyPolynomial([0.5, -0.25], zoom=2.0)).name
    'mine'
    """

    name: str
    polynomial: CayleyPolynomial


def page_content(
    graph: Graph,
    L: Laplacian,
    filters: Sequence[NamedFilter],
    vertex: int | None,
    zoom: float | None,
    order: int,
    rng: np.random.Generator | int | None,
) -> dict[str, Any]:
    """Return the content of the page, ready for JSON; vertex, zoom and order are what it shows initially."""
    if L.n_vertices > MOST_VERTICES:
        raise ValueError(f"`graph` must have at most {MOST_VERTICES:,} vertices for a page, got {L.n_vertices:,}")
    if L.n_edges > MOST_EDGES:
        raise ValueError(f"`graph` must have at most {MOST_EDGES:,} edges for a page, got {L.n_edges:,}")
    h = None if zoom is None else _check_zoom(zoom, L)
    order = check_integer(order, "order", at_least=1)
    if order > PRESET_ORDERS:
        raise ValueError(f"`order` must be at most {PRESET_ORDERS}, got {order}")
    vertex = None if vertex is None else check_vertex(vertex, L.n_vertices)
    own = [_filter(one, L) for one in filters]
    lam = shown_frequencies(L, rng)
    coords = force_layout(graph.W, rng) if graph.coords is None else graph.coords[:, :2]
    low, high = (h_lmax / (L.lmax or 1.0) for h_lmax in ZOOM_RANGE)
    if h is None:
        h = own[0]["zoom"] if own else min(max(_start_zoom(lam, L.lmax), low), high)
    zooms = [h, *(one["zoom"] for one in own), low, high]
    certificate = "exact" if lam.size == L.n_vertices else "estimated"
    return {
        "name": graph.name,
        "laplacian": _laplacian(L),
        "places": _places(coords),
        "labels": _labels(graph),
        "frequencies": {"values": packed(lam.astype(np.float32)), "certificate": certificate},
        "presets": {name: {"words": words} | _preset(name) for name, words in PRESETS.items()},
        "filters": own,
        "zooms": [min(zooms), max(zooms)],
        "start": {
            "vertex": _middle_vertex(L, coords) if vertex is None else vertex,
            "zoom": h,
            "order": order,
            "filter": "own:0" if own else "low",
        },
    }


def _check_zoom(zoom: float, L: Laplacian) -> float:
    h = check_positive(zoom, "zoom")
    if not 1 / MOST_ZOOM <= h * (L.lmax or 1.0) <= MOST_ZOOM:
        raise ValueError(
            f"`zoom` times the bound of the spectrum {L.lmax:.6g} must be between {1 / MOST_ZOOM:g} and {MOST_ZOOM:g} "
            f"for a page, got {h:g}"
        )
    return h


def _filter(one: NamedFilter, L: Laplacian) -> dict[str, Any]:
    p = as_cayley(one.polynomial, "filters")
    if p.order > MOST_ORDER:
        raise ValueError(f"`filters` must have an order of at most {MOST_ORDER} for a page, got {p.order}")
    return {
        "name": printable(one.name),
        "zoom": _check_zoom(p.zoom, L),
        "real": p.coeffs.real.tolist(),
        "imag": p.coeffs.imag.tolist(),
    }


def _preset(name: str) -> dict[str, Any]:
    all_orders = [preset_coefficients(name, r).round(9) for r in range(1, PRESET_ORDERS + 1)]
    return {"real": [c.real.tolist() for c in all_orders], "imag": [c.imag.tolist() for c in all_orders]}


def preset_coefficients(name: str, r: int) -> ComplexArray:
    r"""Return the coefficients of one of the explorer's filters, for :class:`CayleyPolynomial` with any zoom.

    They are functions of the angle on the half circle: with :math:`h\lambda = \tan(\varphi/2)`, :math:`\varphi` from 0
    to π is the way along it from frequency zero to infinity, and :math:`\lambda = 1/h` is halfway. Low, band and high
    pass are the Fourier series of the ideal ones, damped by Jackson's kernel: it is positive, so that no response
    leaves [0, 1]. The band pass is divided by its value at the middle. Heat is fitted by least squares.
    """
    if name == "heat":
        return _heat(r)
    c = _damped_pass(*_PASSES[name], r)
    # at hλ = 1 the transform is -i, and coefficients are real
    middle = float(c[0] + 2 * (c[1:] * np.cos(np.arange(1, r + 1) * np.pi / 2)).sum())
    return (c / middle if name == "band" else c).astype(np.complex128)


def _damped_pass(first: float, last: float, r: int) -> FloatArray:
    """Return real coefficients of the even function that is 1 between two angles, damped by Jackson's kernel."""
    j = np.arange(1, r + 1)
    step = np.pi / (r + 2)
    damping = ((r + 2 - j) * np.cos(j * step) + np.sin(j * step) / np.tan(step)) / (r + 2)
    fourier = (np.sin(j * last) - np.sin(j * first)) / (np.pi * j)
    # C = exp(i (φ - π)): every other power changes its sign
    return np.append((last - first) / np.pi, (-1.0) ** j * fourier * damping)


def _heat(r: int) -> ComplexArray:
    """Return the fit to exp(-x) that is best in the mean over the half circle."""
    x = np.tan((np.arange(_FITTED_POINTS) + 0.5) * (np.pi / (2 * _FITTED_POINTS)))
    A = power_basis(r, x)
    A = np.vstack([A, _RIDGE * np.eye(A.shape[1])])
    target = np.append(np.exp(-x), np.zeros(A.shape[1]))
    return basis_coefficients(np.linalg.lstsq(A, target, rcond=None)[0])


def _laplacian(L: Laplacian) -> dict[str, Any]:
    """Return the matrix as it is, to the last bit, and numbers that bounds need."""
    upper = sparse.triu(L.matrix, k=1, format="csr")
    upper.sort_indices()
    upper = upper.tocoo()
    return {
        "kind": L.kind,
        "n_vertices": L.n_vertices,
        "n_edges": L.n_edges,
        "lmin": L.lmin,
        "lmax": L.lmax,
        "guaranteed": L.lmax_guaranteed,
        "rows": packed(upper.row.astype(np.int64)),
        "columns": packed(upper.col.astype(np.int64)),
        "values": packed(upper.data),
        "diagonal": packed(L.diagonal),
        # see cayleygsp.bounds.contraction.jacobi_factor
        "row_rounding": row_rounding(L),
        "off_diagonal_norm": max(1.0, L.lmax_bound - 1, 1 - L.lmin) if L.kind == "normalized" else None,
    }


def _places(coords: FloatArray) -> dict[str, Any]:
    """Return positions in a square of 65,535 units a side, the proportions kept, y upwards."""
    low = coords.min(axis=0, initial=np.inf)
    size = float((coords.max(axis=0, initial=-np.inf) - low).max()) if len(coords) else 0.0
    units = np.zeros((len(coords), 2)) if size == 0 else (coords - low) / size * 65535
    return {"x": packed(units[:, 0].round().astype(np.int64)), "y": packed(units[:, 1].round().astype(np.int64))}


def _labels(graph: Graph) -> list[str] | None:
    if graph.labels is None:
        return None
    labels = [str(label)[:_LABEL_LENGTH] for label in graph.labels.tolist()]
    return labels if sum(map(len, labels)) <= _LABELS_LENGTH else None


def _middle_vertex(L: Laplacian, coords: FloatArray) -> int:
    """Return the vertex of the largest component that is drawn nearest to the middle of it."""
    own = np.flatnonzero(L.components == np.bincount(L.components).argmax())
    distance = np.linalg.norm(coords[own] - coords[own].mean(axis=0), axis=1)
    return int(own[distance.argmin()])


def shown_frequencies(L: Laplacian, rng: np.random.Generator | int | None = None) -> FloatArray:
    """Return all eigenvalues of a small graph, of another the lowest and an estimate for equal shares of the rest."""
    if L.has_eigenbasis or L.n_vertices <= MOST_DENSE:
        # eigenvalues alone take a fraction of the time of the basis
        lam = L.eigenvalues if L.has_eigenbasis else linalg.eigvalsh(L.matrix.toarray(), overwrite_a=True)
        return np.maximum(lam, 0.0)
    frequencies = find_frequencies(L, rng)
    lowest = lowest_frequencies(L, _LOWEST, rng)[0]
    shares = (_LOWEST + (np.arange(_POINTS) + 0.5) * (L.n_vertices - _LOWEST) / _POINTS) / L.n_vertices
    return np.append(lowest, np.maximum(frequencies.at_shares(shares), lowest[-1]))


def _start_zoom(lam: FloatArray, lmax: float) -> float:
    """Return the zoom that gives half of the half circle to the lowest 15 frequencies, or to half of them if few."""
    positive = lam[lam > 1e-9 * lmax]
    return 1 / float(positive[min(_MARKED - 2, positive.size // 2)]) if positive.size else 1.0


def packed(values: ArrayLike) -> dict[str, Any]:
    """Return an array as a type, a length and base64 text; one that is constant as its value.

    Whole numbers that are not negative become uint16 or uint32, real ones float32 or float64: the narrowest that loses
    nothing.
    """
    array = np.asarray(values)
    if array.size and (array == array[0]).all():
        return {"type": "constant", "length": array.size, "data": array[0].item()}
    if array.dtype.kind in "ui":
        narrow: Array = array.astype(np.uint16 if array.max(initial=0) < 2**16 else np.uint32)
    else:
        with np.errstate(over="ignore"):
            narrow = array.astype(np.float32)
        narrow = narrow if (narrow == array).all() else array.astype(np.float64)
    data = base64.b64encode(narrow.astype(narrow.dtype.newbyteorder("<")).tobytes()).decode("ascii")
    return {"type": narrow.dtype.name, "length": array.size, "data": data}


def script_json(content: Any) -> str:
    """Return JSON that may stand within a script element: no text in it can end the element or begin another."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
