"""What a fit is: a polynomial of low order, its target, and how near it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cayleygsp._format import format_at_most
from cayleygsp._typing import FloatArray, GraphLike, LaplacianKind, Method
from cayleygsp.design.distance import Certificate, largest_distance, largest_response
from cayleygsp.design.lawson import Solution
from cayleygsp.design.problem import Norm, Over, Problem
from cayleygsp.design.waves import Wave
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.chebyshev import ChebyshevPolynomial

if TYPE_CHECKING:
    from cayleygsp.filters import CayleyFilter, ChebyshevFilter

# A response this many times above the target is worth a word.
_FAR_ABOVE = 2.0


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted polynomial and how near it came; :meth:`on` makes it a filter of a graph.

    Attributes
    ----------
    polynomial : CayleyPolynomial or ChebyshevPolynomial
        The fit.
    target : callable
        What was fitted.
    lmax : float
        Right end of the interval of frequencies.
    norm : {"least-squares", "minimax"}
        What was made small.
    residual_rms : float
        Root of the mean square of the distance from the target, weighted as asked for.
    rms_is_estimated : bool
        Whether the weights of that mean are an estimate of the spectral density.
    residual_max : float
        The largest distance from the target outside its transition bands, over what ``over`` says; never below the
        true one if ``certificate`` is "proved". An ideal step has both its values at its cutoff: on an interval no
        continuous response is nearer to it than 1/2.
    over : {"eigenvalues", "frequencies", "interval"}
        Where ``residual_max`` holds: at the computed eigenvalues of a graph, rounding included; at the frequencies that
        were given; or at every frequency of [0, lmax], which is said of a graph whose spectrum is only estimated.
    certificate : {"proved", "sampled"}
        "sampled" for a function of which nothing is known but its values, looked at in many places.
    lower_bound : float
        No polynomial of the order, at this zoom, has a smaller ``residual_max``. Zero if it is not known: for least
        squares, where a ridge was used, and where rounding left directions of the basis out.
    coeff_norm : float
        Euclidean norm of the coefficients. When it is far above the response, terms cancel.
    peak : float
        Largest absolute response over all of [0, lmax], also where the fit had no weight: a proved upper bound.
    zoom : float or None
        The zoom of a Cayley fit.
    nodes, weights : numpy.ndarray, shape (m,)
        Frequencies at which the target was compared, and their weights in the fit, summing to 1.
    has_transition : bool
        Whether some frequencies lie in transition bands and are not spoken of.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> fit = cg.design.fit_cayley(cg.design.Heat(3.0), order=3, lmax=8.0)
    >>> fit.polynomial.order, fit.certificate, fit.residual_rms <= fit.residual_max
    (3, 'proved', True)
    >>> fit.on(cg.gallery.ring(12)).shape
    (12, 12)
    """

    polynomial: CayleyPolynomial | ChebyshevPolynomial
    target: Callable[..., Any]
    lmax: float
    norm: Norm
    residual_rms: float
    rms_is_estimated: bool
    residual_max: float
    over: Over
    certificate: Certificate
    lower_bound: float
    coeff_norm: float
    peak: float
    zoom: float | None
    nodes: FloatArray
    weights: FloatArray
    has_transition: bool

    def __repr__(self) -> str:
        return (
            f"Fit({self.polynomial!r}, residual_rms={self.residual_rms:.3g}, residual_max={self.residual_max:.3g}, "
            f"over={self.over!r}, certificate={self.certificate!r}, coeff_norm={self.coeff_norm:.3g})"
        )

    @property
    def n_parameters(self) -> int:
        """Real numbers that describe the polynomial: coefficients, and the zoom if there is one."""
        c = self.polynomial.coeffs
        if self.zoom is None:
            return c.size
        return c.size + 1 + (c.size - 1 if np.iscomplex(c).any() else 0)

    @property
    def where(self) -> str:
        """Where ``residual_max`` holds, in words."""
        if self.over == "interval":
            every = "every frequency" if self.certificate == "proved" else "the sampled frequencies"
            place = f"at {every} of [0, {self.lmax:.4g}]"
        else:
            count = f"{self.nodes.size:,} " if self.nodes.size > 1 else ""
            noun = "eigenvalue" if self.over == "eigenvalues" else "given frequency"
            plural = "eigenvalues" if self.over == "eigenvalues" else "given frequencies"
            place = f"at the {count}{noun if self.nodes.size == 1 else plural}"
        return place + (" outside the transition" if self.has_transition else "")

    @property
    def is_far_above(self) -> bool:
        """Whether the largest response is far above that of the target."""
        return self.peak > _FAR_ABOVE * self.target_peak

    @property
    def target_peak(self) -> float:
        """The largest absolute value of the target at the points of the fit."""
        return float(np.abs(np.asarray(self.target(self.nodes), dtype=np.float64)).max())

    @property
    def summary(self) -> str:
        """Both distances, what they are over, and a word on the largest response where it is far above the target.

        Examples
        --------
        >>> from cayleygsp import design
        >>> design.fit_cayley("low:1:0.5", order=4, lmax=8.0).summary
        'distance 0.017 rms, at most 0.14 at every frequency of [0, 8] outside the transition'
        """
        rms = f"distance {self.residual_rms:.2g} rms" + (" (estimated)" if self.rms_is_estimated else "")
        text = f"{rms}, at most {format_at_most(self.residual_max, 2)} {self.where}"
        if self.certificate == "sampled":
            text += ", by sampling"
        if self.is_far_above:
            text += f"; its largest response is {self.peak:.2g}, far above the target's {self.target_peak:.2g}"
        return text

    def on(
        self, graph: GraphLike, *, method: Method = "auto", tol: float | None = 1e-6, kind: LaplacianKind | None = None
    ) -> CayleyFilter | ChebyshevFilter:
        """Return the filter of a graph with this response.

        What the fit says of its distance holds for frequencies up to its own ``lmax``.

        Parameters
        ----------
        graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
            See :func:`cayleygsp.laplacian`.
        method, tol, kind
            As for :class:`CayleyFilter` and :class:`ChebyshevFilter`.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> ring = cg.gallery.ring(16)
        >>> fit = cg.design.fit_cayley("heat:1", order=3, lmax=4.0)
        >>> g = fit.on(ring)
        >>> bool(abs(g @ ([1.0] * 16) - 1).max() <= fit.residual_max + 1e-6)
        True
        """
        # upwards: the one place where a fit needs to know what a filter is
        from cayleygsp.filters import CayleyFilter, ChebyshevFilter

        bind: Callable[..., CayleyFilter | ChebyshevFilter] = ChebyshevFilter if self.zoom is None else CayleyFilter
        return bind(graph, self.polynomial, method=method, tol=tol, kind=kind)


def report_fit(
    problem: Problem,
    polynomial: CayleyPolynomial | ChebyshevPolynomial,
    wave: Wave,
    norm: Norm,
    solution: Solution,
    zoom: float | None,
) -> Fit:
    """Measure a fitted polynomial against its target."""
    difference = polynomial(problem.nodes) - problem.values
    distance = largest_distance(wave, problem)
    return Fit(
        polynomial=polynomial,
        target=problem.target,
        lmax=problem.lmax,
        norm=norm,
        residual_rms=float(np.sqrt(problem.mean_weights @ difference**2)),
        rms_is_estimated=problem.is_estimated,
        residual_max=distance.value,
        over=problem.over,
        certificate=distance.certificate,
        lower_bound=solution.lower_bound,
        coeff_norm=float(np.linalg.norm(polynomial.coeffs)),
        peak=largest_response(wave, problem.lmax),
        zoom=zoom,
        nodes=problem.nodes,
        weights=problem.weights,
        has_transition=problem.is_free_somewhere,
    )
