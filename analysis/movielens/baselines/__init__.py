"""Matrix completion without networks: short solvers of the problems that the paper compares with.

- :mod:`~analysis.movielens.baselines.nuclear`: nuclear norm (MC), and with features of both sides (IMC);
- :mod:`~analysis.movielens.baselines.graph_completion`: nuclear norm and smoothness on both graphs (GMC);
- :mod:`~analysis.movielens.baselines.smooth_factors`: factors that are smooth on both graphs (GRALS);
- :mod:`~analysis.movielens.baselines.bias_model`, :mod:`~analysis.movielens.baselines.neighbours` and
  :mod:`~analysis.movielens.baselines.implicit_feedback`: what models without graphs reach;
- :mod:`~analysis.movielens.baselines.choice`: the settings of each, chosen on validation ratings.

Each solver takes :class:`~analysis.movielens.baselines.observed.Observed` and returns the whole matrix.
"""
