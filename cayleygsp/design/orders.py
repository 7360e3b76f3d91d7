"""The lowest order that reaches a distance from a target."""

from __future__ import annotations

from typing import Literal

from cayleygsp._typing import Kernel
from cayleygsp._validation import check_choice, check_integer, check_positive
from cayleygsp.design.fit import Fit
from cayleygsp.design.fitting import (
    DEFAULT_RIDGE,
    MAX_CAYLEY_ORDER,
    MAX_CHEBYSHEV_ORDER,
    chebyshev_solution,
    fit_cayley,
    report_chebyshev,
)
from cayleygsp.design.problem import Weight


def least_order(
    target: Kernel | str,
    max_error: float,
    lmax: float,
    weight: Weight = None,
    *,
    family: Literal["cayley", "chebyshev"] = "cayley",
    max_order: int | None = None,
    ridge: float | None = None,
    real_coeffs: bool = False,
) -> Fit:
    """Return the minimax fit of the least order that stays within an error.

    Parameters
    ----------
    target, lmax, weight
        As in :func:`fit_cayley`.
    max_error : float
        The largest distance allowed, > 0.
    family : {"cayley", "chebyshev"}
        Which polynomials. For Chebyshev ones without a ridge a lower bound of the error rules out every order below,
        except that an order which 400 rounds do not settle, or whose basis is not whole to rounding, is taken not to
        be enough; ``lower_bound`` of a fit of one order less tells. For Cayley ones the zoom is searched at every
        order, and a better one may have been missed.
    max_order : int, optional
        The largest order to try; by default, and at most, the largest of a fit, 48 for Cayley polynomials and 512 for
        Chebyshev ones.
    ridge : float, optional
        As in :func:`fit_cayley`; by default 0 for Chebyshev polynomials and 1e-6 for Cayley ones.
    real_coeffs : bool
        For Cayley polynomials, whether to use cosines alone.

    Returns
    -------
    Fit
        Of the least order, with ``norm`` "minimax".

    Raises
    ------
    ValueError
        If no order up to ``max_order`` is enough.

    Examples
    --------
    >>> from cayleygsp import design
    >>> fits = [design.least_order("low:1:1", 0.1, 40.0, family=f) for f in ("cayley", "chebyshev")]
    >>> [fit.polynomial.order for fit in fits]
    [2, 15]
    """
    error = check_positive(max_error, "max_error")
    check_choice(family, "family", ("cayley", "chebyshev"))
    last = MAX_CAYLEY_ORDER if family == "cayley" else MAX_CHEBYSHEV_ORDER
    if max_order is not None:
        last = min(check_integer(max_order, "max_order", at_least=1), last)
    if family == "cayley":
        mu = DEFAULT_RIDGE if ridge is None else ridge
        for r in range(1, last + 1):
            fit = fit_cayley(target, r, lmax, "auto", weight, real_coeffs=real_coeffs, ridge=mu, norm="minimax")
            if fit.residual_max <= error:
                return fit
        raise _out_of_orders(family, error, last)
    mu = 0.0 if ridge is None else ridge

    def enough(r: int) -> bool:
        return chebyshev_solution(target, r, lmax, weight, mu, "minimax", error)[0].error <= error

    low, high = 0, 1  # low is not enough
    while not enough(high):
        if high == last:
            raise _out_of_orders(family, error, last)
        low, high = high, min(2 * high, last)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    # the points of the fit may be within the error, and a frequency between them not
    for r in range(high, last + 1):
        solution, problem = chebyshev_solution(target, r, lmax, weight, mu, "minimax")
        fit = report_chebyshev(problem, "minimax", solution)
        if fit.residual_max <= error:
            return fit
    raise _out_of_orders(family, error, last)


def _out_of_orders(family: str, error: float, last: int) -> ValueError:
    return ValueError(
        f"`max_error` must be larger: no {family} polynomial up to order {last} was found within {error:g}"
    )
