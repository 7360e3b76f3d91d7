"""Graphs in parts on worker processes: time, bytes and memory against one process, and what larger clusters would take.

Run ``python -m analysis.benchmark_distributed``. Every number of workers has a cluster of its own, of processes with
one thread, and stands beside one process with as many threads in the same rounds.
"""

from analysis.benchmark_distributed.figure import draw
from analysis.benchmark_distributed.page import markdown
from analysis.benchmark_distributed.script import main

__all__ = ["draw", "main", "markdown"]
