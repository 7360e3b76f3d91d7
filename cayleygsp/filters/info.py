"""What is known of filtered signals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayleygsp._format import ShortRepr
from cayleygsp._typing import FloatArray


class ConvergenceWarning(UserWarning):
    """The tolerance could not be certified; the message says what could, or that the result overflows.

    Examples
    --------
    >>> import warnings
    >>> import cayleygsp as cg
    >>> g = cg.CayleyFilter(cg.gallery.ring(20), cg.CayleyPolynomial([0.5, -0.25], zoom=5.0), tol=1e-17)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     y, info = g.filter([1.0] * 20, return_info=True)
    >>> caught[-1].category is cg.ConvergenceWarning, info.converged
    (True, False)
    """


@dataclass(frozen=True, repr=False)
class FilterInfo(ShortRepr):
    r"""What is known of filtered signals.

    Attributes
    ----------
    method : str
        The method that was used; for a bank whose filters were applied by several, their names.
    error_bound : float or numpy.ndarray
        An upper bound of :math:`\|Gf - y\|_2 / \|f\|_2`, rounding and underflow included: one number, one per signal,
        or one per filter of a bank. Infinite where the result is beyond the range of its type; never NaN.
    converged : bool
        Whether the bound is within ``tol`` times the gain. Never for a result that is not finite.
    n_matvecs : int
        Passes over the graph: products of the Laplacian with all signals at once. The paper's scheme takes
        r (K + 1) of them.
    tol : float or None
        The tolerance that was asked for.
    gain : float or numpy.ndarray
        Largest response over the spectrum as far as it is known, never overestimated; ``tol`` is relative to it. For a
        bank one per filter, for a synthesis the root of the sum of their squares. The filters of Itersine and Meyer
        count as having a gain of one, also where they lie above all frequencies of the graph.
    certificate : {"proved", "estimated", "sampled", "none"}
        What the bound rests on: "estimated" if it rests on a λ_max that is not guaranteed (a Laplacian ``with_lmax``
        below ``lmax_bound``, or a Chebyshev filter with such an ``lmax``), "sampled" if nothing but samples is known of
        the response (a function given by a user without its slope), "none" if there is no finite bound. Where several
        hold, the last of them in this order.
    reason : str
        Why this method.
    residuals : tuple of numpy.ndarray
        For iterative methods, one array per power of shape (n_steps, n_signals): residual norms of its solve,
        relative to the signal.
    methods : tuple of str
        For a bank, the method of each filter.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> g = cg.KernelFilter(cg.gallery.ring(20), cg.responses.Heat(1.0), method="chebyshev", tol=1e-6)
    >>> y, info = g.filter([1.0] * 20, return_info=True)
    >>> info.method, info.certificate, info.converged, bool(info.error_bound <= 1e-6)
    ('chebyshev', 'proved', True, True)
    """

    method: str
    error_bound: float | FloatArray
    converged: bool
    n_matvecs: int
    tol: float | None
    gain: float | FloatArray
    certificate: str
    reason: str
    residuals: tuple[FloatArray, ...] = ()
    methods: tuple[str, ...] = ()

    @property
    def relative_error_bound(self) -> float | FloatArray:
        """The error bound over the gain, which is what ``tol`` allows."""
        gain = np.asarray(self.gain)
        ratio = np.divide(
            self.error_bound, gain, out=np.zeros(np.broadcast(self.error_bound, gain).shape), where=gain > 0
        )
        return ratio if np.ndim(self.error_bound) else float(ratio)


def with_note(reason: str, note: str) -> str:
    """Return why a method was taken, with a word on how it was applied."""
    return f"{reason}; {note}" if note else reason
