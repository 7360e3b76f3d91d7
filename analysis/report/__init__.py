"""The main report: a Cayley filter on the 15-community graph, designed, seen, used, bounded, applied by every method.

Run ``python -m analysis.report`` and open ``out/report.html``.
"""

from analysis.report.script import main

__all__ = ["main"]
