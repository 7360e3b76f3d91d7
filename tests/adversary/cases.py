"""Hostile cases, each from one seed: graphs, responses with what they are in 60 digits, and signals."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

import cayleygsp as cg
from cayleygsp import responses
from tests.adversary import truth
from tests.adversary.truth import Exact

MOST_VERTICES = 10


@dataclass(frozen=True)
class Known:
    """A response, what it is exactly, and how it was made."""

    response: Any
    exact: Exact
    text: str


def weights(rng: np.random.Generator) -> np.ndarray:
    """Symmetric weights: unit or over 24 decades, tiny or huge as a whole, loops, isolated vertices, two cliques."""
    n = int(rng.integers(1, MOST_VERTICES + 1))
    shape = rng.choice(["sparse", "dense", "star", "cliques", "path", "none"], p=[0.25, 0.25, 0.15, 0.15, 0.15, 0.05])
    W = np.zeros((n, n))
    if shape in ("sparse", "dense"):
        W = np.triu(rng.random((n, n)) < (0.3 if shape == "sparse" else 0.9), 1).astype(float)
    elif shape == "star":
        W[0, 1:] = 1.0
    elif shape == "path":
        W[np.arange(n - 1), np.arange(1, n)] = 1.0
    elif shape == "cliques":
        W[: n // 2, : n // 2] = W[n // 2 :, n // 2 :] = 1.0
        W = np.triu(W, 1)
    spread = rng.choice([0.0, 1.0, 4.0, 12.0], p=[0.4, 0.3, 0.15, 0.15])
    W *= 10.0 ** rng.uniform(-spread, spread, (n, n))
    if rng.random() < 0.2:
        W *= 10.0 ** rng.uniform(-30, 30)
    W = np.triu(W, 1)
    W += W.T
    if rng.random() < 0.2:
        W[np.diag_indices(n)] = (W.max(initial=0.0) or 1.0) * rng.random(n) * (rng.random(n) < 0.5)
    return W


def laplacian(rng: np.random.Generator) -> cg.Laplacian:
    """Return the Laplacian of random weights."""
    return cg.laplacian(sparse.csr_array(weights(rng)), rng.choice(["combinatorial", "normalized"]))


def _power_of_ten(rng: np.random.Generator, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def simple(rng: np.random.Generator, lmax: float) -> Known:
    """Return one response whose scale is within some orders of magnitude of the spectrum's."""
    lmax = lmax or 1.0
    s = _power_of_ten(rng, -4, 5) / lmax
    kind = rng.choice(["heat", "hat", "gauss", "tikhonov", "low", "high", "band", "poles", "cayley", "itersine"])
    if kind == "heat":
        return Known(responses.Heat(s), truth.heat(s), f"Heat({s!r})")
    if kind == "hat":
        return Known(responses.MexicanHat(s), truth.mexican_hat(s), f"MexicanHat({s!r})")
    if kind == "gauss":
        m, w = float(rng.uniform(0, 1.5)) * lmax, _power_of_ten(rng, -3, 2) * lmax
        return Known(responses.Gaussian(m, w), truth.gaussian(m, w), f"Gaussian({m!r}, {w!r})")
    if kind == "tikhonov":
        power = float(rng.choice([0.5, 1.0, 2.0, 3.7]))
        return Known(responses.Tikhonov(s, power), truth.tikhonov(s, power), f"Tikhonov({s!r}, {power!r})")
    cutoff = _power_of_ten(rng, -4, 0.3) * lmax
    if kind in ("low", "high"):
        width = cutoff * _power_of_ten(rng, -1.5, 0.3)
        down = truth.step_down(cutoff, width)
        if kind == "low":
            return Known(responses.LowPass(cutoff, width), down, f"LowPass({cutoff!r}, {width!r})")
        return Known(responses.HighPass(cutoff, width), lambda lam: 1 - down(lam), f"HighPass({cutoff!r}, {width!r})")
    if kind == "band":
        high = cutoff * (1 + _power_of_ten(rng, -1, 1))
        width = min(high - cutoff, cutoff) * _power_of_ten(rng, -1, 0)
        first, second = truth.step_down(cutoff, width), truth.step_down(high, width)
        text = f"BandPass({cutoff!r}, {high!r}, {width!r})"
        return Known(responses.BandPass(cutoff, high, width), lambda lam: second(lam) - first(lam), text)
    if kind == "poles":
        p = complex(rng.uniform(-1, 1.5), _power_of_ten(rng, -2, 0.5)) * lmax
        r = complex(rng.uniform(-2, 2), rng.uniform(-2, 2)) * abs(p.imag)
        poles, residues, d = [p, p.conjugate(), -cutoff], [r, r.conjugate(), cutoff], float(rng.uniform(-1, 1))
        text = f"Rational({poles!r}, {residues!r}, {d!r})"
        return Known(responses.Rational(poles, residues, d), truth.rational(poles, residues, d), text)
    if kind == "itersine":
        m, w = float(rng.uniform(-0.5, 1.5)) * lmax, _power_of_ten(rng, -1, 1) * lmax
        return Known(responses.Itersine(m, w), truth.itersine(m, w), f"Itersine({m!r}, {w!r})")
    size = int(rng.integers(1, 6))
    c = rng.standard_normal(size + 1) + 1j * rng.standard_normal(size + 1)
    c = c * 10.0 ** rng.uniform(-10, 10) if rng.random() < 0.2 else c
    c[0] = c[0].real
    return Known(cg.CayleyPolynomial(c, s), truth.cayley(c.tolist(), s), f"CayleyPolynomial({c.tolist()!r}, {s!r})")


