"""Everything that the report says, as numbers, and the lines at its foot."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

import cayleygsp as cg
from analysis._script import package_versions
from analysis.report.denoising import NOISE, Denoising
from analysis.report.response import RIDGE
from analysis.report.runs import Run
from analysis.report.spectrum import N_KEPT, Spectrum
from cayleygsp._format import finite_numbers


def collect_numbers(
    args: argparse.Namespace,
    date: str,
    spectrum: Spectrum,
    polynomial: cg.CayleyPolynomial,
    denoising: Denoising,
    runs: Sequence[Run],
    more: dict[str, Any],
) -> dict[str, Any]:
    """Return everything that the report says as numbers, ready for JSON."""
    g = polynomial(spectrum.eigenvalues)
    return {
        "date": date,
        "seed": args.seed,
        "quick": args.quick,
        "versions": package_versions(),
        "graph": {"n_vertices": spectrum.graph.n_vertices, "n_edges": spectrum.graph.n_edges},
        "eigenvalues": spectrum.eigenvalues.tolist(),
        "filter": {
            "order": polynomial.order,
            "zoom": polynomial.zoom,
            "coeffs_real": polynomial.coeffs.real.tolist(),
            "coeffs_imag": polynomial.coeffs.imag.tolist(),
            "kept_min": float(g[:N_KEPT].min()),
            "kept_max": float(g[:N_KEPT].max()),
            "stopped_max": float(np.abs(g[N_KEPT:]).max()),
        },
        "denoising": {
            "community": denoising.community,
            "noise": NOISE,
            "rms_error_noisy": denoising.rms_error(denoising.noisy),
            "rms_error_filtered": denoising.rms_error(denoising.filtered),
            "snr_noisy_db": denoising.snr(denoising.noisy),
            "snr_filtered_db": denoising.snr(denoising.filtered),
        },
        "methods": [{key: None if value == math.inf else value for key, value in asdict(run).items()} for run in runs],
        **finite_numbers(more),
    }


def footer(args: argparse.Namespace, date: str, polynomial: cg.CayleyPolynomial) -> dict[str, str]:
    """Return the lines at the end of the page."""
    return {
        "Seed": str(args.seed),
        "Settings": f"{'quick' if args.quick else 'full'} run, order {polynomial.order}, zoom {polynomial.zoom:.6g}, "
        f"ridge {RIDGE:g}, noise {NOISE:g}",
        "Versions": ", ".join(f"{name} {version}" for name, version in package_versions().items()),
        "Date": date,
    }
