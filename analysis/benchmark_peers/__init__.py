"""Speed against other ways to filter a graph signal in Python, and against the memory of the machine.

Run ``python -m analysis.benchmark_peers``. Every row is measured side by side in one process: the same input, errors
against a reference first, then times in turns. The exit code says nothing of the figures.

A group of rows is a function ``rows(sizes, args, step)`` in a file of its own; ``script.PARTS`` lists them, and
``--only`` takes some.
"""

from analysis.benchmark_peers.page import draw, markdown
from analysis.benchmark_peers.script import main

__all__ = ["draw", "main", "markdown"]
