"""The ways to apply g(Δ) to signals.

Each method prepares once (expands, factors, builds a hierarchy) and is applied often:

- :mod:`~cayleygsp.methods.eigenbasis`: exact, by the eigenvectors of a small graph;
- :mod:`~cayleygsp.methods.factorisation`: exact, by a sparse factorisation of hΔ + iI;
- :mod:`~cayleygsp.methods.jacobi`: the paper's scheme, K sweeps per power;
- :mod:`~cayleygsp.methods.series`: one real recurrence for the whole response;
- :mod:`~cayleygsp.methods.multigrid`: conjugate gradients for hΔ + iI behind a multigrid cycle on hΔ + I;
- :mod:`~cayleygsp.methods.groups`: a bank whose filters go different ways;
- :mod:`~cayleygsp.methods.choice`: which of them, by predicted cost (:mod:`~cayleygsp.methods.costs`,
  :mod:`~cayleygsp.methods.plans`).

All take real blocks of signals of shape (n, m) and return an :class:`~cayleygsp.methods.base.Applied`.
"""
