"""Tiles are tested through the layers that use them; here is the product beside them."""

import numpy as np
from scipy import sparse

from cayleygsp.engine.tiles import transposed_product


def test_product_is_that_of_the_transposed_matrix():
    A = sparse.random_array((7, 5), density=0.4, rng=np.random.default_rng(0), format="csr")
    g, out = np.random.default_rng(1).random((7, 3)), np.zeros((5, 3))
    transposed_product(A.indptr, A.indices, A.data, g, out)
    np.testing.assert_allclose(out, A.T @ g)
