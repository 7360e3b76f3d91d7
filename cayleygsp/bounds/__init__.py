r"""Error bounds of the ways to approximate a Cayley filter, and what they allow.

Proposition 1 of the paper bounds the error of K Jacobi sweeps. As printed it is false for the plain algorithm, so it
is given as ``"paper"`` with a word on whether the number can be trusted, beside ``"safe"``, the proof's own recurrence
without the step that drops terms, and ``"sharp"``, which holds on every graph and needs no √n. The bound of a cut
Chebyshev series is the sum of the coefficients that are cut.

All of them bound :math:`\|Gf - \tilde Gf\|_2 / \|f\|_2` in exact arithmetic; :func:`jacobi_rounding` bounds what
rounding adds. The inverse questions are answered by :func:`jacobi_sweeps`, :func:`series_degree` and
:func:`affordable_zoom`.
"""

from cayleygsp.bounds.contraction import kappa
from cayleygsp.bounds.jacobi import affordable_zoom, jacobi_bound, jacobi_rounding, jacobi_sweeps
from cayleygsp.bounds.result import Assumption, Bound
from cayleygsp.bounds.series import series_bound, series_degree

__all__ = [
    "Assumption",
    "Bound",
    "affordable_zoom",
    "jacobi_bound",
    "jacobi_rounding",
    "jacobi_sweeps",
    "kappa",
    "series_bound",
    "series_degree",
]
