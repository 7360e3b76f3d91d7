"""Methods that cannot be prepared say of which response, and why."""

import numpy as np
import pytest

import cayleygsp as cg


@pytest.mark.parametrize(
    ("graph", "response", "method", "what"),
    [
        (cg.gallery.ring(12), cg.responses.Tikhonov(1e16), "multigrid", r"Tikhonov\(strength=1e\+16"),
        (cg.gallery.ring(12), cg.CayleyPolynomial([0.5, -0.25], 1e17), "multigrid", r".*zoom=1e\+17"),
        (cg.gallery.path(2500), cg.responses.Tikhonov(1e18), "exact", r"Tikhonov\(strength=1e\+18"),
    ],
)
def test_singular_systems_are_refused_with_the_response(graph, response, method, what):
    with pytest.raises(ValueError, match=rf"must have a smaller strength or zoom, .* precision, got {what}"):
        cg.KernelFilter(graph, response, method=method)


def test_a_bank_with_singular_systems_is_refused_with_the_response():
    bank = [cg.responses.Tikhonov(1.0), cg.responses.Tikhonov(1e16)]
    with pytest.raises(ValueError, match=r"got Tikhonov\(strength=1e\+16"):
        cg.FilterBank(cg.gallery.ring(12), bank, method="multigrid")
    with pytest.warns(cg.ConvergenceWarning):
        _, info = cg.FilterBank(cg.gallery.ring(12), bank).filter(np.arange(12.0), return_info=True)
    assert not info.converged
