r"""A report on any graph: its size, spectrum and zoom, a filter for it, its error, its reach and its cost.

Every part comes in two steps: a function that computes numbers, and one that makes a :class:`~cayleygsp._html.Section`
of them. :func:`report_on` runs all parts. Nothing dense is made of a graph beyond ``DENSE_VERTICES``: there,
frequencies come from the spectral density, and the other parts take a bounded number of products with the Laplacian.
"""