def combined(rng: np.random.Generator, lmax: float) -> Known:
    """Return a response, or a sum, product or power of some."""
    g = simple(rng, lmax)
    if rng.random() < 0.6:
        return g
    h, rule = simple(rng, lmax), rng.choice(["sum", "difference", "product", "power", "multiple"])
    if rule == "sum":
        return Known(g.response + h.response, lambda lam: g.exact(lam) + h.exact(lam), f"{g.text} + {h.text}")
    if rule == "difference":
        return Known(
            g.response - 3 * h.response, lambda lam: g.exact(lam) - 3 * h.exact(lam), f"{g.text} - 3 * {h.text}"
        )
    if rule == "product":
        return Known(g.response * h.response, lambda lam: g.exact(lam) * h.exact(lam), f"{g.text} * {h.text}")
    if rule == "power":
        k = int(rng.integers(2, 4))
        return Known(g.response**k, lambda lam: g.exact(lam) ** k, f"({g.text}) ** {k}")
    a = float(rng.choice([-1, 1])) * _power_of_ten(rng, -200 if rng.random() < 0.3 else -10, 10)
    return Known(a * g.response, lambda lam: truth.mp.mpf(a) * g.exact(lam), f"{a!r} * {g.text}")


def signals(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return one to three signals of any type, order and scale, with columns of zeros among them."""
    dtype = rng.choice(["float64", "float32", "float16", "int32"], p=[0.6, 0.3, 0.05, 0.05])
    f = rng.standard_normal((n, int(rng.integers(1, 4))))
    if rng.random() < 0.3:
        f *= 10.0 ** rng.uniform(*{"float64": (-320, 300), "float32": (-44, 36)}.get(dtype, (-1, 1)), f.shape[1])
    if dtype == "int32":
        f = f * 100
    if rng.random() < 0.15:
        f[:, 0] = 0.0
    if rng.random() < 0.15:
        f[:] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        f = f.astype(dtype)
    return f if rng.random() < 0.7 else np.asfortranarray(f)


def tolerance(rng: np.random.Generator) -> float:
    return _power_of_ten(rng, -13, -1)


def until_accepted(make: Callable[[np.random.Generator], Any], rng: np.random.Generator) -> Any:
    """Return what is made, drawn again where the arguments are refused."""
    while True:
        try:
            return make(rng)
        except ValueError:
            continue
