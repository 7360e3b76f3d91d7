"""Matrix completion without networks: short solvers of the problems that the paper compares with.

- :mod:`~analysis.movielens.baselines.nuclear`: nuclear norm (MC), and with features of both sides (IMC);
- :mod:`~analysis.movielens.baselines.graph_nuclear`: nuclear norm and smoothness on both graphs (GMC);
- :mod:`~analysis.movielens.baselines.grals`: factors that are smooth on both graphs (GRALS);
- :mod:`~analysis.movielens.baselines.biases`, :mod:`~analysis.movielens.baselines.neighbours` and
  :mod:`~analysis.movielens.baselines.implicit_factors`: what models without graphs reach;
- :mod:`~analysis.movielens.baselines.search`: the settings of each, chosen on validation ratings.

Each solver takes :class:`~analysis.movielens.baselines.observed.Observed` and returns the whole matrix.
"""
