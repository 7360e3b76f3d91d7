"""The paper's citation network: papers are classified by their words and by whom they cite.

Run ``python -m analysis.cora``. Two splits of Cora, with CayleyNets, ChebNets, GCN, GAT, MoNet and DCNN as in the
paper's tables (``--split standard``, ``--split extended``), accuracy by order as in its figure (``--show orders``), and
what the CayleyNets learned (``--show responses``).
"""

from analysis.cora.figure import draw
from analysis.cora.page import markdown
from analysis.cora.results import accuracy_table, findings
from analysis.cora.script import compute, main

__all__ = ["accuracy_table", "compute", "draw", "findings", "main", "markdown"]
