r"""An interactive page for the zoom of a Cayley filter: the graph, its frequencies, a filtered impulse.

:func:`explorer_page` returns a page that needs neither network nor server. It carries the Laplacian, no eigenvectors:
the page computes the terms :math:`T_k(\tilde\Delta)\delta_m` of the vertex that is clicked by the recurrence of the
engine, keeps them, and sums them with new coefficients whenever zoom or filter change.

``content`` collects the numbers, ``layout`` places vertices without coordinates, ``rendering`` puts all into the page.
In the folder ``page``, ``numbers.js`` computes and knows nothing of the page, ``words.js`` says what the numbers mean,
``pictures.js`` draws, and ``explorer.js`` has the controls.
"""

from cayleygsp.explorer.content import NamedFilter
from cayleygsp.explorer.rendering import explorer_page, write_explorer

__all__ = ["NamedFilter", "explorer_page", "write_explorer"]
