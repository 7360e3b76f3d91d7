"""The page: numbers, words and programs in one file."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from cayleygsp._files import replace_files
from cayleygsp._text import printable
from cayleygsp._typing import GraphLike, LaplacianKind
from cayleygsp.explorer.content import NamedFilter, page_content, script_json
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian
from cayleygsp.laplacians import laplacian as make_laplacian

# Programs of the page in the order in which they are read.
_SCRIPTS = ("numbers.js", "words.js", "pictures.js", "explorer.js")


def explorer_page(
    graph: GraphLike,
    laplacian: Laplacian | LaplacianKind | None = None,
    *,
    filters: Sequence[NamedFilter] = (),
    vertex: int | None = None,
    zoom: float | None = None,
    order: int = 8,
    rng: np.random.Generator | int | None = 0,
) -> str:
    r"""Return an interactive HTML page for zoom, filter and vertex, which needs neither network nor server.

    It shows the graph with the filtered impulse :math:`g(\Delta)\delta_m`, the frequencies on the half circle, the
    response over λ and over the unrolled half circle, how the impulse decays over hops, and the degree of the
    Chebyshev series beside the Jacobi sweeps for a tolerance. The state stands in the address, so that a link
    restores it.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        Up to 20,000 vertices and 250,000 edges. Drawn by its coordinates; without any, a layout is computed.
    laplacian : Laplacian or {"combinatorial", "normalized"}, optional
        Its Laplacian, or which one to make, see :func:`cayleygsp.laplacian`.
    filters : sequence of NamedFilter
        User filters, listed before the presets; the first is selected initially.
    vertex : int, optional
        Where the impulse is initially; by default in the middle of the drawing.
    zoom : float, optional
        The initial zoom; by default one that gives half of the half circle to the lowest 15 frequencies.
    order : int
        Initial order of the preset, at most 16.
    rng : numpy.random.Generator or int, optional
        For a computed layout and the spectral density of graphs beyond 3,000 vertices.

    Returns
    -------
    str
        HTML.

    Notes
    -----
    The page holds the Laplacian in double precision. The browser computes the terms
    :math:`T_k(\tilde\Delta)\delta_m` in double precision by the recurrence of the series and keeps them rounded to
    single precision, an error of at most 6e-8 times the sum of the coefficients' sizes; degree and sweeps are those of
    :func:`cayleygsp.bounds.series_degree` and :func:`cayleygsp.bounds.jacobi_sweeps` for the tolerance times the
    largest response. All eigenvalues are computed of graphs up to 3,000 vertices; of others the half circle shows the
    lowest 40 and an estimate of the density, and says so.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> page = cg.explorer.explorer_page(cg.gallery.communities(rng=0))
    >>> len(page) < 200_000, "https://" in page
    (True, False)
    """
    L = laplacian if isinstance(laplacian, Laplacian) else make_laplacian(graph, laplacian)
    G = graph if isinstance(graph, Graph) else _as_graph(graph, L)
    if G.n_vertices != L.n_vertices:
        raise ValueError(f"`laplacian` must have {G.n_vertices} vertices as the graph, got {L.n_vertices}")
    content = page_content(G, L, filters, vertex, zoom, order, rng)
    content["name"] = printable(content["name"] or "A graph")
    style, script = _read("style.css"), "\n".join(['"use strict";', *map(_read, _SCRIPTS)])
    parts = {
        "title": escape(content["name"]),
        # nothing is fetched and nothing runs but these two, whatever a graph is called
        "policy": f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}",
        "style": style,
        "script": script,
        "content": script_json(content),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match.group(1)], _read("page.html"))


def write_explorer(path: str | os.PathLike[str], graph: GraphLike, **options: Any) -> Path:
    """Write the page of :func:`explorer_page` to a file; an existing file is replaced.

    Parameters
    ----------
    path : str or os.PathLike
        Where to; it is returned as a path.
    graph, **options
        As of :func:`explorer_page`.

    Examples
    --------
    >>> import tempfile
    >>> import cayleygsp as cg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cg.explorer.write_explorer(folder + "/ring.html", cg.gallery.ring(64)).name
    'ring.html'
    """
    place = Path(path)
    replace_files({place: explorer_page(graph, **options).encode()})
    return place


def _as_graph(graph: GraphLike, L: Laplacian) -> Graph:
    """Return the edges of a Laplacian, with the coordinates of a PyGSP graph and the name of a networkx graph."""
    W = -L.matrix
    W.setdiag(0)
    W.eliminate_zeros()
    coords, name = getattr(graph, "coords", None), getattr(graph, "name", "")
    drawable = isinstance(coords, np.ndarray) and coords.ndim == 2 and coords.shape[1] in (2, 3)
    return Graph(W, coords=coords if drawable else None, name=name if isinstance(name, str) else "")


def _read(name: str) -> str:
    return (resources.files("cayleygsp.explorer") / "page" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return what a content security policy calls a text that stands in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
