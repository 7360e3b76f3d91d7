"""How the site is built: ``make docs``, without a network, every warning an error."""

from __future__ import annotations

import logging
import sys
import warnings
from importlib.metadata import version as installed_version
from pathlib import Path

import numpydoc.xref

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

project = "cayleygsp"
author = "The cayleygsp developers"
copyright = "The cayleygsp developers"
release = version = installed_version("cayleygsp")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
    # of this folder
    "api_pages",
    "explorer_page",
    "katex_math",
    "result_pages",
    "statement_tests",
]

nitpicky = True
exclude_patterns = ["gallery/*", "_inventories", "_static"]
templates_path = ["_templates"]

# Markdown
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
numfig = True
math_numfig = True
math_eqref_format = "({number})"

# API: signatures are short, what arguments are stands in the docstrings
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
autosummary_imported_members = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc.xref.DEFAULT_LINKS.clear()  # float, int and str need no links
numpydoc_xref_aliases = {
    "numpy.ndarray": ":class:`numpy.ndarray`",
    "numpy.random.Generator": ":class:`numpy.random.Generator`",
    "torch.Tensor": ":class:`torch.Tensor`",
    "CayleyPolynomial": ":class:`cayleygsp.CayleyPolynomial`",
    "Laplacian": ":class:`cayleygsp.Laplacian`",
    "GraphLaplacian": ":class:`cayleygsp.nn.GraphLaplacian`",
    "FilterInfo": ":class:`cayleygsp.FilterInfo`",
}

# plain text inventories (version 1) with the names that the docstrings use: a build needs no network
intersphinx_mapping = {
    name: (address, str(HERE / "_inventories" / f"{name}.txt"))
    for name, address in {
        "python": "https://docs.python.org/3.13/",
        "numpy": "https://numpy.org/doc/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "matplotlib": "https://matplotlib.org/stable/",
        "torch": "https://docs.pytorch.org/docs/stable/",
        "networkx": "https://networkx.org/documentation/stable/",
        "pygsp": "https://pygsp.readthedocs.io/en/stable/",
    }.items()
}

# pictures
plot_formats = [("png", 130)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": "/plot_",
    "doc_module": ("cayleygsp",),
    "backreferences_dir": "api/backreferences",
    "reference_url": {"cayleygsp": None},
    "remove_config_comments": True,
    "download_all_examples": False,
    "min_reported_time": 1,
    "show_memory": False,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "show_signature": False,
    "capture_repr": (),  # examples print what they mean to show
    "write_computation_times": False,  # its pages load programs from the network
    "within_subsection_order": "FileNameSortKey",
}
suppress_warnings = ["config.cache"]  # the gallery's settings hold classes

# page
html_theme = "pydata_sphinx_theme"
html_title = "cayleygsp"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("narrow.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "cayleygsp"},
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
}
html_sidebars = {"index": []}

# what third parties say about themselves on current versions, as in the tests
warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"pygsp.*")
warnings.filterwarnings("ignore", "Input has data type int64", FutureWarning)  # PyGSP's road network
logging.disable(logging.DEBUG)  # PyGSP tells on stderr how it searches for neighbours
