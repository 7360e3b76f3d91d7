"""The paper's Jacobi scheme as functions of the frequencies, where all vertices have the same diagonal."""

from __future__ import annotations

import torch
from torch import Tensor


def jacobi_basis(zoom: Tensor, eigenvalues: Tensor, order: int, n_iter: int) -> Tensor:
    r"""Return what Jacobi sweeps make of the powers of the Cayley transform, at the eigenvalues.

    Where the diagonal of the Laplacian is 1 everywhere, as it is for the normalized one without isolated vertices, a
    Jacobi sweep is a function of the Laplacian itself. With K sweeps after the start vector, the j-th power comes out
    as

    .. math:: \big( C(h\lambda)\, (1 - s^{K+1}) \big)^j, \qquad s = \frac{h (1 - \lambda)}{h + i}.

    Parameters
    ----------
    zoom : Tensor
        h.
    eigenvalues : Tensor, shape (n,)
        λ.
    order, n_iter : int
        r and K.

    Returns
    -------
    Tensor, shape (n, 2r + 1)
        1, then twice the real and minus twice the imaginary part of each power.

    Examples
    --------
    >>> import torch
    >>> from analysis._jacobi_basis import jacobi_basis
    >>> jacobi_basis(torch.tensor(1.0), torch.tensor([1.0]), order=1, n_iter=0)  # one sweep is enough at λ = 1
    tensor([[1., 0., 2.]])
    """
    h, lam = zoom, eigenvalues
    C = torch.complex(h * lam, -torch.ones_like(lam)) / torch.complex(h * lam, torch.ones_like(lam))
    s = torch.complex(h * (1 - lam), torch.zeros_like(lam)) / torch.complex(h, torch.ones_like(h))
    y = C * (1 - s ** (n_iter + 1))
    columns, power = [torch.ones_like(lam)], torch.ones_like(y)
    for _ in range(order):
        power = power * y
        columns += [2 * power.real, -2 * power.imag]
    return torch.stack(columns, dim=1)
