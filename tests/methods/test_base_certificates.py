"""One order of what bounds rest on, wherever several are put together."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.methods.base import GroupedMethod, weakest
from cayleygsp.methods.series import ChebyshevMethod
from cayleygsp.responses.function import KernelResponse

ORDER = ("proved", "estimated", "sampled", "none")


@pytest.fixture(scope="module")
def estimated():
    L = cg.laplacian(cg.gallery.grid(20))
    return L.with_lmax(L.lanczos_bound(rng=0).upper)


def series(L, *responses):
    return ChebyshevMethod(L, responses, 1e-6)


@pytest.mark.parametrize(("strong", "weak"), list(combinations_with_replacement(ORDER, 2)))
def test_the_weakest_counts(strong, weak):
    assert weakest([strong, weak]) == weakest([weak, strong]) == weak


def test_a_bank_rests_on_the_weakest_of_its_groups_however_they_are_put_together(estimated):
    heat, cosine = cg.responses.Heat(1.0), KernelResponse(np.cos)
    groups = [([0], series(estimated, heat)), ([1], series(estimated, cosine))]
    assert [method.certificate for _, method in groups] == ["estimated", "sampled"]
    assert GroupedMethod(groups).certificate == series(estimated, heat, cosine).certificate == "sampled"


def test_a_reconstruction_on_an_estimated_spectrum_is_estimated(estimated):
    bank = cg.FilterBank(estimated, [cg.responses.Tikhonov(0.1)], method="chebyshev", tol=1e-10)
    f = np.random.default_rng(0).standard_normal(estimated.n_vertices)
    c, analysed = bank.filter(f, return_info=True)
    _, info = bank.reconstruct(c, return_info=True)
    assert (analysed.certificate, info.certificate) == ("estimated", "estimated")
