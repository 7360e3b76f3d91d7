"""What every call of a filter or a bank goes through, and what it tells: bounds of errors, and warnings."""

from __future__ import annotations

import math
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from cayleygsp._format import ShortRepr, format_at_most
from cayleygsp._typing import FloatArray
from cayleygsp.filters.signals import n_columns, signal_block
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import filter_gain
from cayleygsp.methods.choice import Choice
from cayleygsp.responses.base import Response


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
        Largest response over an interval that holds the spectrum, as far as it is known, never overestimated; ``tol``
        is relative to it. For a bank one per filter, for a synthesis the root of the sum of their squares. The filters
        of Itersine and Meyer count as having a gain of one, also where they lie above all frequencies of the graph.
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
        gain = np.broadcast_to(self.gain, np.shape(self.error_bound))
        ratio = np.divide(self.error_bound, gain, out=np.zeros(gain.shape), where=gain > 0)
        return ratio if ratio.ndim else float(ratio)


class Application:
    """A call of a filter or of a bank: a method is chosen and applied, and its answers are brought back and bounded.

    Parameters
    ----------
    choice : Choice
        Knows the responses, the method for so many signals, and the tolerance.
    signals : numpy.ndarray or SignalsApart
        As the Laplacian's ``check_signals`` returns them; for the adjoint one block for each filter, in front.
    gain : float
        Largest gain of the filters, of the adjoint that of all together.
    adjoint, certify : bool
        Whether each block goes through its own filter, and the answers are added up; whether costly bounds are wanted.

    Attributes
    ----------
    signals : list of numpy.ndarray
        An answer for each filter, in the shape and type of the caller's signals; of the adjoint their sum alone.
    bounds : numpy.ndarray, shape (n_answers, n_columns)
        Bounds of the errors for each real column, the way back included; what is not a number counts as infinite.
    overflows : bool
        Whether some answer is not finite.
    """

    def __init__(self, choice: Choice, signals: Any, gain: float, *, adjoint: bool = False, certify: bool) -> None:
        self.chosen = choice.at(n_columns(signals, by_filter=adjoint))
        self.tol = choice.tol
        method = self.chosen.method
        self.block = signal_block(signals, method, gain, by_filter=adjoint)
        self.applied = (method.apply_adjoint if adjoint else method.apply)(self.block.real, certify=certify)
        answers = [self.applied.signals] if adjoint else self.applied.signals
        restored = [self.block.restore(y) for y in answers]
        self.signals = [one.signals for one in restored]
        self.overflows = any(one.overflows for one in restored)
        bounds: FloatArray = self.applied.error_bound + np.array([one.rounding for one in restored])
        unknown = math.isnan(sum(bounds.ravel().tolist()))
        self.bounds = np.where(np.isnan(bounds), np.inf, bounds) if unknown else bounds

    def is_enough(self, bound: float | FloatArray, gain: float | FloatArray) -> bool:
        """Compare bounds with the tolerance; without one, they must be finite."""
        enough = bound <= (sys.float_info.max if self.tol is None else self.tol * gain)
        return enough if isinstance(enough, bool) else bool(np.all(enough))

    def warn(self, who: str, bound: float, gain: float, whose: str = "the error") -> None:
        """Warn of a bound that is not enough, or of an overflow."""
        warn_of_error(who, self.tol, bound, gain, self.overflows, self.block.dtype, whose)

    def info(self, error_bound: float | FloatArray, gain: float | FloatArray, *, methods: bool = False) -> FilterInfo:
        """Return what is known of the answers, with the method of each filter if asked for."""
        (method, reason), note = self.chosen, self.applied.note
        return FilterInfo(
            method=method.name,
            error_bound=error_bound,
            converged=self.is_enough(error_bound, gain),
            n_matvecs=self.applied.n_matvecs,
            tol=self.tol,
            gain=gain,
            certificate=method.certificate if np.isfinite(error_bound).all() else "none",
            reason=f"{reason}; {note}" if note else reason,
            residuals=self.applied.residuals,
            methods=method.filter_names() if methods else (),
        )


# Larger responses leave no room for sums of them.
_LARGEST_GAIN = 1e305

# Squares of larger numbers are not finite.
_LARGEST_ZOOM = 1e150


def check_gain(L: Laplacian, response: Response, name: str) -> None:
    """Reject a response on a graph if it is not known on all of the spectrum, or too large to compute with."""
    zoom = 0.0 if response.cayley_form is None else response.cayley_form.zoom
    if zoom > _LARGEST_ZOOM / max(L.lmax, 1.0):
        raise ValueError(
            f"`{name}` must have a zoom of at most {_LARGEST_ZOOM:g}, also where it is multiplied by the bound "
            f"{L.lmax:.3g} of the spectrum, got {zoom:.3g}"
        )
    if L.lmax_bound > response.highest_frequency * (1 + 1e-12):
        raise ValueError(
            f"`{name}` must be known on all of the spectrum, which may reach up to {L.lmax_bound:.12g}, got "
            f"{response!r} that was made for frequencies up to {response.highest_frequency:.12g}"
        )
    if response.lowest_frequency > 0:
        raise ValueError(
            f"`{name}` must be known on all of the spectrum, which begins at 0, got {response!r} that was made for "
            f"frequencies from {response.lowest_frequency:.12g} on"
        )
    gain = filter_gain(L, response)
    if not gain <= _LARGEST_GAIN:
        raise ValueError(
            f"`{name}` must have responses of at most {_LARGEST_GAIN:g} on the spectrum, as larger ones leave the "
            f"range of numbers, got {gain:.3g}; scale the coefficients down"
        )


def warn_of_error(
    who: str, tol: float | None, bound: float, gain: float, overflows: bool, dtype: Any, whose: str = "the error"
) -> None:
    """Warn, at the line that called this package, that the tolerance was not certified or the result overflows.

    ``who`` could not certify ``tol``: the error of what is called ``whose`` is at most ``bound``, which is compared
    with ``gain``.
    """
    if overflows:
        text = f"the result overflows: it holds numbers beyond the range of {np.dtype(dtype)}; no bound is certified"
    else:
        wanted = "any accuracy" if tol is None else f"tol={tol:.3g}"
        largest = format_at_most(bound / gain if gain else bound, 3)
        reached = f"{largest} of the gain" if gain else f"{largest}, and the gain is zero"
        text = (
            f"{who} could not certify {wanted}: {whose} is at most {reached} (zoom, size and precision of the signals "
            "and tolerance decide what rounding and underflow allow)"
        )
    frame, depth = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("cayleygsp.", "scipy.")):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, ConvergenceWarning, stacklevel=depth)
