import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.responses import Heat


def test_eigenbasis_is_computed_once_for_all_filters():
    L = cg.laplacian(cg.gallery.ring(30))
    assert not L.has_eigenbasis
    cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 1.0), method="exact")
    basis = L.eigenbasis
    cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 2.0), method="exact")
    assert L.eigenbasis is basis


def test_eigenbasis_knows_its_own_errors():
    L = cg.laplacian(cg.gallery.communities(rng=0))
    basis = L.eigenbasis
    dense, Phi = L.matrix.toarray(), basis.eigenvectors
    assert np.linalg.norm(dense - (Phi * basis.eigenvalues) @ Phi.T, 2) <= basis.residual < 1e-10
    assert np.linalg.norm(Phi.T @ Phi - np.eye(L.n_vertices), 2) <= basis.orthogonality < 1e-10


def test_long_work_is_announced(monkeypatch):
    monkeypatch.setattr("cayleygsp.eigenbasis.eigenbasis_seconds", lambda n: 1e4)
    with pytest.warns(ResourceWarning, match=r"eigenbasis of 20 vertices is expected to take 1e\+04 s"):
        _ = cg.laplacian(cg.gallery.ring(20)).eigenvalues


class HeatWithoutSlope(Heat):
    """A response of which no slope is known, but a proved series."""

    def lipschitz_bound(self, lmin, lmax):
        return None


def test_a_bound_that_rests_on_sampled_slopes_is_not_proved():
    ring = cg.gallery.ring(30)
    known, info = cg.KernelFilter(ring, Heat(1.0), method="exact").filter(np.arange(30.0), return_info=True)
    assert info.certificate == "proved"
    g = cg.KernelFilter(ring, HeatWithoutSlope(1.0), method="exact")
    assert g.response.certificate == "proved"
    sampled, info = g.filter(np.arange(30.0), return_info=True)
    np.testing.assert_array_equal(sampled, known)
    assert info.certificate == "sampled"
    assert "its slopes beside them" in info.reason


def test_a_complement_applied_by_the_eigenbasis_is_proved():
    bank = cg.FilterBank(cg.gallery.sensor(40, rng=0), [Heat(1.0)], method="exact").complement()
    _, info = bank.filter(np.arange(40.0), return_info=True)
    assert (info.method, info.certificate, info.converged) == ("exact", "proved", True)


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_an_eigenvalue_that_rounding_puts_beyond_a_pole_is_none(monkeypatch, power):
    eigh = np.linalg.eigh

    def wrong_by_rounding(matrix):
        lam, Phi = eigh(matrix)
        lam[0], lam[-1] = -4e-16, lam[-1] + 4e-16
        return lam, Phi

    monkeypatch.setattr(np.linalg, "eigh", wrong_by_rounding)
    L = cg.laplacian(cg.gallery.ring(12))
    assert L.eigenvalues[0] == 0.0
    assert L.eigenvalues[-1] <= L.lmax_bound
    for strength in (1e14, 1e16, 1e40):
        F = cg.KernelFilter(L, cg.responses.Tikhonov(strength, power), method="exact")
        with pytest.warns(cg.ConvergenceWarning, match="could not certify tol"):
            y, info = F.filter(np.arange(12.0), return_info=True)
        error = np.linalg.norm(y - 5.5) / np.linalg.norm(np.arange(12.0))
        assert error <= min(info.error_bound, 1e-12)  # nothing but the mean is left
