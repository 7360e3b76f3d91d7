"""Which polynomial or target a user asked for."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np

from cayleygsp._text import quoted
from cayleygsp._typing import Array
from cayleygsp._validation import check_coefficients
from cayleygsp.cli.errors import BadInput, input_errors, one_line
from cayleygsp.cli.inputs import need_edges
from cayleygsp.cli.options import DEFAULT_ORDER, MOST_ORDER, FilterOptions
from cayleygsp.design import Fit, fit_cayley, parse_target
from cayleygsp.design.fit import MAX_CAYLEY_ORDER
from cayleygsp.design.problem import graph_weight
from cayleygsp.design.target import response_name
from cayleygsp.io.files import InputError, check_file, read_content
from cayleygsp.io.signals import SIGNAL_ENDINGS, parse_number, read_table
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.base import Response
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley

# The memory that a byte of JSON needs, at most: a digit and a comma become a number in a list.
_COST = 64


def load_coefficients(text: str, zoom: float | None) -> tuple[Array, float]:
    """Return coefficients of a Cayley polynomial and its zoom; one that is given goes before that of a file.

    The text is numbers between commas, "0.5,-0.25,0.1+0.2j"; or a file: .json as the design command writes it, with its
    zoom, .npy, or .csv and .txt with real and imaginary parts in columns.
    """
    with input_errors():
        path = Path(text)
        own_zoom = None
        if path.suffix.lower() == ".json":
            c, own_zoom = _read_json_coefficients(path)
        elif path.suffix.lower() in SIGNAL_ENDINGS:
            table = read_table(path)
            if table.names is not None:
                raise ValueError(f"{quoted(path)} must have numbers only, got names in its first column")
            c = table.values
            c = c[:, 0] + 1j * c[:, 1] if c.ndim == 2 and c.shape[1] == 2 else c
        else:
            words = re.split(r"\s*,\s*|\s+", text.strip())
            try:
                c = np.array([parse_number(word) for word in words])
            except ValueError:
                kinds = f"numbers between commas or a file ({', '.join(('.json', *SIGNAL_ENDINGS))})"
                raise ValueError(f"--coeffs must be {kinds}, got {quoted(text, 60)}") from None
        h = own_zoom if zoom is None else zoom
        if h is None:
            raise ValueError("--zoom must be given with --coeffs, unless these are in a .json file that has it")
        return check_coefficients(c, "--coeffs"), float(h)


def _read_json_coefficients(path: Path) -> tuple[Array, float]:
    check_file(path)
    content = read_content(path, _COST)
    try:
        cayley = json.loads(content)["cayley"]
        real, imaginary = np.array(cayley["coeffs_real"]), np.array(cayley["coeffs_imag"])
        zoom = float(cayley["zoom"])
        if not real.ndim == imaginary.ndim == 1 or {real.dtype.kind, imaginary.dtype.kind} - set("if"):
            raise ValueError("no lists of numbers")
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{quoted(path)} is not what the design command writes") from None
    if len(real) != len(imaginary):
        raise InputError(
            f"coeffs_real and coeffs_imag of {quoted(path)} must have the same length, "
            f"got {len(real)} and {len(imaginary)}"
        )
    return real + 1j * imaginary, zoom


def target_name(target: Response) -> str:
    """Return a target's name and parameters."""
    parameters = ", ".join(f"{name} {value:.4g}" for name, value in vars(target).items() if value or name == "low")
    return f"{response_name(target)} ({parameters})"


