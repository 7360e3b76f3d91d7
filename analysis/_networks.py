"""The networks of the paper's first experiment: names, sizes and how their curves are drawn."""

from __future__ import annotations

from typing import Any

N_COMMUNITIES = 15
N_FEATURES = 32
ORDERS = (1, 3, 5, 7, 9, 11, 13)
SWEEPS = (1, 5, 9, 13)
EXACT, CHEBYSHEV, CHEBNET = "exact", "chebyshev", "ChebNet"

# Black for the reference, colours of Okabe and Ito for the rest; markers and dashes tell them apart in grey.
STYLES: dict[str, dict[str, Any]] = {
    EXACT: {"color": "#000000", "linestyle": "--", "marker": "o"},
    CHEBYSHEV: {"color": "#D55E00", "linestyle": "-", "marker": "x"},
    "jacobi 13": {"color": "#0072B2", "linestyle": "-", "marker": "v"},
    "jacobi 9": {"color": "#009E73", "linestyle": "-", "marker": "^"},
    "jacobi 5": {"color": "#56B4E9", "linestyle": "-", "marker": "s"},
    "jacobi 1": {"color": "#CC79A7", "linestyle": "-", "marker": "D"},
    CHEBNET: {"color": "#E69F00", "linestyle": ":", "marker": "*"},
}
