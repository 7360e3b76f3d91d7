"""All pictures: they are drawn on the given axes, and settings are left alone."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from cayleygsp import CayleyFilter, gallery, plotting
from cayleygsp.density import spectral_density

RING = gallery.ring(12)

CALLS = {
    "graph": lambda ax, p, lam: plotting.graph(RING, ax=ax),
    "half_circle": lambda ax, p, lam: plotting.half_circle(lam, 1.0, ax=ax),
    "response": lambda ax, p, lam: plotting.response(p, 2.0, ax=ax),
    "unrolled_response": lambda ax, p, lam: plotting.unrolled_response(p, lam, ax=ax),
    "error_bars": lambda ax, p, lam: plotting.error_bars(["a"], [1e-3], [1e-2], ax=ax),
    "fit": lambda ax, p, lam: plotting.fit("band:1:2:0.5", {"p": p}, 8.0, eigenvalues=lam, ax=ax),
    "fit, log": lambda ax, p, lam: plotting.fit("band:1:2:0.5", {"p": p}, 8.0, log=True, ax=ax),
    "density": lambda ax, p, lam: plotting.density(spectral_density(RING), eigenvalues=[0.0, 4.0], ax=ax),
    "resolution": lambda ax, p, lam: plotting.resolution([0.1, 1.0], 8.0, ax=ax),
    "localized": lambda ax, p, lam: plotting.localized(RING, CayleyFilter(RING, p), 0, ax=ax),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_return_the_axes_they_were_given_and_change_no_settings(name, ax, low_pass, eigenvalues):
    before = dict(mpl.rcParams)
    assert CALLS[name](ax, low_pass, eigenvalues) is ax
    ax.figure.savefig(BytesIO(), format="png")  # what is drawn can be rendered
    assert dict(mpl.rcParams) == before


def test_without_axes_the_current_ones_are_used():
    code = (
        "import matplotlib; matplotlib.use('Agg')\n"
        "import matplotlib.pyplot as plt, cayleygsp as cg\n"
        "ax = plt.figure().add_subplot()\n"
        "assert cg.plotting.response(cg.CayleyPolynomial([0.5, -0.25], 1.0), 2.0) is ax\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_import_of_the_package_does_not_load_matplotlib():
    code = "import sys, cayleygsp; assert 'matplotlib' not in sys.modules; cayleygsp.plotting"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_axes_of_another_kind_are_refused(low_pass):
    with pytest.raises(TypeError, match="`ax` must be one matplotlib Axes, got ndarray"):
        plotting.response(low_pass, 2.0, ax=Figure().subplots(1, 2))
