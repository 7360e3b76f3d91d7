"""Heat, wavelets and bells."""

import numpy as np

import cayleygsp as cg
from cayleygsp import responses


def test_one_vertex_has_no_frequency_for_a_wavelet():
    g = cg.KernelFilter(cg.gallery.path(1), responses.MexicanHat(1.0), method="chebyshev")
    assert g.filter(np.ones(1), return_info=True)[1].converged
