r"""How far a filter reaches: mass outside the neighbourhood of a vertex, measured, fitted and proved.

The :math:`L_p` mass of :math:`G\delta_m` outside k hops of the vertex m, relative to :math:`\|G\delta_m\|_p`, is what
Definition 2 of the paper asks to fall like :math:`c\gamma^k`. :func:`decay_curve` measures it and puts beside it

- the constants c and γ that fit best;
- Theorem 4, with a word on where it is proved: its proof rests on Proposition 1, see :mod:`cayleygsp.bounds`;
- the theorem's argument with a proved bound in the place of Proposition 1;
- the tail of the Chebyshev series: a polynomial of degree k in the Laplacian reaches k hops and no further, so that
  the mass outside is at most that of the rest of the series.

A polynomial filter of order r, as Chebyshev's, reaches exactly r hops; the Jacobi scheme r(K + 1).
"""

from cayleygsp.localization.bounds import jacobi_tails, theorem_4
from cayleygsp.localization.curve import chebyshev_of_same_order, decay_curve, fit_decay
from cayleygsp.localization.distances import hops, jacobi_support
from cayleygsp.localization.mass import mass_outside
from cayleygsp.localization.result import Decay, DecayBound, DecayFit

__all__ = [
    "Decay",
    "DecayBound",
    "DecayFit",
    "chebyshev_of_same_order",
    "decay_curve",
    "fit_decay",
    "hops",
    "jacobi_support",
    "jacobi_tails",
    "mass_outside",
    "theorem_4",
]
