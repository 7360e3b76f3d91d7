r"""Pictures of graphs, spectra and responses; matplotlib is loaded with this module and not before.

Every function takes computed arrays or objects of this package, draws on the one axes ``ax`` (the current axes of
pyplot if none is given) and returns it. Nothing is shown or saved, no setting of matplotlib is changed, and extra
keyword arguments go on to the matplotlib call that draws the data. Colours are those of Okabe and Ito, told apart
with any colour vision; what matters also differs in marker, line style or lightness.

Examples
--------
>>> from matplotlib.figure import Figure
>>> import cayleygsp as cg
>>> ring = cg.gallery.ring(12)
>>> ax = cg.plotting.graph(ring, signal=cg.laplacian(ring).eigenvectors[:, 1], ax=Figure().subplots())
>>> ax.get_aspect()
1.0
"""

from cayleygsp.plotting._style import COLORS
from cayleygsp.plotting.errors import bounds, decay, error_bars
from cayleygsp.plotting.graphs import graph
from cayleygsp.plotting.responses import fit, localized, response, unrolled_response
from cayleygsp.plotting.spectra import density, half_circle, resolution
from cayleygsp.plotting.tasks import bands, convergence, criterion

__all__ = [
    "COLORS",
    "bands",
    "bounds",
    "convergence",
    "criterion",
    "decay",
    "density",
    "error_bars",
    "fit",
    "graph",
    "half_circle",
    "localized",
    "resolution",
    "response",
    "unrolled_response",
]
