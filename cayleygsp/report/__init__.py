r"""A report on any graph: its size, spectrum and zoom, a filter for it, its error, its reach and its cost.

Numbers, words and pictures stand apart: ``facts``, ``frequencies`` and ``*_numbers`` compute, ``*_text`` makes tables
and sentences of the numbers, and neither loads matplotlib; ``*_figure`` draws. A section file (``graph``, ``density``,
``zoom``, ``design``, ``bounds``, ``localization``, ``application``) puts them together as a
:class:`~cayleygsp._html.Section`, and :func:`~cayleygsp.report.page.report_on` makes all of them. Nothing dense is made
of a graph beyond ``DENSE_VERTICES``: there, frequencies come from the spectral density, and the other parts take a
bounded number of products with the Laplacian.
"""
