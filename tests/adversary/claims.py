"""What filters, banks, frames, fits, decay curves and spectra claim of their numbers, judged on one random case."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

import cayleygsp as cg
from tests.adversary import cases
from tests.adversary.truth import Spectrum, error, norm

# What 60 digits leave uncertain, relatively.
SLACK = 1 + mp.mpf(10) ** -20


@dataclass(frozen=True)
class Verdict:
    """What was told and what is true.

    Attributes
    ----------
    claim : str
        In words.
    basis : str
        "proved", "sampled", "estimated", or "none" where nothing was claimed.
    holds : bool
        Whether it is true.
    told, true : float
        The number that was told, and the one that it should bound.
    text : str
        How to see it again.
    """

    claim: str
    basis: str
    holds: bool
    told: float
    true: float
    text: str


METHODS = ("auto", "exact", "chebyshev", "multigrid", "jacobi")


def _outcome(act: Callable[[], Any]) -> Any:
    """Return what comes out, or the error if it is one that names its argument."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        try:
            return act()
        except (ValueError, MemoryError, TypeError) as refused:
            if "`" not in str(refused) and not isinstance(refused, MemoryError):
                raise
            return None


def _of_errors(what: str, y: np.ndarray, info: Any, f: np.ndarray, g: Any, S: Spectrum, text: str) -> Iterator[Verdict]:
    """Judge the bound of each signal, and whether ``converged`` is right."""
    bounds = np.broadcast_to(info.error_bound, f.shape[1:])
    for k in range(f.shape[1]):
        size = norm([float(x) for x in f[:, k]])
        off = error(y[:, k], S.filtered(g.exact, f[:, k]))
        told, where = mp.mpf(float(bounds[k])), f"{text}, signal {k}"
        holds = off <= told * size * SLACK
        yield Verdict(
            f"{what}: error at most the bound", info.certificate, bool(holds), float(told), _ratio(off, size), where
        )
        if info.converged and info.tol is not None:
            gain = mp.mpf(float(np.max(info.gain)))
            holds = off <= mp.mpf(info.tol) * gain * size * SLACK
            yield Verdict(
                f"{what}: converged", info.certificate, bool(holds), info.tol, _ratio(off, gain * size), where
            )


def _ratio(a: Any, b: Any) -> float:
    return float(a / b) if b else (0.0 if not a else float("inf"))


def a_filter(rng: np.random.Generator) -> Iterator[Verdict]:
    """A filter by any method."""
    L = cases.laplacian(rng)
    g, tol, method = (
        cases.until_accepted(lambda r: cases.combined(r, L.lmax), rng),
        cases.tolerance(rng),
        rng.choice(METHODS),
    )
    f = cases.signals(rng, L.n_vertices)
    made = _outcome(lambda: cg.KernelFilter(L, g.response, method=str(method), tol=tol).filter(f, return_info=True))
    if made is not None:
        text = f"{L.kind}, {method}, tol={tol:.3g}, {g.text}"
        yield from _of_errors(f"filter, {made[1].method}", *made, f, g, Spectrum(L), text)


def a_product(rng: np.random.Generator) -> Iterator[Verdict]:
    """Filters that were added and multiplied."""
    L = cases.laplacian(rng)
    g, h = (cases.until_accepted(lambda r: cases.simple(r, L.lmax), rng) for _ in range(2))
    tol, f = cases.tolerance(rng), cases.signals(rng, L.n_vertices)
    a = float(rng.choice([1.0, -2.0, 1e-100, 1e8]))

    def act() -> Any:
        F, H = (cg.KernelFilter(L, one.response, tol=tol) for one in (g, h))
        return (a * F @ H + F).filter(f, return_info=True)

    made = _outcome(act)
    if made is not None:
        both = cases.Known(None, lambda lam: mp.mpf(a) * g.exact(lam) * h.exact(lam) + g.exact(lam), "")
        text = f"{L.kind}, tol={tol:.3g}, {a} * F @ H + F, F: {g.text}, H: {h.text}"
        yield from _of_errors("algebra of filters", *made, f, both, Spectrum(L), text)


