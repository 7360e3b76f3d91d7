"""The ways to apply a bank of responses g_i(Δ) to signals; a single filter is a bank of one.

Each method prepares once (expands, factors, builds a hierarchy) and is applied often:

- :mod:`~cayleygsp.methods.eigenbasis`: exact, by the eigenvectors of a small graph;
- :mod:`~cayleygsp.methods.series`: one real recurrence for all responses;
- :mod:`~cayleygsp.methods.powers`: a Cayley polynomial by solves with hΔ + iI, one for each power;
- :mod:`~cayleygsp.methods.poles`: a rational response by solves with Δ - pI, one pole after the other;
- :mod:`~cayleygsp.methods.jacobi`: the paper's scheme, K sweeps per power.

Systems are solved by sparse factors or by conjugate gradients behind a multigrid :mod:`~cayleygsp.methods.cycle`
(:mod:`~cayleygsp.methods.solvers`). Which method is taken says :mod:`~cayleygsp.methods.choice`, by predicted
:mod:`~cayleygsp.methods.costs`.

All take real blocks of signals of shape (n, m) and return an :class:`~cayleygsp.methods.base.Applied` whose signals
have shape (n_filters, n, m).
"""
