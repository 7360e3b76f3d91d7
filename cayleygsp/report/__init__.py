r"""A report on any graph: its size, spectrum and zoom, a filter for it, its error, its reach and its cost.

There is one file per section: numbers, then tables and sentences made of them, a picture, and the function that returns
a :class:`~cayleygsp._html.Section` with its numbers for JSON. :func:`~cayleygsp.report.page.report_on` makes all of
them; commands take single parts, and matplotlib is loaded by what draws, not before. Nothing dense is made of a graph
beyond ``DENSE_VERTICES``: there, frequencies come from the spectral density, and the other parts take a bounded number
of products with the Laplacian.
"""