def a_cayley_filter(rng: np.random.Generator) -> Iterator[Verdict]:
    """A Cayley filter by the paper's sweeps, with their number given, and by the other methods."""
    L = cases.laplacian(rng)
    s, size = 10.0 ** rng.uniform(-3, 3) / (L.lmax or 1.0), int(rng.integers(1, 8))
    c = rng.standard_normal(size + 1) + 1j * rng.standard_normal(size + 1)
    c[0] = c[0].real
    f, n_iter = cases.signals(rng, L.n_vertices), int(rng.integers(1, 40))
    g = cases.Known(None, cases.truth.cayley(c.tolist(), s), f"CayleyPolynomial({c.tolist()!r}, {s!r})")
    made = _outcome(
        lambda: cg.CayleyFilter(L, cg.CayleyPolynomial(c, s), method="jacobi", n_iter=n_iter).filter(
            f, return_info=True
        )
    )
    if made is not None:
        yield from _of_errors("Jacobi sweeps", *made, f, g, Spectrum(L), f"{L.kind}, n_iter={n_iter}, {g.text}")


def a_chebyshev_filter(rng: np.random.Generator) -> Iterator[Verdict]:
    """A Chebyshev filter with coefficients of any size."""
    L = cases.laplacian(rng)
    a = rng.standard_normal(int(rng.integers(2, 12)))
    a *= 10.0 ** (rng.uniform(-16, 16, a.size) if rng.random() < 0.4 else 0.0)
    f = cases.signals(rng, L.n_vertices)
    F = _outcome(lambda: cg.ChebyshevFilter(L, a))
    made = None if F is None else _outcome(lambda: F.filter(f, return_info=True))
    if made is not None:
        g = cases.Known(None, cases.truth.chebyshev(a.tolist(), F.response.lmax), "")
        text = f"{L.kind}, ChebyshevFilter({a.tolist()!r})"
        yield from _of_errors("Chebyshev filter", *made, f, g, Spectrum(L), text)


def a_bank(rng: np.random.Generator) -> Iterator[Verdict]:
    """A bank, its synthesis and its frame bounds."""
    L = cases.laplacian(rng)
    gs = [cases.until_accepted(lambda r: cases.combined(r, L.lmax), rng) for _ in range(int(rng.integers(1, 4)))]
    tol, f = cases.tolerance(rng), cases.signals(rng, L.n_vertices)[:, :1]
    bank = _outcome(lambda: cg.FilterBank(L, [g.response for g in gs], tol=tol))
    made = None if bank is None else _outcome(lambda: bank.filter(f, return_info=True))
    if made is None:
        return
    y, info = made
    S, text = Spectrum(L), f"{L.kind}, tol={tol:.3g}, bank of " + "; ".join(g.text for g in gs)
    size, y = norm([float(x) for x in f[:, 0]]), np.moveaxis(np.asarray(y).reshape(L.n_vertices, -1, len(gs)), -1, 0)
    for k, g in enumerate(gs):
        off = error(y[k][:, 0], S.filtered(g.exact, f[:, 0]))
        told = mp.mpf(float(np.asarray(info.error_bound).ravel()[k]))
        holds = bool(off <= told * size * SLACK)
        yield Verdict("bank: error at most the bound", info.certificate, holds, float(told), _ratio(off, size), text)
    frame = _outcome(bank.frame_bounds)
    if frame is not None:
        sums = [mp.fsum(g.exact(lam) ** 2 for g in gs) for lam in S.eigenvalues]
        for name, told, holds in (
            ("frame bound A not above", frame[0], mp.mpf(frame[0]) <= min(sums) * SLACK),
            ("frame bound B not below", frame[1], mp.mpf(frame[1]) * SLACK >= max(sums)),
        ):
            true = min(sums) if "A" in name else max(sums)
            yield Verdict(name, info.certificate, bool(holds), float(told), float(true), text)


