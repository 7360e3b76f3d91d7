"""The paper's figures: test accuracies by model and order."""

from __future__ import annotations

from analysis._networks import CHEBNET, EXACT

# Test accuracy in %, and its deviation over the runs, for orders 1, 3, …, 13; from the source of the paper's figure.
PAPER = {
    EXACT: (90.14, 96.23, 97.26, 98.06, 98.46, 98.83, 99.14),
    "jacobi 1": (41.51, 71.49, 82.87, 88.39, 90.24, 92.24, 93.10),
    "jacobi 5": (46.79, 85.99, 88.80, 91.31, 94.14, 96.50, 97.09),
    "jacobi 9": (60.34, 88.66, 92.06, 94.21, 96.86, 97.67, 97.57),
    "jacobi 13": (63.27, 90.84, 94.04, 96.39, 97.26, 97.41, 98.07),
    CHEBNET: (32.31, 37.70, 63.13, 74.21, 80.64, 85.43, 86.91),
}
PAPER_SD = {
    EXACT: (0.52, 0.45, 0.59, 0.69, 0.41, 0.43, 0.20),
    "jacobi 1": (2.42, 3.24, 2.41, 1.93, 1.56, 0.73, 0.93),
    "jacobi 5": (4.16, 2.32, 1.59, 1.49, 1.30, 0.62, 0.91),
    "jacobi 9": (4.78, 1.59, 1.97, 1.74, 1.01, 0.62, 0.47),
    "jacobi 13": (3.36, 1.55, 0.90, 0.39, 0.68, 0.60, 0.29),
    CHEBNET: (1.14, 1.76, 2.08, 1.34, 1.70, 1.20, 1.27),
}
