"""The paper's recommender experiment: ratings of movies completed with a graph of the users and one of the movies.

Run ``python -m analysis.movielens``. The network has two factors of the matrix of ratings; convolutions on the two
graphs and a recurrent cell change them in ten steps. Chebyshev and Cayley filters are compared, and methods without
networks beside them. Two protocols choose the network: that of the authors' code (lowest training loss), and one with
validation ratings (``--protocol validation``).
"""

from analysis.movielens.figure import draw
from analysis.movielens.page import markdown
from analysis.movielens.results import error_table, findings, network_table
from analysis.movielens.script import compute, main

__all__ = ["compute", "draw", "error_table", "findings", "main", "markdown", "network_table"]