def a_spectrum(rng: np.random.Generator) -> Iterator[Verdict]:
    """The bounds of the spectrum of the matrix as it is stored."""
    L = cases.laplacian(rng)
    lam = Spectrum(L).eigenvalues
    least, most, text = lam[0], lam[len(lam) - 1], f"{L.kind}, {L.matrix.toarray().tolist()!r}"
    tiny = mp.mpf(10) ** -40 * most
    told = {
        "λ_max at most its bound": (L.lmax_bound, most, most <= mp.mpf(L.lmax_bound) + tiny),
        "λ_min at least its bound": (L.lmin, least, least >= mp.mpf(L.lmin) - tiny),
    }
    for name, lower in ("an edge", L.lmax_lower), ("Lanczos", L.lanczos_bound(rng=0).lower):
        told[f"λ_max at least its lower bound by {name}"] = lower, most, mp.mpf(lower) <= most + tiny
    for claim, (number, true, holds) in told.items():
        yield Verdict(claim, "proved", bool(holds), number, float(true), text)


def a_fit(rng: np.random.Generator) -> Iterator[Verdict]:
    """A fit's distance from a target without steps, of which a fit aims at the sharp ones."""
    L = cases.laplacian(rng)
    lmax, g = L.lmax or 1.0, cases.until_accepted(lambda r: cases.simple(r, L.lmax), rng)
    if g.response.jumps:
        return
    made = _outcome(lambda: cg.design.fit_chebyshev(g.response, int(rng.integers(1, 8)), lmax=lmax))
    if made is None:
        return
    exact = cases.truth.chebyshev(made.polynomial.coeffs.tolist(), made.polynomial.lmax)
    points = [mp.mpf(lmax) * k / 60 for k in range(61)]
    off = max(abs(exact(x) - g.exact(x)) for x in points)
    text = f"fit_chebyshev of {g.text}, lmax={lmax!r}"
    holds = bool(off <= mp.mpf(made.residual_max) * SLACK)
    yield Verdict("fit: distance at most residual_max", made.certificate, holds, made.residual_max, float(off), text)


def a_decay(rng: np.random.Generator) -> Iterator[Verdict]:
    """The mass of a localized filter outside some hops."""
    L = cases.laplacian(rng)
    g = cases.until_accepted(lambda r: cases.simple(r, L.lmax), rng)
    vertex = int(rng.integers(L.n_vertices))
    curve = _outcome(lambda: cg.localization.decay_curve(cg.KernelFilter(L, g.response), vertex))
    if curve is None:
        return
    y = Spectrum(L).filtered(g.exact, np.eye(L.n_vertices)[vertex])
    reach, total = cg.localization.hops(L, vertex), norm(y)
    text = f"{L.kind}, {g.text}, vertex {vertex}, {L.matrix.toarray().tolist()!r}"
    for k in range(curve.hops.size if total else 0):
        true = norm([v for v, h in zip(y, reach, strict=True) if not 0 <= h <= k]) / total
        mass, floor = mp.mpf(float(curve.mass[k])), mp.mpf(float(curve.floor))
        holds = bool(abs(mass - true) <= floor * SLACK)
        yield Verdict("decay: mass within the floor", "proved", holds, float(mass), float(true), f"{text}, {k} hops")
        for bound in curve.bounds:
            if bound.valid[k]:
                told = mp.mpf(float(bound.mass[k]))
                holds = bool(true <= (told + floor) * SLACK)
                yield Verdict(f"decay: {bound.name}", "proved", holds, float(told), float(true), f"{text}, {k} hops")


JUDGES = (a_filter, a_product, a_cayley_filter, a_chebyshev_filter, a_bank, a_spectrum, a_fit, a_decay)


def judge(seed: int) -> list[Verdict]:
    """Judge the case of a seed."""
    rng = np.random.default_rng(seed)
    return list(JUDGES[seed % len(JUDGES)](rng))
