"""Several filters on one graph, applied in one pass."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from cayleygsp._typing import Array, ArrayLike, GraphLike, Kernel, LaplacianKind, Method
from cayleygsp._validation import check_choice, check_integer, check_numbers, check_positive
from cayleygsp.filters.application import Application, ConvergenceWarning, FilterInfo, check_gain, warn_of_error
from cayleygsp.filters.base import GraphFilter
from cayleygsp.filters.frames import (
    LARGEST_BOUND,
    complement_of,
    frame_bounds,
    frame_response,
    invert_frame,
    invert_tight_frame,
)
from cayleygsp.filters.polynomials import CayleyFilter
from cayleygsp.laplacians import laplacian
from cayleygsp.methods.base import relative
from cayleygsp.methods.choice import METHODS, Choice
from cayleygsp.responses.analytic import Heat
from cayleygsp.responses.base import Response
from cayleygsp.responses.function import as_response
from cayleygsp.responses.tight import tight_bank


class FilterBank:
    r"""Several filters on one graph, applied to a block of signals; those that can share one recurrence.

    Like a single filter, a bank warns if the tolerance could not be certified, or if the result overflows.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`.
    responses : sequence
        Cayley polynomials (zooms may differ), Chebyshev polynomials and functions of frequency.
    method : {"auto", "exact", "jacobi", "chebyshev", "multigrid"}
        "auto" chooses for each filter, where the number of signals is known: most share one recurrence, and one with
        an extreme zoom does not make all pay. "chebyshev" and, on small graphs, "exact" take all filters together.
    tol : float
        Error allowed to each filter, relative to its gain.
    kind : {"combinatorial", "normalized"}, optional
        Which Laplacian, if the graph does not say.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> zooms = [0.1, 1.0, 10.0]
    >>> bank = cg.FilterBank(cg.gallery.grid(20), [cg.CayleyPolynomial([0.5, -0.25], h) for h in zooms])
    >>> bank.filter(np.ones((400, 5))).shape
    (400, 5, 3)
    """

    def __init__(
        self,
        graph: GraphLike,
        responses: Response | Kernel | Sequence[Response | Kernel],
        *,
        method: Method = "auto",
        tol: float = 1e-6,
        kind: LaplacianKind | None = None,
    ) -> None:
        given = [responses] if callable(responses) else responses
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise TypeError(
                f"`responses` must be a response, a function of frequency or a sequence of them, got {responses!r}"
            )
        self.responses = [as_response(p, name=f"responses[{i}]") for i, p in enumerate(given)]
        if not self.responses:
            raise ValueError("`responses` must hold at least one filter, got none")
        self.laplacian = laplacian(graph, kind)
        check_choice(method, "method", METHODS)
        self.tol = check_positive(tol, "tol")
        for i, p in enumerate(self.responses):
            check_gain(self.laplacian, p, f"responses[{i}]")
        self._choice = Choice(self.laplacian, self.responses, method, self.tol, best_effort=True)
        self.gains = self._choice.gains
        self._tight_bound: float | None = None  # what the squared responses add up to, where that is known to be one

    @classmethod
    def tight(
        cls,
        graph: GraphLike,
        name: str = "meyer",
        n_filters: int = 6,
        *,
        method: Method = "auto",
        tol: float = 1e-6,
        kind: LaplacianKind | None = None,
    ) -> FilterBank:
        """Return a tight frame by its name: filters whose squared responses add up to one on the whole spectrum.

        Parameters
        ----------
        graph, method, tol, kind
            As for :class:`FilterBank`.
        name : {"meyer", "itersine"}
            Which, see :func:`cayleygsp.responses.tight_bank`; both are proved, with a tolerance that is relative to
            one. Meyer's wavelets are smoother, and need fewer products for a small tolerance.
        n_filters : int
            How many, at least 2.

        Examples
        --------
        >>> import numpy as np
        >>> import cayleygsp as cg
        >>> bank = cg.FilterBank.tight(cg.gallery.grid(8), "meyer", 4)
        >>> bank.frame_bounds()
        (1.0, 1.0)
        >>> f = np.arange(64.0)
        >>> bool(np.allclose(bank.reconstruct(bank.filter(f), tol=1e-5), f, atol=1e-2))
        True
        """
        L = laplacian(graph, kind)
        bank = cls(L, tight_bank(name, n_filters, max(L.lmax, L.lmax_bound) or 1.0), method=method, tol=tol)
        bank._tight_bound = 1.0
        return bank

    def complement(self, bound: float | None = None) -> FilterBank:
        r"""Return the bank with one filter more, :math:`\sqrt{b - \sum_i g_i(\Delta)^2}`, which makes it a tight frame.

        Parameters
        ----------
        bound : float, optional
            b, what the squared responses then add up to: at least a thousandth more than they do now at any frequency,
            and a tenth more by default. The nearer it is, the steeper the new response, and the more products it takes.

        Returns
        -------
        FilterBank
            Its frame bounds are both b, and :meth:`reconstruct` needs no iteration. The new filter is proved if those
            of this bank are: where the sum of the squares is a polynomial up to a proved error, the root of what is
            left is analytic in an ellipse that the distance from zero proves.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> bank = cg.FilterBank(cg.gallery.ring(16), [cg.responses.Heat(1.0)]).complement(bound=2.0)
        >>> len(bank), bank.frame_bounds()
        (2, (2.0, 2.0))
        """
        new = complement_of(self.laplacian, self.responses, bound)
        bank = FilterBank(self.laplacian, [*self.responses, new], method=self._choice.asked, tol=self.tol)
        bank._tight_bound = new.bound
        return bank

    @classmethod
    def from_pygsp(cls, pygsp_filter: Any, *, method: Method = "auto", tol: float = 1e-6) -> FilterBank:
        r"""Return the bank of a PyGSP filter, on its graph, with a tolerance in place of an order.

        Parameters
        ----------
        pygsp_filter : pygsp.filters.Filter
            Any of PyGSP's filters, or one of your own; its kernels are taken as they are. ``Modulation`` is refused: it
            multiplies by the eigenvectors of the graph, and is no function of frequency. Errors are
            proved for ``Heat``, whose scale PyGSP counts in units of :math:`1/\lambda_{max}`; of other kernels samples
            are known.
        method, tol
            As for :class:`FilterBank`.

        Examples
        --------
        >>> from pygsp import filters, graphs
        >>> import cayleygsp as cg
        >>> G = graphs.Ring(60)
        >>> G.estimate_lmax()
        >>> bank = cg.FilterBank.from_pygsp(filters.Heat(G, [1, 10]), tol=1e-9)
        >>> len(bank), bank.filter([1.0] + 59 * [0.0], return_info=True)[1].certificate
        (2, 'proved')
        """
        from pygsp import filters

        if not isinstance(pygsp_filter, filters.Filter):
            raise TypeError(f"`pygsp_filter` must be a pygsp.filters.Filter, got {type(pygsp_filter).__name__}")
        if not isinstance(pygsp_filter._kernels, list) or len(pygsp_filter._kernels) != pygsp_filter.n_filters:
            raise ValueError(
                f"`pygsp_filter` must have one function of frequency per filter, got {type(pygsp_filter).__name__}, "
                "which multiplies by the eigenvectors of its graph and is known at their eigenvalues alone"
            )
        kernels: list[Any] = [_flat(kernel) for kernel in pygsp_filter._kernels]
        if isinstance(pygsp_filter, filters.Heat):
            scales = [scale / pygsp_filter.G.lmax for scale in np.atleast_1d(pygsp_filter.scale)]
            # a normalized kernel is a multiple of the heat kernel, by its value at zero
            kernels = [float(k(np.zeros(1))[0]) * Heat(s) for k, s in zip(kernels, scales, strict=True)]
        return cls(pygsp_filter.G, kernels, method=method, tol=tol)

    @property
    def method(self) -> str:
        """How the filters were applied last, or one signal would be: the names of all methods that are used."""
        return self._choice.latest.method.name

    @property
    def methods(self) -> tuple[str, ...]:
        """The method of each filter."""
        return self._choice.latest.method.filter_names()

    @property
    def reason(self) -> str:
        """Why these methods."""
        return self._choice.latest.reason

    def __len__(self) -> int:
        return len(self.responses)

    def __iter__(self) -> Iterator[GraphFilter]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> GraphFilter:
        """Return one of the filters."""
        n = len(self)
        if isinstance(index, int | np.integer) and not -n <= index < n:
            raise IndexError(f"`index` must be between {-n} and {n - 1}, got {index}")
        response = self.responses[check_integer(index, "index", at_least=-n)]
        if response.cayley_form is not None:
            return CayleyFilter(self.laplacian, response.cayley_form, method=self._choice.asked, tol=self.tol)
        return GraphFilter(self.laplacian, response, method=self._choice.asked, tol=self.tol)

    def __repr__(self) -> str:
        return f"FilterBank(n_filters={len(self)}, n_vertices={self.laplacian.n_vertices}, method={self.method!r})"

    def evaluate(self, eigenvalues: ArrayLike) -> Array:
        """Return the responses, shape (n_filters,) followed by that of the frequencies."""
        return np.stack([response(eigenvalues) for response in self.responses])

    @overload
    def filter(self, signals: ArrayLike, *, return_info: Literal[False] = False) -> Array: ...
    @overload
    def filter(self, signals: ArrayLike, *, return_info: Literal[True]) -> tuple[Array, FilterInfo]: ...

    def filter(self, signals: ArrayLike, *, return_info: bool = False) -> Array | tuple[Array, FilterInfo]:
        """Apply all filters to all signals (analysis).

        Parameters
        ----------
        signals : array_like, shape (n_vertices,) or (n_vertices, n_signals)
            As for :meth:`GraphFilter.filter`.
        return_info : bool
            Also return what is known of the result; bounds and gains come one per filter.

        Returns
        -------
        filtered : numpy.ndarray
            Shape of the signals followed by the number of filters.
        info : FilterInfo
            Only with ``return_info``.
        """
        f = self.laplacian.check_signals(signals)
        done = Application(self._choice, f, float(self.gains.max()), certify=return_info)
        # a response of zero has nothing to lose by underflow
        nothing = (self.gains[:, None] == 0) & (np.asarray(done.applied.error_bound) == 0)
        bounds = np.where(nothing, 0.0, done.bounds).max(axis=1, initial=0.0)
        if done.overflows or not done.is_enough(bounds, self.gains):
            worst = int(np.argmax(relative(bounds, self.gains)))
            done.warn("the bank", float(bounds[worst]), float(self.gains[worst]), f"the error of filter {worst}")
        filtered = np.stack(done.signals, axis=-1)
        return (filtered, done.info(bounds, self.gains, methods=True)) if return_info else filtered

    @overload
    def synthesize(self, coefficients: ArrayLike, *, return_info: Literal[False] = False) -> Array: ...
    @overload
    def synthesize(self, coefficients: ArrayLike, *, return_info: Literal[True]) -> tuple[Array, FilterInfo]: ...

    def synthesize(self, coefficients: ArrayLike, *, return_info: bool = False) -> Array | tuple[Array, FilterInfo]:
        r"""Apply the adjoint: filter i to the i-th signals, and add up.

        Parameters
        ----------
        coefficients : array_like, shape (n_vertices, n_filters) or (n_vertices, n_signals, n_filters)
            As :meth:`filter` returns them.
        return_info : bool
            Also return what is known of the result.

        Returns
        -------
        signals : numpy.ndarray, shape (n_vertices,) or (n_vertices, n_signals)
            The sum.
        info : FilterInfo
            Only with ``return_info``. The error bound is relative to the norm of all coefficients of a signal together:
            with :math:`e_i` for the filters it is :math:`\sqrt{\sum_i e_i^2}`. The gain is likewise the root of the
            sum of the filters' squared gains.
        """
        c = self._check_coefficients(coefficients)
        gain = float(np.linalg.norm(self.gains / (self.gains.max() or 1.0)) * self.gains.max())
        done = Application(self._choice, np.moveaxis(c, -1, 0), gain, adjoint=True, certify=return_info)
        worst = float(done.bounds.max(initial=0.0))
        if done.overflows or not done.is_enough(worst, gain):
            done.warn("the synthesis", worst, gain)
        (signals,) = done.signals
        return (signals, done.info(done.block.bound(done.bounds[0]), gain, methods=True)) if return_info else signals

    def _check_coefficients(self, coefficients: ArrayLike) -> Array:
        c = check_numbers(coefficients, "coefficients")
        n = self.laplacian.n_vertices
        if c.ndim not in (2, 3) or c.shape[0] != n or c.shape[-1] != len(self):
            raise ValueError(f"`coefficients` must have shape ({n}, [n_signals,] {len(self)}), got {c.shape}")
        return c

    def frame_bounds(self) -> tuple[float, float]:
        r"""Return A and B with :math:`A\|f\|^2 \le \sum_i \|g_i(\Delta)f\|^2 \le B\|f\|^2` for every signal.

        They hold on the whole interval that the spectrum lies in, not only at samples: the sum of the squared responses
        is expanded in a series, whose extremes are bounded between the points where it is looked at. They are proved if
        the responses are; of responses of which samples are known it is looked at up to where Lanczos steps see the end
        of the spectrum. A is 0 where the sum cannot be told from 0: it is known to about 1e-7 of B.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> heat = cg.responses.Heat(1.0)
        >>> A, B = cg.FilterBank(cg.gallery.ring(16), [heat, 0.5 * heat]).frame_bounds()
        >>> round(B, 5)
        1.25
        """
        if self._tight_bound is not None:
            return self._tight_bound, self._tight_bound
        return frame_bounds(self.laplacian, self.responses, tol=self.tol)

    @overload
    def reconstruct(self, coefficients: ArrayLike, *, tol: float = ..., return_info: Literal[False] = ...) -> Array: ...
    @overload
    def reconstruct(
        self, coefficients: ArrayLike, *, tol: float = ..., return_info: Literal[True]
    ) -> tuple[Array, FilterInfo]: ...

    def reconstruct(
        self, coefficients: ArrayLike, *, tol: float = 1e-10, return_info: bool = False
    ) -> Array | tuple[Array, FilterInfo]:
        r"""Return the signals whose coefficients come nearest to the given ones, which undoes :meth:`filter`.

        A tight frame is inverted by its synthesis. Otherwise :math:`S x = \sum_i g_i(\Delta) c_i` is solved with the
        frame operator :math:`S = \sum_i g_i(\Delta)^2` by conjugate gradients, and the error is at most the residual
        over A. Raises ValueError if the bank is no frame: A is not proved to be positive.

        Parameters
        ----------
        coefficients : array_like, shape (n_vertices, n_filters) or (n_vertices, n_signals, n_filters)
            As :meth:`filter` returns them.
        tol : float
            Error allowed, relative to the norm of the coefficients over :math:`\sqrt A`, which bounds the signal's.
        return_info : bool
            Also return what is known of the result; the error bound is relative to the norm of the coefficients.

        Examples
        --------
        >>> import numpy as np
        >>> import cayleygsp as cg
        >>> low = cg.responses.Tikhonov(1.0)
        >>> bank = cg.FilterBank(cg.gallery.ring(16), [low, cg.CayleyPolynomial([0.5, -0.25], 1.0)], tol=1e-12)
        >>> f = np.arange(16.0)
        >>> bool(np.allclose(bank.reconstruct(bank.filter(f)), f))
        True
        """
        check_positive(tol, "tol")
        c = self._check_coefficients(coefficients)
        A, B = self.frame_bounds()
        if not A >= 1 / LARGEST_BOUND:
            raise ValueError(
                f"`reconstruct` needs a frame: the sum of the squared responses is only known to be between {A:.3g} "
                f"and {B:.3g} on the spectrum; add a filter that passes what the others stop, or scale the responses"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            method, closer = self._choice.asked, min(self.tol, 0.1 * tol)
            precise = FilterBank(self.laplacian, self.responses, method=method, tol=closer)
            if self._tight_bound is not None:
                signals, info = invert_tight_frame(precise.synthesize, c, A, tol=tol)
            else:
                # as near as rounding allows: what they miss is counted in the end
                S = GraphFilter(self.laplacian, frame_response(self.responses), method="auto", tol=None)
                signals, info = invert_frame(S, precise.synthesize, c, A, tol=tol)
        if not info.converged:
            worst = float(np.max(info.error_bound))
            overflows = info.certificate == "none"
            warn_of_error("the reconstruction", tol, worst, float(info.gain), overflows, signals.dtype)
        return (signals, info) if return_info else signals


def _flat(kernel: Kernel) -> Kernel:
    """Return a kernel whose values have the shape of the frequencies; some of PyGSP's put an axis in front."""
    return lambda eigenvalues: np.asarray(kernel(eigenvalues)).reshape(np.shape(eigenvalues))
