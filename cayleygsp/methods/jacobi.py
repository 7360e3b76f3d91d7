r"""The paper's scheme: Jacobi iterations for :math:`(h\Delta + iI) y_j = (h\Delta - iI) y_{j-1}`, Eq. (7), eq:Jaco."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cayleygsp._typing import Array, ComplexArray, FloatArray
from cayleygsp.bounds.contraction import jacobi_decay, jacobi_error
from cayleygsp.bounds.jacobi import adjoint_sweep_rounding, summation_floor, sweep_rounding
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import Applied, FilterMethod, column_norms, over, within_single_range
from cayleygsp.methods.powers import accumulated_error, sum_powers
from cayleygsp.methods.solvers import residual_norms
from cayleygsp.responses.cayley import CayleyPolynomial

if TYPE_CHECKING:
    from cayleygsp.engine.jacobi import JacobiSweeps


class JacobiMethod(FilterMethod):
    r"""K sweeps per power: :math:`y \leftarrow J y + b_j` from :math:`y = b_j`.

    Here :math:`E = \mathrm{Diag}(h\Delta + iI)`, :math:`b_j = E^{-1}(h\Delta - iI) y_{j-1}` and
    :math:`J = I - E^{-1}(h\Delta + iI)`. The start vector is one application already, so that what is left after
    K sweeps is :math:`J^{K+1}`. All products are of the real Laplacian with real and imaginary parts together.

    With ``normalize`` every y_j is rescaled to the norm of the signal, as the paper suggests: the filter is then no
    longer linear.
    """

    name = "jacobi"

    def __init__(
        self, L: Laplacian, p: CayleyPolynomial, n_iter: int, normalize: bool, gains: FloatArray | None = None
    ) -> None:
        super().__init__(L, [p], gains)
        self.polynomial = p
        self.n_iter = n_iter
        self.normalize = normalize
        self.E = p.zoom * L.diagonal[:, None] + 1j

    def working_dtype(self, dtype: Any) -> Any:
        """Work in the precision of the signals, as the paper does, where graph and coefficients are in its range."""
        p, lmax = self.polynomial, self.laplacian.lmax
        fits = within_single_range(lmax, max(p.zoom * lmax, 1.0), float(np.abs(p.coeffs).max()))
        return dtype if fits else np.float64

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter; with ``certify``, one more product per power measures the residual that it ends with."""
        p, L, K = self.polynomial, self.laplacian, self.n_iter
        bound: float | FloatArray = np.inf
        if not self.normalize:
            bound = self._bound(sweep_rounding(L, p.zoom, K, f.dtype), f.dtype)
        certify = certify or self.normalize  # then no other bound holds
        norms = column_norms(f)
        histories: list[FloatArray] = []
        steps: list[FloatArray] = []

        def next_power(y_prev: ComplexArray, j: int) -> ComplexArray:
            y, history = self._solve(y_prev, record=certify)
            if self.normalize:
                y *= over(norms, column_norms(y)).astype(f.dtype)
            if certify:
                # twice the residual of z = (y_{j-1} - y)/2i in (hΔ + iI) z = y_{j-1} bounds the error of the step
                now, before = y.astype(np.complex128), y_prev.astype(np.complex128)
                steps.append(over(2 * residual_norms(L, p.zoom, 1j, (before - now) / 2j, before), norms))
                histories.append(np.array([over(r, norms) for r in history] + [steps[-1]]))
            return y

        total = sum_powers(p, f, next_power)
        if certify:
            bound = np.minimum(accumulated_error(p, steps) + summation_floor(p, f.dtype), bound)
        return Applied(total[None], np.broadcast_to(bound, (1, f.shape[1])), p.order * (K + 1), tuple(histories))

    def apply_adjoint(self, f: Array, *, certify: bool) -> Applied:
        r"""Apply the transposed operator.

        The filter is :math:`c_0 I + 2\,\mathrm{Re} \sum_j c_j P^j` with
        :math:`P = (\sum_{k \le K} J^k) E^{-1}(h\Delta - iI)`. Transposed,
        :math:`P^\top = (h\Delta - iI) (\sum_{k \le K} J^k) E^{-1}`, which is another operator as soon as degrees
        differ.
        """
        if self.normalize:
            raise ValueError("`normalize=True` makes the Jacobi filter non-linear: it has no adjoint")
        sweeps = self._sweeps(f.dtype)

        def next_power(y_prev: ComplexArray, j: int) -> ComplexArray:
            return sweeps.transposed(y_prev, self.n_iter)

        p, K = self.polynomial, self.n_iter
        bound = self._bound(adjoint_sweep_rounding(self.laplacian, p.zoom, K, f.dtype), f.dtype)
        return Applied(sum_powers(p, f[0], next_power), bound, p.order * (K + 1))

    def _solve(self, y_prev: ComplexArray, *, record: bool) -> tuple[ComplexArray, list[FloatArray]]:
        """Return y_j after K sweeps, and the residual norm before each of them."""
        y_prev = np.ascontiguousarray(y_prev)
        sweeps = self._sweeps(y_prev.real.dtype)
        b = sweeps.start(y_prev)  # E^{-1} (hΔ - i) y_{j-1}
        y, spare = b.copy(), np.empty_like(b)
        history: list[FloatArray] = []
        if not record:
            return sweeps.sweep(b, y, spare, self.n_iter), history
        for _ in range(self.n_iter):
            sweeps.sweep(b, y, spare)
            history.append(column_norms(self.E.astype(y.dtype) * (spare - y)))
            y, spare = spare, y
        return y, history

    def _sweeps(self, dtype: Any) -> JacobiSweeps:
        """Return the compiled sweeps in the precision of the signals."""
        from cayleygsp.engine.jacobi import JacobiSweeps

        graph = self.laplacian.kernel_graph(dtype, reorder=False)
        return JacobiSweeps(graph, self.polynomial.zoom, self.laplacian.diagonal)

    def _bound(self, rounding: float, dtype: Any) -> float:
        """Return the sharp bound, which transposition does not change, with what rounding adds to the contraction."""
        p = self.polynomial
        a = jacobi_decay(self.laplacian, p.zoom, "sharp").contraction(self.n_iter) + rounding
        return jacobi_error(p, a) + summation_floor(p, dtype)
