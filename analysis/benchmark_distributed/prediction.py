r"""What larger clusters would take, from measured sizes: an estimate.

One degree of one signal takes

.. math:: t = \frac{e\,c}{W} + \frac{(1 + q)\,W\,\tau}{s} + \frac{8\,h}{b},

with e entries of the matrix, c seconds of one core per entry, W workers with one part each, q neighbours of a part,
τ seconds of the scheduler per task, s degrees for one exchange, h the halo of a part and b bytes per second between
workers. The halo follows the measured law :math:`h = \alpha m^\beta` of the m vertices of a part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis._document import Document
from analysis.benchmark_distributed.settings import EDGES_PER_VERTEX, PREDICTED_EDGES, PREDICTED_WORKERS

# Bytes of a worker for a vertex: vertices, degrees and row starts, states and kept ones; and for an entry.
VERTEX_BYTES, ENTRY_BYTES = 160, 12


def halo_law(rows: Sequence[Document]) -> tuple[float, float]:
    """Return factor and exponent of the halo as a power of the size of a part, by least squares of logarithms."""
    sizes = np.log([row["mean_part"] for row in rows])
    slope, shift = np.polyfit(sizes, np.log([row["mean_halo"] for row in rows]), 1)
    return float(np.exp(shift)), float(slope)


def predict(halos: Sequence[Document], costs: Document) -> list[Document]:
    """Return seconds of a degree for each kind of graph, number of edges and number of workers.

    Parameters
    ----------
    halos : sequence of dict
        Counted halos.
    costs : dict
        ``entry_seconds``, ``task_seconds`` and ``bandwidth``.
    """
    rows = []
    for name in dict.fromkeys(row["graph"] for row in halos):
        counted = [row for row in halos if row["graph"] == name]
        factor, exponent = halo_law(counted)
        neighbours = counted[-1]["neighbours"]
        for edges in PREDICTED_EDGES:
            for workers in PREDICTED_WORKERS:
                part = edges / EDGES_PER_VERTEX / workers
                halo = min(factor * part**exponent, edges / EDGES_PER_VERTEX - part)
                row: Document = {
                    "graph": name,
                    "n_edges": edges,
                    "n_workers": workers,
                    "compute": 2 * edges / workers * costs["entry_seconds"],
                    "tasks": (1 + min(neighbours, workers - 1)) * workers * costs["task_seconds"],
                    "wire": 8 * halo / costs["bandwidth"],
                    "worker_bytes": VERTEX_BYTES * (part + halo) + ENTRY_BYTES * 2 * edges / workers,
                }
                row["seconds"] = row["compute"] + row["tasks"] + row["wire"]
                row["efficiency"] = row["compute"] / row["seconds"]
                rows.append(row)
    return rows