class AskedPolynomial:
    """Which Cayley polynomial a user asked for; checked when made, computed when the graph is there."""

    def __init__(self, options: FilterOptions, target_option: str = "--target") -> None:
        coeffs, target, zoom, order = options.coeffs, options.target, options.zoom, options.order
        if coeffs is not None and target is not None:
            raise BadInput("--coeffs and --target must not both be given")
        self.target, self.zoom, self.order = target, zoom, order
        self.own: CayleyPolynomial | None = None
        check_positive_option(zoom, "--zoom")
        if coeffs is not None:
            self.own, self.description = own_polynomial(coeffs, zoom, order), "own coefficients"
        elif target is not None:
            check_fit_order(order)
            check_target(target, target_option)
            self.description = f"fitted to {target}"
        else:
            if zoom is None or order is None:
                raise BadInput("--zoom and --order must be given, or --coeffs, or --target")
            check_order(order)
            # 2 Σ |c_j| = 1: where all powers agree the response is ±1
            self.own = CayleyPolynomial(np.append(0.0, np.full(order, 0.5 / order)), zoom)
            self.description = "equal coefficients of total gain 1"

    @property
    def n_powers(self) -> int:
        """The order that it will have."""
        return self.own.order if self.own is not None else self.order or DEFAULT_ORDER

    def words(self, polynomial: CayleyPolynomial) -> str:
        """Return a description with order and zoom."""
        return f"{self.description}, order {polynomial.order}, zoom {polynomial.zoom:.6g}"

    def fitted(self, L: Laplacian, seed: int) -> tuple[CayleyPolynomial, Fit | None]:
        """Return it, with its fit over the frequencies of the graph if it is fitted."""
        check_product(self.zoom if self.own is None else self.own.zoom, L.lmax)
        if self.own is not None:
            return self.own, None
        assert self.target is not None
        goal = read_target(self.target, L)
        need_edges(L, "a fit")
        with input_errors():
            fit = fit_cayley(goal, self.n_powers, L.lmax, self.zoom or "auto", graph_weight(L, "auto", seed))
        return as_cayley(fit.polynomial), fit


def own_polynomial(coeffs: str, zoom: float | None, order: int | None) -> CayleyPolynomial:
    """Return the polynomial with the user's own coefficients."""
    check_positive_option(zoom, "--zoom")
    c, h = load_coefficients(coeffs, zoom)
    check_order(c.size - 1, "--coeffs make an order that")
    with input_errors():
        p = CayleyPolynomial(c, h)
    if order not in (None, p.order):
        raise BadInput(f"--order must be left out with --coeffs, which make order {p.order}, got {order}")
    return p


def check_target(text: str, option: str = "--target") -> None:
    """Reject a text that is not a target on any graph; relative numbers are read once the graph is there."""
    try:
        parse_target(text, 1.0)
    except ValueError as error:
        raise BadInput(one_line(error).replace("`text`", option)) from None


def read_target(text: str, L: Laplacian) -> Response:
    """Return the target that a text means on this graph."""
    try:
        return parse_target(text, L.lmax if L.lmax > 0 else None)
    except ValueError as error:
        if L.lmax == 0:  # without a graph this was a target: its numbers are relative
            need_edges(L, f"the relative numbers in {text!r}")
        raise BadInput(one_line(error)) from None


def check_positive_option(value: float | None, name: str) -> None:
    """Reject a number that is not positive and finite; one that was not given is fine."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise BadInput(f"{name} must be positive and finite, got {value:g}")


def check_order(order: int | None, name: str = "--order") -> None:
    """Reject an order that a filter would take minutes for."""
    if order is not None and order > MOST_ORDER:
        raise BadInput(f"{name} must be at most {MOST_ORDER:,}, as time grows with it, got {order:,}")


def check_fit_order(order: int | None) -> None:
    """Reject an order that a fit would take minutes for."""
    if order is not None and order > MAX_CAYLEY_ORDER:
        raise BadInput(
            f"--order of a fit must be at most {MAX_CAYLEY_ORDER:,}, as time grows with its cube, got {order:,}"
        )


def check_product(zoom: float | None, lmax: float) -> None:
    """Reject a zoom whose product with the bound of the spectrum overflows."""
    if zoom is not None and not math.isfinite(zoom * lmax):
        raise BadInput(f"--zoom times the bound of the spectrum {lmax:.6g} must be finite, got {zoom:g}")
