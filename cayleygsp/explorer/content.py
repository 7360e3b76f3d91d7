"""The content of a page: the graph, its frequencies, filters, and the state at the start."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import linalg, sparse

from cayleygsp._text import printable
from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp._validation import check_integer, check_positive, check_vertex
from cayleygsp.bounds.contraction import row_rounding
from cayleygsp.density import lowest_frequencies
from cayleygsp.explorer.layout import force_layout
from cayleygsp.explorer.presets import PRESETS, preset_coefficients
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian
from cayleygsp.report.frequencies import find_frequencies
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley

# What a page of at most five megabytes, and a browser that redraws it many times per second, can carry.
MOST_VERTICES, MOST_EDGES = 20_000, 250_000

# Orders that a preset can have on the page, and the largest of any filter.
PRESET_ORDERS, MOST_ORDER = 16, 64

# The zooms that the slider goes between, times λ_max, and how far a zoom that is given can stretch it.
ZOOM_RANGE, MOST_ZOOM = (0.1, 1e4), 1e6

# Characters of a label that are kept, and of all labels together.
_LABEL_LENGTH, _LABELS_LENGTH = 40, 400_000


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


@dataclass(frozen=True)
class Start:
    """What a page shows when it is opened without a fragment; None: something that suits the graph.

    Attributes
    ----------
    vertex : int, optional
        Where the impulse is.
    zoom : float, optional
        h > 0.
    order : int
        Of the preset.
    """

    vertex: int | None = None
    zoom: float | None = None
    order: int = 8


def page_content(
    graph: Graph,
    L: Laplacian,
    filters: Sequence[NamedFilter],
    start: Start,
    rng: np.random.Generator | int | None,
) -> dict[str, Any]:
    """Return the content of the page, ready for JSON.

    Parameters
    ----------
    graph : Graph
        Coordinates, labels and name.
    L : Laplacian
        Of the same vertices.
    filters : sequence of NamedFilter
        Filters of one's own; the first is shown at first.
    start : Start
        Where to start.
    rng : numpy.random.Generator or int, optional
        For layout and spectral density.
    """
    _check_size(L)
    h = None if start.zoom is None else _check_zoom(start.zoom, L)
    order = _check_order(start.order)
    vertex = None if start.vertex is None else check_vertex(start.vertex, L.n_vertices)
    own = [_filter(one, L) for one in filters]
    frequencies = shown_frequencies(L, rng)
    coords = force_layout(graph.W, rng) if graph.coords is None else graph.coords[:, :2]
    if h is None:
        h = own[0]["zoom"] if own else _within(_zoom_range(L), frequencies.start_zoom)
    zooms = [h, *(one["zoom"] for one in own), *_zoom_range(L)]
    return {
        "name": graph.name,
        "laplacian": _laplacian(L),
        "places": _places(coords),
        "labels": _labels(graph),
        "frequencies": _frequencies(frequencies),
        "presets": {name: _preset(name, words) for name, words in PRESETS.items()},
        "filters": own,
        "zooms": [min(zooms), max(zooms)],
        "start": {
            "vertex": _middle_vertex(L, coords) if vertex is None else vertex,
            "zoom": h,
            "order": order,
            "filter": "own:0" if own else "low",
        },
    }


def _check_size(L: Laplacian) -> None:
    """Reject a graph that is too large for a page."""
    if L.n_vertices > MOST_VERTICES:
        raise ValueError(f"`graph` must have at most {MOST_VERTICES:,} vertices for a page, got {L.n_vertices:,}")
    if L.n_edges > MOST_EDGES:
        raise ValueError(f"`graph` must have at most {MOST_EDGES:,} edges for a page, got {L.n_edges:,}")


def _check_order(order: int) -> int:
    r = check_integer(order, "order", at_least=1)
    if r > PRESET_ORDERS:
        raise ValueError(f"`order` must be at most {PRESET_ORDERS}, got {r}")
    return r


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


def _preset(name: str, words: str) -> dict[str, Any]:
    all_orders = [preset_coefficients(name, r) for r in range(1, PRESET_ORDERS + 1)]
    return {
        "words": words,
        "real": [c.real.round(9).tolist() for c in all_orders],
        "imag": [c.imag.round(9).tolist() for c in all_orders],
    }


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


def _frequencies(frequencies: ShownFrequencies) -> dict[str, Any]:
    return {"values": packed(frequencies.values.astype(np.float32)), "certificate": frequencies.certificate}


def _zoom_range(L: Laplacian) -> tuple[float, float]:
    low, high = ZOOM_RANGE
    return low / (L.lmax or 1.0), high / (L.lmax or 1.0)


def _within(limits: tuple[float, float], value: float) -> float:
    return min(max(value, limits[0]), limits[1])


def _middle_vertex(L: Laplacian, coords: FloatArray) -> int:
    """Return the vertex of the largest component that is drawn nearest to the middle of it."""
    own = np.flatnonzero(L.components == np.bincount(L.components).argmax())
    distance = np.linalg.norm(coords[own] - coords[own].mean(axis=0), axis=1)
    return int(own[distance.argmin()])


# All frequencies of graphs up to this size are computed, in time that grows with its cube: some seconds.
MOST_DENSE = 3000

# How many of the lowest frequencies stand out on the page; the first is zero.
_MARKED = 15

# Of others, so many of the lowest, and points for equal shares of the rest.
_LOWEST, _POINTS = 40, 960


@dataclass(frozen=True, eq=False)
class ShownFrequencies:
    """Frequencies to draw.

    Attributes
    ----------
    values : numpy.ndarray
        Ascending, not negative.
    certificate : {"exact", "estimated"}
        Whether they are all eigenvalues, or the lowest ones and then one for each of equal shares of the others,
        estimated from the spectral density.
    start_zoom : float
        The zoom that gives half of the half circle to the lowest 15 frequencies, or to half of them if they are few.
    """

    values: FloatArray
    certificate: Literal["exact", "estimated"]
    start_zoom: float


def shown_frequencies(L: Laplacian, rng: np.random.Generator | int | None = None) -> ShownFrequencies:
    """Return the eigenvalues of a small graph, an estimate of those of another.

    Parameters
    ----------
    L : Laplacian
        The graph.
    rng : numpy.random.Generator or int, optional
        For the probes of the estimate.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.explorer.content import shown_frequencies
    >>> shown_frequencies(cg.laplacian(cg.gallery.ring(8))).values.round(2)
    array([0.  , 0.59, 0.59, 2.  , 2.  , 3.41, 3.41, 4.  ])
    """
    if L.has_eigenbasis or L.n_vertices <= MOST_DENSE:
        # eigenvalues alone take a fraction of the time of the basis
        lam = L.eigenvalues if L.has_eigenbasis else linalg.eigvalsh(L.matrix.toarray(), overwrite_a=True)
        lam = np.maximum(lam, 0.0)
    else:
        frequencies = find_frequencies(L, rng)
        lowest = lowest_frequencies(L, _LOWEST, rng)[0]
        shares = (_LOWEST + (np.arange(_POINTS) + 0.5) * (L.n_vertices - _LOWEST) / _POINTS) / L.n_vertices
        lam = np.append(lowest, np.maximum(frequencies.at_shares(shares), lowest[-1]))
    return ShownFrequencies(lam, "exact" if lam.size == L.n_vertices else "estimated", _start_zoom(lam, L.lmax))


def _start_zoom(lam: FloatArray, lmax: float) -> float:
    positive = lam[lam > 1e-9 * lmax]
    return 1 / float(positive[min(_MARKED - 2, positive.size // 2)]) if positive.size else 1.0


def packed(values: ArrayLike) -> dict[str, Any]:
    """Return an array as a type, a length and base64 text; one that is constant as its value.

    Parameters
    ----------
    values : array_like, shape (m,)
        Whole numbers that are not negative, or real ones.

    Returns
    -------
    dict
        ``type`` is one of "constant", "uint16", "uint32", "float32", "float64": the narrowest that loses nothing.

    Examples
    --------
    >>> from cayleygsp.explorer.content import packed
    >>> packed([1, 2, 3])
    {'type': 'uint16', 'length': 3, 'data': 'AQACAAMA'}
    >>> packed([0.5, 0.5])
    {'type': 'constant', 'length': 2, 'data': 0.5}
    """
    array = np.asarray(values)
    if array.size and (array == array[0]).all():
        return {"type": "constant", "length": array.size, "data": array[0].item()}
    narrow = _narrowest(array)
    data = base64.b64encode(narrow.astype(narrow.dtype.newbyteorder("<")).tobytes()).decode("ascii")
    return {"type": narrow.dtype.name, "length": array.size, "data": data}


def _narrowest(array: Array) -> Array:
    if array.dtype.kind in "ui":
        return array.astype(np.uint16 if array.max(initial=0) < 2**16 else np.uint32)
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    return single if (single == array).all() else array.astype(np.float64)


def script_json(content: Any) -> str:
    r"""Return JSON that may stand within a script element: no text in it can end the element or begin another.

    Parameters
    ----------
    content : object
        What :mod:`json` takes; all numbers finite.

    Examples
    --------
    >>> from cayleygsp.explorer.content import script_json
    >>> print(script_json("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
