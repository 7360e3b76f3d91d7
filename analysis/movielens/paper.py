"""The figures of the paper, and of others on the same ratings."""

from __future__ import annotations

from analysis.movielens.settings import CAYLEY, CHEB4, CHEB8, GMC, GRALS, IMC, JACOBI, MC, ORTHOGONAL

# Test error (root of the mean square) of the paper's table.
RMSE = {MC: 0.973, IMC: 1.653, GMC: 0.996, GRALS: 0.945, CHEB4: 0.929, CHEB8: 0.925, CAYLEY: 0.922, JACOBI: 0.922}
RMSE[ORTHOGONAL] = RMSE[CAYLEY]

STEPS = 10_000

# Test errors along the training in the log of the authors' code, Chebyshev filters of order 4: step and error.
LOGGED = {0: 1.23, 10: 1.14, 50: 1.08, 9_880: 0.929}

# Time of a test, relative to Chebyshev filters of order 4.
TEST_TIMES = {CHEB4: 1.0, CAYLEY: 2.4, JACOBI: 2.4}

PARAMETERS = {CHEB4: 20_564, CHEB8: 23_124, CAYLEY: 23_126, JACOBI: 23_126, ORTHOGONAL: 23_126}

# Published elsewhere and not computed here.
PUBLISHED = {
    "GC-MC with features (van den Berg, Kipf and Welling 2017)": 0.905,
}
