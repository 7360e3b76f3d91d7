"""Time, memory and error of a Cayley filter against the size of the graph, its order, its zoom and the signals.

Run ``python -m analysis.benchmark_scaling``. Every size has a process of its own, so that the memory of one is not
counted for another. Jacobi and the exact filter stand beside where they finish.
"""

from analysis.benchmark_scaling.figure import draw
from analysis.benchmark_scaling.page import markdown
from analysis.benchmark_scaling.script import main

__all__ = ["draw", "main", "markdown"]
